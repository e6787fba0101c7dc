import { DynamicModule, Module } from '@nestjs/common';
import { CronActivityProvider } from '../activities/cron.activities';
import { ExportActivityProvider } from '../activities/export.activities';
import { RunActivityProvider } from '../activities/run.activities';
import { ThreadExpiryActivityProvider } from '../activities/thread-expiry.activities';
import { WebhookActivityProvider } from '../activities/webhook.activities';
import { AuditModule } from '../src/audit/audit.module';
import { AppConfig } from '../src/config/config';
import { ConfigModule } from '../src/config/config.module';
import { A2aTasksModule } from '../src/a2a/a2a-tasks.module';
import { CronOutcomesModule } from '../src/crons/cron-outcomes.module';
import { CronExecutionModule } from '../src/crons/cron-execution.module';
import { DatabaseModule } from '../src/database/database.module';
import { ExportExecutionModule } from '../src/exports/export-execution.module';
import { RunExecutionModule } from '../src/runs/run-execution.module';
import { StoreMaintenanceModule } from '../src/store/store-maintenance.module';
import { WebhookDeliveryModule } from '../src/webhooks/webhook-delivery.module';
import { TraceMaintenanceModule } from '../src/traces/trace-maintenance.module';

/** The worker process: services and activities, no HTTP. */
@Module({})
export class WorkerModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule,
        A2aTasksModule,
        CronExecutionModule,
        CronOutcomesModule,
        AuditModule,
        ExportExecutionModule,
        RunExecutionModule,
        StoreMaintenanceModule,
        TraceMaintenanceModule,
        WebhookDeliveryModule,
      ],
      providers: [
        CronActivityProvider,
        ExportActivityProvider,
        RunActivityProvider,
        ThreadExpiryActivityProvider,
        WebhookActivityProvider,
      ],
    };
  }
}
