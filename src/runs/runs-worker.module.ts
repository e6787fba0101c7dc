import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { DatabaseModule } from '../database/database.module';
import { StreamsWorkerModule } from '../streams/streams-worker.module';
import { TemporalModule } from '../temporal/temporal.module';
import { DeferredWorkflows } from './deferred-workflows';
import { EagerRuns } from './eager-runs';
import { RunEnder } from './run-ender';
import { RunExecutor } from './run-executor';
import { RunGraphs } from './run-graphs';
import { RunHandover } from './run-handover';
import { RunLifecycleRepository } from './run-lifecycle.repository';
import { RunSweep } from './run-sweep';
import { RunSweepRepository } from './run-sweep.repository';
import { RunMetrics } from './run.metrics';
import { RunsModule } from './runs.module';

/** The worker's half: taking runs, running their graphs, ending them. */
@Module({
  imports: [CryptoModule, DatabaseModule, RunsModule, StreamsWorkerModule, TemporalModule],
  providers: [
    DeferredWorkflows,
    EagerRuns,
    RunEnder,
    RunExecutor,
    RunGraphs,
    RunHandover,
    RunLifecycleRepository,
    RunMetrics,
    RunSweep,
    RunSweepRepository,
  ],
  exports: [EagerRuns, RunExecutor, RunHandover],
})
export class RunsWorkerModule {}
