import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EntitlementsModule } from '../auth/entitlements.module';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { DestinationEntity } from './destinations/destination.entity';
import { DestinationsRepository } from './destinations/destinations.repository';
import { DestinationsService } from './destinations/destinations.service';
import { ExportExecutor } from './export-executor';
import { ExportMetrics } from './export.metrics';
import { PartitionsRepository } from './partitions/partitions.repository';
import { ExportSweep } from './export-sweep';
import { ExportSweepRepository } from './export-sweep.repository';
import { ExportVerifier } from './verification/export-verifier';
import { ExportWebhooks } from './export-webhooks';
import { ExportsRepository } from './exports.repository';
import { StorageModule } from '../storage/storage.module';
import { ParquetEncoder } from './parquet/parquet-encoder';
import { PartitionExecutor } from './partitions/partition-executor';
import { ScheduleExecutor } from './schedule/schedule-executor';
import { SchedulesRepository } from './schedule/schedules.repository';
import { TraceReader } from './partitions/trace-reader';

/** Bulk export, as the worker process has it. */
@Module({
  imports: [
    TypeOrmModule.forFeature([DestinationEntity]),
    CryptoModule,
    EntitlementsModule,
    StorageModule,
    TemporalModule,
    WebhooksModule,
  ],
  providers: [
    DestinationsRepository,
    DestinationsService,
    ExportExecutor,
    ExportMetrics,
    PartitionsRepository,
    ExportSweep,
    ExportSweepRepository,
    ExportVerifier,
    ExportWebhooks,
    ExportsRepository,
    ParquetEncoder,
    PartitionExecutor,
    ScheduleExecutor,
    SchedulesRepository,
    TraceReader,
  ],
  exports: [ExportExecutor, ExportSweep, PartitionExecutor, ScheduleExecutor],
})
export class ExportExecutionModule {}
