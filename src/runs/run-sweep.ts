import { Injectable, Logger } from '@nestjs/common';
import pLimit from 'p-limit';
import { AppConfig } from '../config/config';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { RunSweepRepository } from './run-sweep.repository';
import type { RunEntity } from './run.entity';

/** Age at which a run that hasn't begun was probably left by a process that died; starting it twice is harmless. */
const UNSTARTED_MS = 5_000;
/** Time for a worker to start the workflow of a run that takes longer than GANTRY_WORKFLOW_AFTER_SECONDS. */
const DEFERRED_START_MS = 3_000;
/** Time for which clients can rely on their idempotency keys. */
const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;
const BATCH = 500;
/** Long runs whose workflows are looked up per sweep. */
const PROBES = 20;
const PROBES_AT_ONCE = 10;

/**
 * Starts pending runs that were not started, and running ones that have no workflow: their worker was frozen or cut off before it
 * started one, or the workflow was terminated by hand.
 */
@Injectable()
@Sweeps(20)
export class RunSweep implements Sweep {
  readonly name = 'runs';
  private readonly logger = new Logger(RunSweep.name);

  constructor(
    private readonly runs: RunSweepRepository,
    private readonly orchestrator: RunOrchestrator,
    private readonly config: AppConfig,
  ) {}

  async sweep(): Promise<void> {
    await this.runs.deleteIdempotencyKeys(IDEMPOTENCY_KEPT_MS);
    for (const run of await this.runs.findUnstartedRuns(UNSTARTED_MS, BATCH)) await this.orchestrator.startRun(run);
    const { workflowAfterMs, sweepIntervalMs } = this.config.worker;
    const dueMs = workflowAfterMs + DEFERRED_START_MS;
    // Two sweeps see each run that has just become due for a workflow. Later, a workflow is missing only if it was terminated.
    const newlyDueMs = dueMs + 2 * sweepIntervalMs;
    const due = await this.runs.findRunningRuns({ forMs: dueMs, lessThanMs: newlyDueMs }, BATCH);
    const older = await this.runs.findRunningRuns({ forMs: newlyDueMs }, PROBES);
    await pLimit(PROBES_AT_ONCE).map([...due, ...older], (run) => this.ensureWorkflow(run));
  }

  private async ensureWorkflow(run: RunEntity): Promise<void> {
    if (await this.orchestrator.isOpen(run.runId)) return;
    this.logger.warn({ run_id: run.runId }, 'A running run had no workflow, and gets one');
    await this.orchestrator.startRun(run);
  }
}
