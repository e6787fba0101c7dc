import { Injectable, Logger } from '@nestjs/common';
import type { RunWorkflowResult } from '../../workflows/contracts/run.contract';
import { AppConfig } from '../config/config';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { telemetry } from '../telemetry/start-telemetry';
import type { FirstWorkflowTask } from '../temporal/first-workflow-task';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import type { RunExecution } from './run-execution';
import type { RunEntity } from './run.entity';

/** Time in milliseconds, as in the workflow, after which most runs are over. */
const KEPT_MS = 2_000;
/** The run's time begins again when a worker gets its workflow. */
const KEPT_SHARE_OF_TIMEOUT = 0.1;

/**
 * Workflows of the runs that this process began before they had one. It starts them, and keeps the first task of each until the run
 * is over: its answer then ends the workflow. The workflow of a run that takes longer, or whose end starts a webhook, is begun by
 * a worker as usual, which finds the run here.
 */
@Injectable()
export class EagerWorkflows {
  private readonly logger = new Logger(EagerWorkflows.name);
  /**
   * Whether this process starts workflows. With versioned workers Temporal decides which version a run gets; a traced workflow has
   * spans, which only a worker of the workflow makes.
   */
  readonly isEnabled: boolean;
  private readonly keptMs: number;
  private readonly unanswered = new Set<Promise<void>>();

  constructor(
    private readonly orchestrator: RunOrchestrator,
    config: AppConfig,
  ) {
    this.isEnabled = !config.worker.deployment && !telemetry()?.temporal;
    this.keptMs = Math.min(
      KEPT_MS,
      config.worker.heartbeatTimeoutMs / 4,
      config.runs.timeoutMs * KEPT_SHARE_OF_TIMEOUT,
    );
  }

  /** Resolves when every task that this process took is answered. */
  async answered(): Promise<void> {
    while (this.unanswered.size > 0) await Promise.all(this.unanswered);
  }

  /** Starts the workflow of a run. Resolves when it is started, and never rejects. */
  async start(run: RunEntity, execution: RunExecution): Promise<void> {
    await startOrLeaveToSweep('Run', { run_id: run.runId }, async () => {
      if (run.webhook !== null) return this.orchestrator.startRun(run);
      const task = await this.orchestrator.startAndTakeTask(run);
      if (task) this.keep(task, run, execution);
    });
  }

  private keep(task: FirstWorkflowTask, run: RunEntity, execution: RunExecution): void {
    const answer = this.answer(task, run, execution).finally(() => this.unanswered.delete(answer));
    this.unanswered.add(answer);
  }

  private async answer(task: FirstWorkflowTask, { runId }: RunEntity, execution: RunExecution): Promise<void> {
    try {
      const result = await execution.endedWithin(this.keptMs).catch(() => undefined);
      if (result && !result.deliveryId) await task.complete({ ending: result.ending } satisfies RunWorkflowResult);
      else await task.handBack('The run takes longer, or its end needs a worker');
    } catch (error) {
      // A worker gets it instead: at once after a cancellation, or when the task has timed out.
      this.logger.debug({ err: error, run_id: runId }, 'The first task of the workflow was not answered');
    }
  }
}
