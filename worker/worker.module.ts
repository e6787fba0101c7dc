import { DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CronActivityProvider } from '../activities/cron.activities';
import { ExportActivityProvider } from '../activities/export.activities';
import { RunActivityProvider } from '../activities/run.activities';
import { ThreadExpiryActivityProvider } from '../activities/thread-expiry.activities';
import { WebhookActivityProvider } from '../activities/webhook.activities';
import { A2aModule } from '../src/a2a/a2a.module';
import { AuditWorkerModule } from '../src/audit/audit-worker.module';
import { AppConfig } from '../src/config/config';
import { ConfigModule } from '../src/config/config.module';
import { CronsWorkerModule } from '../src/crons/crons-worker.module';
import { DatabaseModule } from '../src/database/database.module';
import { EncryptionModule } from '../src/encryption/encryption.module';
import { ExportsWorkerModule } from '../src/exports/exports-worker.module';
import { GraphsModule } from '../src/graphs/graphs.module';
import { RunsWorkerModule } from '../src/runs/runs-worker.module';
import { StoreWorkerModule } from '../src/store/store-worker.module';
import { TemporalModule } from '../src/temporal/temporal.module';
import { WorkerDeployment } from '../src/temporal/worker-deployment';
import { ThreadsWorkerModule } from '../src/threads/threads-worker.module';
import { TracesWorkerModule } from '../src/traces/traces-worker.module';
import { WebhooksWorkerModule } from '../src/webhooks/webhooks-worker.module';

/** The worker process: services and activities, no HTTP. Its sweeps and activities are found by their decorators. */
@Module({})
export class WorkerModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule,
        EncryptionModule,
        DiscoveryModule,
        GraphsModule.forRoot('run'),
        TemporalModule,
        A2aModule,
        AuditWorkerModule,
        CronsWorkerModule,
        ExportsWorkerModule,
        RunsWorkerModule,
        StoreWorkerModule,
        ThreadsWorkerModule,
        TracesWorkerModule,
        WebhooksWorkerModule,
      ],
      providers: [
        CronActivityProvider,
        ExportActivityProvider,
        RunActivityProvider,
        ThreadExpiryActivityProvider,
        WebhookActivityProvider,
        WorkerDeployment,
      ],
    };
  }
}
