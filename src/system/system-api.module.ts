import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { DatabaseModule } from '../database/database.module';
import { ServerModule } from '../server/server.module';
import { TemporalModule } from '../temporal/temporal.module';
import { BacklogMetrics } from './backlog.metrics';
import { BacklogRepository } from './backlog.repository';
import { MetricsService } from './metrics.service';
import { SystemController } from './system.controller';
import { ServedTags } from './served-tags';
import { SystemService } from './system.service';

@Module({
  imports: [AuthModule, DatabaseModule, ServerModule, TemporalModule],
  controllers: [SystemController],
  providers: [BacklogMetrics, BacklogRepository, MetricsService, ServedTags, SystemService],
})
export class SystemApiModule {}
