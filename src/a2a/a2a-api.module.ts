import { Module } from '@nestjs/common';
import { AssistantsModule } from '../assistants/assistants.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { CryptoModule } from '../crypto/crypto.module';
import { RunsModule } from '../runs/runs.module';
import { StreamsApiModule } from '../streams/streams-api.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadsModule } from '../threads/threads.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { A2aAgentsService } from './a2a-agents.service';
import { A2aCardService } from './a2a-card.service';
import { A2aController } from './a2a.controller';
import { A2aExchange } from './a2a-exchange';
import { A2aMetrics } from './a2a.metrics';
import { A2aRestController } from './a2a-rest.controller';
import { A2aPushService } from './a2a-push.service';
import { A2aRpcService } from './a2a-rpc.service';
import { A2aStreamsService } from './a2a-streams.service';
import { A2aModule } from './a2a.module';
import { A2aTasksService } from './a2a-tasks.service';

/** The api's half: cards, calls and streams. */
@Module({
  imports: [
    A2aModule,
    AssistantsModule,
    CryptoModule,
    CustomAuthModule,
    StreamsApiModule,
    RunsModule,
    TemporalModule,
    ThreadsModule,
    WebhooksModule,
  ],
  controllers: [A2aController, A2aRestController],
  providers: [
    A2aAgentsService,
    A2aCardService,
    A2aExchange,
    A2aMetrics,
    A2aPushService,
    A2aRpcService,
    A2aStreamsService,
    A2aTasksService,
  ],
})
export class A2aApiModule {}
