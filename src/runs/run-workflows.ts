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
 * Calls of Temporal for runs after a commit. None of them can fail, and no caller waits for one: the rows have the same information,
 * and the sweeps repeat the calls.
 */
@Injectable()
export class RunWorkflows {
  private readonly logger = new Logger(RunWorkflows.name);
  /** Starts by run that Temporal has not answered yet. */
  private readonly starting = new Map<string, Promise<void>>();

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
    const { runId } = run;
    const started = startOrLeaveToSweep('Run', { run_id: runId }, () => this.orchestrator.startRun(run, { delayMs }));
    this.starting.set(
      runId,
      started.finally(() => this.starting.delete(runId)),
    );
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
  finishCancellation({ running, delayed, deliveries }: CancelledRuns): void {
    this.startDeliveries(deliveries);
    this.cancelWorkflows([...running, ...delayed]);
  }

  /** The notification has reached the worker already; the cancellation of the workflow is for a worker that missed it. */
  cancelWorkflows(runIds: string[]): void {
    for (const runId of runIds) void this.cancelWorkflow(runId);
  }

  private async cancelWorkflow(runId: string): Promise<void> {
    try {
      // Otherwise the workflow of a delayed run may be started after its cancellation, and wait in vain until the run would be due.
      await this.starting.get(runId);
      await this.orchestrator.cancelRun(runId);
    } catch (error) {
      this.logger.warn({ err: error, run_id: runId }, 'Cancellation did not reach Temporal; the worker has it');
    }
  }
}
