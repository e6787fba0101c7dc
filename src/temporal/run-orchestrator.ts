import { Injectable } from '@nestjs/common';
import type { WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { runWorkflow } from '../../workflows/run.workflow';
import { RUNS_QUEUE } from '../../workflows/contracts/queues';
import { runWorkflowId, type RunWorkflowInput } from '../../workflows/contracts/run.contract';
import {
  assistantIdAttribute,
  graphIdAttribute,
  runIdAttribute,
  tenantIdAttribute,
  threadIdAttribute,
} from '../../workflows/contracts/search-attributes';
import { AppConfig } from '../config/config';
import { TemporalClient } from './temporal-client';
import type { WorkflowState } from './workflow-state';

export interface RunReference {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  tenantId: string;
  /** When the run began, from which its time limit counts; null or absent for one that hasn't begun. */
  startedAt?: Date | null;
}

/** Workflows of runs: `run-<run_id>`, ids only, searchable by all ids of a run. */
@Injectable()
export class RunOrchestrator {
  constructor(
    private readonly temporal: TemporalClient,
    private readonly config: AppConfig,
  ) {}

  /**
   * Starts the run's workflow. Starting it while it is running, or after the run's end, changes nothing.
   * @param delayMs time until the run is due
   */
  async startRun(run: RunReference, { delayMs = 0 } = {}): Promise<void> {
    await this.temporal.startOnce<typeof runWorkflow>('runWorkflow', {
      ...this.workflowOf(run),
      ...(delayMs > 0 && { startDelay: delayMs }),
    });
  }

  /**
   * Starts a workflow for the run in place of the one that waits for a lost worker, if there is one.
   * @param from task queue of the lost worker, from which the workflow takes the run; otherwise it finds the worker that has done so
   */
  async replaceRun(run: RunReference, from?: string): Promise<void> {
    const { args, ...options } = this.workflowOf(run);
    const takesOver = from !== undefined;
    await this.temporal.startOnce<typeof runWorkflow>('runWorkflow', {
      ...options,
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      args: [{ ...args[0], takesOver, ...(takesOver && { from }) }],
    });
  }

  private workflowOf(run: RunReference): WorkflowStartOptions<typeof runWorkflow> & { args: [RunWorkflowInput] } {
    const elapsedMs = run.startedAt ? Date.now() - run.startedAt.getTime() : 0;
    return {
      workflowId: runWorkflowId(run.runId),
      taskQueue: RUNS_QUEUE,
      // A workflow whose run had to wait its turn ends, and the run's turn starts it again.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      // The first seconds of a run are in a workflow task, whose timeout detects a dead worker as soon as a missing heartbeat.
      workflowTaskTimeout: this.config.worker.heartbeatTimeoutMs,
      args: [
        {
          runId: run.runId,
          timeoutMs: Math.max(1, this.config.runs.timeoutMs - elapsedMs),
          heartbeatTimeoutMs: this.config.worker.heartbeatTimeoutMs,
        },
      ],
      // Key for fairness among tenants, on servers with fair task queues; others ignore it.
      priority: { fairnessKey: run.tenantId },
      staticSummary: `${run.graphId} on thread ${run.threadId}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: runIdAttribute, value: run.runId },
        { key: threadIdAttribute, value: run.threadId },
        { key: assistantIdAttribute, value: run.assistantId },
        { key: graphIdAttribute, value: run.graphId },
        { key: tenantIdAttribute, value: run.tenantId },
      ]),
    };
  }

  /** Fails an activity of the run's workflow whose worker was lost. Resolves to false when it isn't there any more. */
  failActivity(runId: string, activityId: string): Promise<boolean> {
    return this.temporal.failActivity(
      runWorkflowId(runId),
      activityId,
      'The worker was lost: its database session ended',
    );
  }

  async cancelRun(runId: string): Promise<void> {
    await this.temporal.cancel(runWorkflowId(runId));
  }

  /** How many workers poll for runs. Rejects when Temporal doesn't answer in time. */
  countWorkers(timeoutMs: number): Promise<number> {
    return this.temporal.countWorkers(RUNS_QUEUE, timeoutMs);
  }

  /** State of the run's workflow; undefined when there is none. Rejects when Temporal doesn't answer in time. */
  describeRun(runId: string, timeoutMs: number): Promise<WorkflowState | undefined> {
    return this.temporal.describe(runWorkflowId(runId), timeoutMs);
  }

  /** Whether a workflow is running for the run. */
  isOpen(runId: string): Promise<boolean> {
    return this.temporal.isOpen(runWorkflowId(runId));
  }
}
