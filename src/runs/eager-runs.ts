import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { Notifications } from '../database/notifications';
import { type DueRun, parseDue, RUN_DUE_CHANNEL } from '../streams/run-event';
import { EagerStarts } from './eager-starts';
import { EagerWorkflows } from './eager-workflows';
import { RunExecutor } from './run-executor';

/** Limit for all tenants: with fewer, first events come later; with more, a batch delays other tenants (docs/decisions/fairness.md). */
const EAGER_STARTS = 16;
/** Limit for each tenant, whatever the others have. */
const EAGER_STARTS_OF_TENANT = 2;
const EAGER_START_MS = 1_000;

/**
 * Runs that this worker begins as soon as they are stored, before they have a workflow, which it then starts. This is only an eager
 * start: a run that this worker doesn't begin, or isn't notified of, is begun by its workflow, which the process that stored it starts
 * a moment later.
 */
@Injectable()
export class EagerRuns implements OnModuleDestroy {
  private readonly logger = new Logger(EagerRuns.name);
  private readonly starts = new EagerStarts(EAGER_STARTS, EAGER_STARTS_OF_TENANT, EAGER_START_MS);
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly executor: RunExecutor,
    private readonly workflows: EagerWorkflows,
    private readonly notifications: Notifications,
  ) {}

  /** Begins due runs from now on. */
  async beginAtOnce(): Promise<void> {
    this.executor.onNext = (next) => this.startEagerly(next, false);
    this.unsubscribe = await this.notifications.subscribe(RUN_DUE_CHANNEL, (payload) =>
      this.startEagerly(parseDue(payload), this.workflows.isEnabled),
    );
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  /** An eager start is over, since a worker has the run's workflow, and another run may have one. */
  caughtUp(runId: string): void {
    this.starts.caughtUp(runId);
    const next = this.starts.next();
    if (next) void this.begin(next, this.workflows.isEnabled);
  }

  /** Resolves when the workflow of each run that was begun here has ended, or is with a worker. */
  workflowsAnswered(): Promise<void> {
    return this.workflows.answered();
  }

  private startEagerly(due: DueRun, startsWorkflow: boolean): void {
    if (this.starts.give(due)) void this.begin(due, startsWorkflow);
  }

  private async begin({ runId, tenantId }: DueRun, startsWorkflow: boolean): Promise<void> {
    let workflow: Promise<void> | undefined;
    try {
      const { state } = await this.executor.beginRun(runId, tenantId, (run, execution) => {
        if (startsWorkflow) workflow = this.workflows.start(run, execution);
        const isOver = (): void => this.starts.over(runId);
        execution.ended.then(isOver, isOver);
      });
      // Another process starts its workflow: the eager start is over when a worker has that.
      if (state === 'held' && !workflow) return;
      await workflow;
    } catch (error) {
      this.logger.warn({ err: error, run_id: runId }, 'Run not begun yet: its workflow will do it');
    }
    this.caughtUp(runId);
  }
}
