import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { Notifications } from '../database/notifications';
import { type DueRun, parseDue, RUN_DUE_CHANNEL } from '../streams/run-event';
import { DeferredWorkflows } from './deferred-workflows';
import { type EagerLimits, EagerStarts } from './eager-starts';
import { IdleProcessors } from './idle-processors';
import type { RunExecution } from './run-execution';
import { RunExecutor } from './run-executor';

/** Why these numbers: docs/decisions/fairness.md. */
const LIMITS: EagerLimits = { streamed: 64, others: 16, ofEachTenant: 2 };
/** Time for which a run keeps others from beginning. A longer run probably waits for something else than a processor. */
const PLACE_MS = 300;
/** Interval of looks at the processors while runs wait, and the time for which a run may have kept them busy before its node waits. */
const LOOK_MS = 50;
/** Share of idle time beyond which more runs can begin: those that have places wait for something else than a processor. */
const IDLE_SHARE = 0.4;
/** Time after which a run that had to wait is left to its workflow, which any worker can take. */
const WAIT_MS = 3_000;

/**
 * Runs that this worker begins as soon as they are stored, before they have a workflow. This is only an eager start: a run that this
 * worker doesn't begin, or isn't notified of, is begun by its workflow, which the process that stored it starts a moment later.
 */
@Injectable()
export class EagerRuns implements OnModuleDestroy {
  private readonly logger = new Logger(EagerRuns.name);
  private readonly starts: EagerStarts;
  private unsubscribe: (() => void) | undefined;
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly executor: RunExecutor,
    private readonly workflows: DeferredWorkflows,
    private readonly notifications: Notifications,
  ) {
    this.starts = new EagerStarts(LIMITS, WAIT_MS, (tenantId) => this.executor.slots.isFreeFor(tenantId));
  }

  /** Begins due runs from now on. */
  async beginAtOnce(): Promise<void> {
    this.executor.onNext = ({ runId, tenantId }) => this.startEagerly({ runId, tenantId, isStreamed: false });
    // Left to its workflow, a run whose tenant's last run still occupies its slot could wait after a batch of another tenant.
    this.executor.slots.onRelease = () => this.beginWaiting();
    this.unsubscribe = await this.notifications.subscribe(RUN_DUE_CHANNEL, (payload) =>
      this.startEagerly(parseDue(payload)),
    );
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
    clearInterval(this.looking);
  }

  /** Resolves when each run that was begun here has ended or has a workflow. */
  settled(): Promise<void> {
    return this.workflows.settled();
  }

  private startEagerly(due: DueRun): void {
    if (this.starts.give(due)) void this.begin(due);
    else this.lookForIdleness();
  }

  /** Begins waiting runs as soon as the processors are idle: runs that wait for a model keep their places, but not the processors. */
  private lookForIdleness(): void {
    if (this.looking) return;
    const processors = new IdleProcessors();
    this.looking = setInterval(() => {
      if (processors.shareSinceLast() > IDLE_SHARE) {
        this.starts.overSince(LOOK_MS);
        this.beginWaiting();
      }
      if (this.starts.isWaiting) return;
      clearInterval(this.looking);
      this.looking = undefined;
    }, LOOK_MS);
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
    this.beginWaiting();
  }

  private beginWaiting(): void {
    for (let next = this.starts.next(); next; next = this.starts.next()) void this.begin(next);
  }
}
