import { Module } from '@nestjs/common';
import { AuditChainSweep } from './audit-chain.sweep';
import { AuditRetentionSweep } from './audit-retention.sweep';
import { AuditModule } from './audit.module';

/** The worker's half: sealing and ageing the log. */
@Module({ imports: [AuditModule], providers: [AuditChainSweep, AuditRetentionSweep] })
export class AuditWorkerModule {}
