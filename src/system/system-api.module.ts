import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { DatabaseModule } from '../database/database.module';
import { ServerModule } from '../server/server.module';
import { TemporalModule } from '../temporal/temporal.module';
import { BacklogMetrics } from './backlog.metrics';
import { BacklogRepository } from './backlog.repository';
import { FindingsController } from './findings.controller';
import { FindingsService } from './findings.service';
import { MetricsService } from './metrics.service';
import { OperatorAccess } from './operator-access';
import { SystemController } from './system.controller';
import { ServedTags } from './served-tags';
import { SystemService } from './system.service';

@Module({
  imports: [AuthModule, DatabaseModule, ServerModule, TemporalModule],
  controllers: [FindingsController, SystemController],
  providers: [
    BacklogMetrics,
    BacklogRepository,
    FindingsService,
    MetricsService,
    OperatorAccess,
    ServedTags,
    SystemService,
  ],
})
export class SystemApiModule {}
