import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { ServerModule } from '../server/server.module';
import { StreamsApiModule } from '../streams/streams-api.module';
import { ThreadsModule } from '../threads/threads.module';
import { TracesModule } from '../traces/traces.module';
import { RunStreamsService } from './run-streams.service';
import { RunsController } from './runs.controller';
import { RunsModule } from './runs.module';
import { StatelessRunsController } from './stateless-runs.controller';
import { ThreadLog } from './thread-log';
import { ThreadPositionsRepository } from './thread-positions.repository';
import { ThreadStreamController } from './thread-stream.controller';
import { ThreadStreamService } from './thread-stream.service';

/** The api's half: the routes of runs, and their streams, which other protocols serve as well. */
@Module({
  imports: [DatabaseModule, RunsModule, ServerModule, StreamsApiModule, ThreadsModule, TracesModule],
  controllers: [RunsController, StatelessRunsController, ThreadStreamController],
  providers: [RunStreamsService, ThreadLog, ThreadPositionsRepository, ThreadStreamService],
  exports: [RunStreamsService, ThreadLog, ThreadPositionsRepository],
})
export class RunsApiModule {}
