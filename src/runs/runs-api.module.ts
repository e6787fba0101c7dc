import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { DatabaseModule } from '../database/database.module';
import { ServerModule } from '../server/server.module';
import { StreamsApiModule } from '../streams/streams-api.module';
import { ThreadsModule } from '../threads/threads.module';
import { TracesModule } from '../traces/traces.module';
import { RunEntity } from './run.entity';
import { RunSearchController } from './run-search.controller';
import { RunSearchRepository } from './run-search.repository';
import { RunSearchService } from './run-search.service';
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
  imports: [
    TypeOrmModule.forFeature([RunEntity]),
    CustomAuthModule,
    DatabaseModule,
    RunsModule,
    ServerModule,
    StreamsApiModule,
    ThreadsModule,
    TracesModule,
  ],
  controllers: [RunSearchController, RunsController, StatelessRunsController, ThreadStreamController],
  providers: [
    RunSearchRepository,
    RunSearchService,
    RunStreamsService,
    ThreadLog,
    ThreadPositionsRepository,
    ThreadStreamService,
  ],
  exports: [RunStreamsService, ThreadLog, ThreadPositionsRepository],
})
export class RunsApiModule {}
