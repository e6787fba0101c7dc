import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { telemetry } from '../telemetry/start-telemetry';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import type { RunExecution } from './run-execution';
import { RunLifecycleRepository } from './run-lifecycle.repository';
import type { RunEntity } from './run.entity';

/** Largest share of a run's time limit that may pass without a workflow, which enforces the limit. */
const SHARE_OF_TIMEOUT = 0.1;

/**
 * Workflows of the runs that this process began or took over without one. A run that is over within GANTRY_WORKFLOW_AFTER_SECONDS
 * gets none, since nothing is left for it to do; a longer one gets a workflow, which finds the run here. Why no run is lost
 * meanwhile: docs/decisions/short-runs.md.
 */
@Injectable()
export class DeferredWorkflows {
  /**
   * Whether this process starts workflows. With versioned workers Temporal decides which version a run gets; a traced workflow has
   * spans, which only a worker of the workflow makes.
   */
  readonly isEnabled: boolean;
  private readonly afterMs: number;
  private readonly unsettled = new Set<Promise<void>>();

  constructor(
    private readonly orchestrator: RunOrchestrator,
    private readonly deliveries: WebhookOrchestrator,
    private readonly lifecycle: RunLifecycleRepository,
    config: AppConfig,
  ) {
    this.isEnabled = !config.worker.deployment && !telemetry()?.temporal;
    this.afterMs = Math.min(config.worker.workflowAfterMs, config.runs.timeoutMs * SHARE_OF_TIMEOUT);
  }

  /** Starts the workflow of a run when the run takes longer than usual, or its attempt fails. */
  defer(run: RunEntity, execution: RunExecution): void {
    this.track(run, () => this.settle(run, execution));
  }

  /** Starts a workflow for a run that was taken over here, in place of the one that waits for the lost worker. */
  replace(run: RunEntity, execution: RunExecution): void {
    this.track(run, async () => {
      await this.orchestrator.replaceRun(run);
      await this.cancelIfRequested(run, execution);
    });
  }

  /** Resolves when each run that was begun here has ended or has a workflow. */
  async settled(): Promise<void> {
    while (this.unsettled.size > 0) await Promise.all(this.unsettled);
  }

  private track({ runId }: RunEntity, start: () => Promise<void>): void {
    const settled = startOrLeaveToSweep('Run', { run_id: runId }, start).finally(() => this.unsettled.delete(settled));
    this.unsettled.add(settled);
  }

  private async settle(run: RunEntity, execution: RunExecution): Promise<void> {
    const { runId, tenantId, threadId } = run;
    // An attempt that failed needs a workflow, which gives the run to another one; the attempt itself has reported why.
    const result = this.afterMs > 0 ? await execution.settledWithin(this.afterMs) : undefined;
    if (result?.deliveryId) {
      return this.deliveries.startStored([{ deliveryId: result.deliveryId, tenantId, runId, threadId }]);
    }
    if (result) return;
    await this.orchestrator.startRun(run);
    await this.cancelIfRequested(run, execution);
  }

  /** A request to cancel the run that found no workflow, and whose notification may have been lost, is in the run's row. */
  private async cancelIfRequested({ runId }: RunEntity, execution: RunExecution): Promise<void> {
    const now = await this.lifecycle.findRunById(runId);
    if (now && now.cancelAction !== null) execution.cancel();
  }
}
