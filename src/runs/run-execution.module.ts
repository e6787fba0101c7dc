import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { DatabaseModule } from '../database/database.module';
import { GraphsModule } from '../graphs/graphs.module';
import { EventWritingModule } from '../streams/streams.module';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TemporalModule } from '../temporal/temporal.module';
import { WorkerDeployment } from '../temporal/worker-deployment';
import { ThreadEntity } from '../threads/thread.entity';
import { ThreadExpiryRepository } from '../threads/thread-expiry.repository';
import { ThreadExpiryScheduleSweep } from '../threads/thread-expiry-schedule.sweep';
import { ThreadExpiryService } from '../threads/thread-expiry.service';
import { ThreadRemovalModule } from '../threads/thread-removal.module';
import { ThreadRetentionSweep } from '../threads/thread-retention.sweep';
import { ThreadsRepository } from '../threads/threads.repository';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { RunEnder } from './run-ender';
import { RunExecutor } from './run-executor';
import { RunGraphs } from './run-graphs';
import { RunHeaders } from './run-headers';
import { RunLifecycleRepository } from './run-lifecycle.repository';
import { RunSweep } from './run-sweep';
import { RunSweepRepository } from './run-sweep.repository';
import { RunListenersModule } from './run-listeners.module';
import { RunEntity } from './run.entity';
import { RunMetrics } from './run.metrics';

/** The worker's half: taking runs, running their graphs, ending them. */
@Module({
  imports: [
    TypeOrmModule.forFeature([RunEntity, ThreadEntity]),
    DatabaseModule,
    GraphsModule.for('run'),
    EventWritingModule,
    TemporalModule,
    WebhooksModule,
    CryptoModule,
    ThreadRemovalModule,
    RunListenersModule,
  ],
  providers: [
    RunLifecycleRepository,
    WorkerDeployment,
    RunEnder,
    RunExecutor,
    RunGraphs,
    RunHeaders,
    RunMetrics,
    RunSweep,
    RunSweepRepository,
    ThreadExpiryRepository,
    ThreadExpiryScheduleSweep,
    ThreadExpiryService,
    ThreadsRepository,
    ThreadRetentionSweep,
  ],
  exports: [RunExecutor, RunSweep, ThreadExpiryService],
})
export class RunExecutionModule {}
