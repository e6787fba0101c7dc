import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { Notifications } from '../database/notifications';
import { type DueRun, parseDue, RUN_DUE_CHANNEL } from '../streams/run-event';
import { DeferredWorkflows } from './deferred-workflows';
import { EagerStarts } from './eager-starts';
import type { RunExecution } from './run-execution';
import { RunExecutor } from './run-executor';

/** Limit for all tenants: with fewer, first events come later; with more, a batch delays other tenants (docs/decisions/fairness.md). */
const EAGER_STARTS = 16;
/** Limit for each tenant, whatever the others have. */
const EAGER_STARTS_OF_TENANT = 2;
/** Time for which a run keeps others from beginning. A longer run probably waits for something else than a processor. */
const PLACE_MS = 300;
/** Time after which a run that had to wait is left to its workflow, which any worker can take. */
const WAIT_MS = 3_000;

/**
 * Runs that this worker begins as soon as they are stored, before they have a workflow. This is only an eager start: a run that this
 * worker doesn't begin, or isn't notified of, is begun by its workflow, which the process that stored it starts a moment later.
 */
@Injectable()
export class EagerRuns implements OnModuleDestroy {
  private readonly logger = new Logger(EagerRuns.name);
  private readonly starts = new EagerStarts(EAGER_STARTS, EAGER_STARTS_OF_TENANT, WAIT_MS);
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly executor: RunExecutor,
    private readonly workflows: DeferredWorkflows,
    private readonly notifications: Notifications,
  ) {}

  /** Begins due runs from now on. */
  async beginAtOnce(): Promise<void> {
    this.executor.onNext = (next) => this.startEagerly(next);
    this.unsubscribe = await this.notifications.subscribe(RUN_DUE_CHANNEL, (payload) =>
      this.startEagerly(parseDue(payload)),
    );
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  /** Resolves when each run that was begun here has ended or has a workflow. */
  settled(): Promise<void> {
    return this.workflows.settled();
  }

  private startEagerly(due: DueRun): void {
    if (this.starts.give(due)) void this.begin(due);
  }

  private async begin({ runId, tenantId }: DueRun): Promise<void> {
    let begun: RunExecution | undefined;
    try {
      await this.executor.beginRun(runId, tenantId, (run, execution) => {
        begun = execution;
        if (this.workflows.isEnabled) this.workflows.defer(run, execution);
      });
      await begun?.settledWithin(PLACE_MS);
    } catch (error) {
      this.logger.warn({ err: error, run_id: runId }, 'Run not begun yet: its workflow will do it');
    }
    this.starts.over(runId);
    const next = this.starts.next();
    if (next) void this.begin(next);
  }
}
