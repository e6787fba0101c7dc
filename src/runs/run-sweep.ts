import { Injectable, Logger } from '@nestjs/common';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { RunSweepRepository } from './run-sweep.repository';

/** Age at which a run that hasn't begun was probably left by a process that died; starting it twice is harmless. */
const UNSTARTED_MS = 3_000;
/** Running time after which Temporal is asked whether the run's workflow exists. */
const RUNNING_MS = 10_000;
/** Time for which clients can rely on their idempotency keys. */
const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;
const BATCH = 500;
const PROBES = 20;

/**
 * Starts pending runs that were not started, and running ones that have no workflow: it was terminated by hand, or was never started
 * since the processes that stored and began the run died at once.
 */
@Injectable()
@Sweeps(20)
export class RunSweep implements Sweep {
  readonly name = 'runs';
  private readonly logger = new Logger(RunSweep.name);

  constructor(
    private readonly runs: RunSweepRepository,
    private readonly orchestrator: RunOrchestrator,
  ) {}

  async sweep(): Promise<void> {
    await this.runs.deleteIdempotencyKeys(IDEMPOTENCY_KEPT_MS);
    for (const run of await this.runs.findUnstartedRuns(UNSTARTED_MS, BATCH)) await this.orchestrator.startRun(run);
    for (const run of await this.runs.findRunningRuns(RUNNING_MS, PROBES)) {
      if (await this.orchestrator.isOpen(run.runId)) continue;
      this.logger.warn({ run_id: run.runId }, 'A running run had no workflow: it resumes from its last checkpoint');
      await this.orchestrator.startRun(run);
    }
  }
}
