import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditChainRepository } from './audit-chain.repository';
import { AuditChainSweep } from './audit-chain.sweep';
import { AuditController } from './audit.controller';
import { AuditRecordEntity } from './audit-record.entity';
import { AuditRepository } from './audit.repository';
import { AuditRetentionSweep } from './audit-retention.sweep';
import { AuditVerificationService } from './audit-verification.service';

/** Reading, sealing and ageing the log, without HTTP: for the worker and the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditRecordEntity])],
  providers: [AuditRepository, AuditChainRepository, AuditChainSweep, AuditRetentionSweep, AuditVerificationService],
  exports: [AuditRepository, AuditChainSweep, AuditRetentionSweep, AuditVerificationService],
})
export class AuditModule {}

/** The operator's route to it. */
@Module({ imports: [AuditModule], controllers: [AuditController] })
export class AuditApiModule {}
