import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditChainRepository } from './audit-chain.repository';
import { AuditRecordEntity } from './audit-record.entity';
import { AuditRepository } from './audit.repository';
import { AuditVerificationService } from './audit-verification.service';

/** The log's records and the verification of its chain: all that the command line needs. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditRecordEntity])],
  providers: [AuditRepository, AuditChainRepository, AuditVerificationService],
  exports: [AuditRepository, AuditChainRepository, AuditVerificationService],
})
export class AuditModule {}
