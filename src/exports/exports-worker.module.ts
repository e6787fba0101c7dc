import { Module } from '@nestjs/common';
import { EntitlementsModule } from '../auth/entitlements.module';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { ExportExecutor } from './export-executor';
import { ExportSweep } from './export-sweep';
import { ExportSweepRepository } from './export-sweep.repository';
import { ExportWebhooks } from './export-webhooks';
import { ExportMetrics } from './export.metrics';
import { ExportsModule } from './exports.module';
import { ParquetEncoder } from './parquet/parquet-encoder';
import { PartitionExecutor } from './partitions/partition-executor';
import { TraceReader } from './partitions/trace-reader';
import { ScheduleExecutor } from './schedule/schedule-executor';
import { SchedulesRepository } from './schedule/schedules.repository';

/** The worker's half: planning exports, writing their partitions, and the windows of schedules. */
@Module({
  imports: [CryptoModule, EntitlementsModule, ExportsModule, TemporalModule, WebhooksModule],
  providers: [
    ExportExecutor,
    ExportMetrics,
    ExportSweep,
    ExportSweepRepository,
    ExportWebhooks,
    ParquetEncoder,
    PartitionExecutor,
    ScheduleExecutor,
    SchedulesRepository,
    TraceReader,
  ],
  exports: [ExportExecutor, PartitionExecutor, ScheduleExecutor],
})
export class ExportsWorkerModule {}
