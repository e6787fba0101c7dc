import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { AssistantsModule } from '../assistants/assistants.module';
import { CryptoModule } from '../crypto/crypto.module';
import { GraphsModule } from '../graphs/graphs.module';
import { ServerModule } from '../server/server.module';
import { DatabaseModule } from '../database/database.module';
import { EventReadingModule } from '../streams/streams.module';
import { TemporalModule } from '../temporal/temporal.module';
import { FeedbackLinksModule } from '../traces/feedback/feedback-links.module';
import { ThreadsModule } from '../threads/threads.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { RunEntity } from './run.entity';
import { RunCancellationRepository } from './run-cancellation.repository';
import { RunCreationRepository } from './run-creation.repository';
import { RunCreationService } from './run-creation.service';
import { RunPreparation } from './run-preparation';
import { RunWorkflows } from './run-workflows';
import { ThreadPositionsRepository } from './thread-positions.repository';
import { RunHeaders } from './run-headers';
import { RunLimits } from './run-limits';
import { RunStreamsService } from './run-streams.service';
import { RunListenersModule } from './run-listeners.module';
import { RunsController } from './runs.controller';
import { RunsRepository } from './runs.repository';
import { RunsService } from './runs.service';
import { ThreadLog } from './thread-log';
import { ThreadStreamController } from './thread-stream.controller';
import { ThreadStreamService } from './thread-stream.service';
import { StatelessRunsController } from './stateless-runs.controller';

/** The api's half: creating, reading, streaming and ending runs. */
@Module({
  imports: [
    TypeOrmModule.forFeature([RunEntity]),
    CustomAuthModule,
    AssistantsModule,
    ThreadsModule,
    EventReadingModule,
    TemporalModule,
    WebhooksModule,
    CryptoModule,
    GraphsModule.for('inspect'),
    ServerModule,
    DatabaseModule,
    FeedbackLinksModule,
    RunListenersModule,
  ],
  controllers: [RunsController, StatelessRunsController, ThreadStreamController],
  providers: [
    RunHeaders,
    RunLimits,
    RunsRepository,
    RunsService,
    RunStreamsService,
    ThreadLog,
    ThreadStreamService,
    RunCancellationRepository,
    RunCreationRepository,
    RunCreationService,
    RunPreparation,
    RunWorkflows,
    ThreadPositionsRepository,
  ],
  exports: [RunCreationService, RunsService, RunStreamsService, RunHeaders, ThreadLog, ThreadPositionsRepository],
})
export class RunsModule {}
