import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AssistantsModule } from '../assistants/assistants.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadsModule } from '../threads/threads.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { IdempotencyKeys } from './idempotency-keys';
import { RunCancellationRepository } from './run-cancellation.repository';
import { RunCreationRepository } from './run-creation.repository';
import { RunCreationService } from './run-creation.service';
import { RunHeaders } from './run-headers';
import { RunLimits } from './run-limits';
import { RunListeners } from './run-listeners';
import { RunPreparation } from './run-preparation';
import { RunWebhooks } from './run-webhooks';
import { RunWorkflows } from './run-workflows';
import { RunsOfDeletedThreads } from './runs-of-deleted-threads';
import { RunEntity } from './run.entity';
import { RunsRepository } from './runs.repository';
import { RunsService } from './runs.service';
import { UntakenRuns } from './untaken-runs';

/** Runs as records, in both processes: a request and a cron's tick create them by the same services. */
@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forFeature([RunEntity]),
    AssistantsModule,
    CryptoModule,
    CustomAuthModule,
    TemporalModule,
    ThreadsModule,
    WebhooksModule,
  ],
  providers: [
    IdempotencyKeys,
    RunCancellationRepository,
    RunCreationRepository,
    RunCreationService,
    RunHeaders,
    RunLimits,
    RunListeners,
    RunPreparation,
    RunsRepository,
    RunsOfDeletedThreads,
    RunsService,
    RunWebhooks,
    RunWorkflows,
    UntakenRuns,
  ],
  exports: [
    IdempotencyKeys,
    RunCreationService,
    RunHeaders,
    RunLimits,
    RunListeners,
    RunsService,
    RunWebhooks,
    UntakenRuns,
  ],
})
export class RunsModule {}
