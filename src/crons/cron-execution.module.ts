import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AssistantListeners } from '../assistants/assistant-listeners';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AssistantEntity, AssistantVersionEntity } from '../assistants/assistant.entity';
import { AssistantsRepository } from '../assistants/assistants.repository';
import { AssistantsService } from '../assistants/assistants.service';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { EntitlementsModule } from '../auth/entitlements.module';
import { CryptoModule } from '../crypto/crypto.module';
import { GraphsModule } from '../graphs/graphs.module';
import { RunEntity } from '../runs/run.entity';
import { RunLimits } from '../runs/run-limits';
import { RunsRepository } from '../runs/runs.repository';
import { RunCancellationRepository } from '../runs/run-cancellation.repository';
import { RunCreationRepository } from '../runs/run-creation.repository';
import { RunCreationService } from '../runs/run-creation.service';
import { RunPreparation } from '../runs/run-preparation';
import { RunWorkflows } from '../runs/run-workflows';
import { RunHeaders } from '../runs/run-headers';
import { RunListenersModule } from '../runs/run-listeners.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadEntity } from '../threads/thread.entity';
import { ThreadRemovalModule } from '../threads/thread-removal.module';
import { ThreadsRepository } from '../threads/threads.repository';
import { ThreadsService } from '../threads/threads.service';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { CronEntity } from './cron.entity';
import { CronMetrics } from './cron.metrics';
import { CronRuns } from './cron-runs';
import { CronFireEntity } from './cron-fire.entity';
import { CronFiresRepository } from './cron-fires.repository';
import { CronExecutor } from './cron-executor';
import { CronSchedulesService } from './cron-schedules.service';
import { CronSweep } from './cron-sweep';
import { CronsRepository } from './crons.repository';

/** The worker's half: ticks become runs, by the same services as a request's, over the worker's own graphs. */
@Module({
  imports: [
    RunListenersModule,
    TypeOrmModule.forFeature([
      CronEntity,
      CronFireEntity,
      RunEntity,
      ThreadEntity,
      AssistantEntity,
      AssistantVersionEntity,
    ]),
    GraphsModule.for('run'),
    TemporalModule,
    WebhooksModule,
    CryptoModule,
    CustomAuthModule,
    EntitlementsModule,
    ThreadRemovalModule,
    DiscoveryModule,
  ],
  providers: [
    AssistantListeners,
    AssistantsRepository,
    AssistantsService,
    ThreadsRepository,
    ThreadsService,
    RunLimits,
    RunsRepository,
    RunCancellationRepository,
    RunCreationRepository,
    RunCreationService,
    RunPreparation,
    RunWorkflows,
    RunHeaders,
    CronsRepository,
    CronFiresRepository,
    CronSchedulesService,
    CronExecutor,
    CronRuns,
    CronMetrics,
    CronSweep,
  ],
  exports: [CronExecutor, CronSweep],
})
export class CronExecutionModule {}
