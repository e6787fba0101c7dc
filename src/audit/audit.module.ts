import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditController } from './audit.controller';
import { AuditRecordEntity } from './audit-record.entity';
import { AuditRepository } from './audit.repository';
import { AuditRetentionSweep } from './audit-retention.sweep';

/** Reading and ageing the log, without HTTP: for the worker and the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditRecordEntity])],
  providers: [AuditRepository, AuditRetentionSweep],
  exports: [AuditRepository, AuditRetentionSweep],
})
export class AuditModule {}

/** The operator's route to it. */
@Module({ imports: [AuditModule], controllers: [AuditController] })
export class AuditApiModule {}
