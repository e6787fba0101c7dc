import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { AuditModule } from './audit.module';

/** The operator's route to the log. */
@Module({ imports: [AuditModule], controllers: [AuditController] })
export class AuditApiModule {}
