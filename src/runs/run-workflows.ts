import { Injectable, Logger } from '@nestjs/common';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { type DeliveryReference, WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import type { ThreadKey } from '../threads/thread-key';
import type { CancelledRuns } from './run-cancellation.repository';
import type { RunEntity } from './run.entity';
import { RunsRepository } from './runs.repository';
import { UntakenRuns } from './untaken-runs';

/**
 * Calls of Temporal for runs after a commit. None of them can fail: the rows have the same information, and the sweeps repeat
 * the calls.
 */
@Injectable()
export class RunWorkflows {
  private readonly logger = new Logger(RunWorkflows.name);

  constructor(
    private readonly runs: RunsRepository,
    private readonly orchestrator: RunOrchestrator,
    private readonly deliveries: WebhookOrchestrator,
    private readonly untaken: UntakenRuns,
  ) {}

  /** Starts a run that workers were notified of, unless one of them does. Doesn't wait: the run is stored. */
  startDueRun(run: RunEntity): void {
    void this.untaken.start(run);
  }

  /** Doesn't wait for Temporal: the run is stored. */
  startRun(run: RunEntity, delayMs = 0): void {
    void startOrLeaveToSweep('Run', { run_id: run.runId }, () => this.orchestrator.startRun(run, delayMs));
  }

  /** Starts the next run of a thread, if one may begin. */
  async startNextRun(thread: ThreadKey): Promise<void> {
    const next = await this.runs.findNextRun(thread);
    if (next) this.startRun(next);
  }

  startDeliveries(deliveries: DeliveryReference[]): void {
    void this.deliveries.startStored(deliveries);
  }

  /** Carries a committed cancellation out. */
  async finishCancellation({ running, deliveries }: CancelledRuns): Promise<void> {
    this.startDeliveries(deliveries);
    await this.cancelWorkflows(running);
  }

  /** The notification has reached the worker already; the cancellation of the workflow is for a worker that missed it. */
  async cancelWorkflows(runIds: string[]): Promise<void> {
    await Promise.all(
      runIds.map((runId) =>
        this.orchestrator.cancelRun(runId).catch((error: unknown) => {
          this.logger.warn({ err: error, run_id: runId }, 'Cancellation did not reach Temporal; the worker has it');
        }),
      ),
    );
  }
}
