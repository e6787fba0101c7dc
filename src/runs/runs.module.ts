import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AssistantsModule } from '../assistants/assistants.module';
import { CryptoModule } from '../crypto/crypto.module';
import { GraphsModule } from '../graphs/graphs.module';
import { HttpModule } from '../http/http.module';
import { EventReadingModule } from '../streams/streams.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadsModule } from '../threads/threads.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { RunEntity } from './run.entity';
import { RunHeaders } from './run-headers';
import { RunStreamsService } from './run-streams.service';
import { RunWebhooks } from './run-webhooks';
import { RunsController } from './runs.controller';
import { RunsRepository } from './runs.repository';
import { RunsService } from './runs.service';
import { StatelessRunsController } from './stateless-runs.controller';

/** The api's half: creating, reading, streaming and ending runs. */
@Module({
  imports: [
    TypeOrmModule.forFeature([RunEntity]),
    AssistantsModule,
    ThreadsModule,
    EventReadingModule,
    TemporalModule,
    WebhooksModule,
    CryptoModule,
    GraphsModule.for('inspect'),
    HttpModule,
  ],
  controllers: [RunsController, StatelessRunsController],
  providers: [RunHeaders, RunsRepository, RunsService, RunStreamsService, RunWebhooks],
  exports: [RunsService, RunStreamsService],
})
export class RunsModule {}
