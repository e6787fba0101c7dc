import { Injectable, Logger } from '@nestjs/common';
import { isContentError } from '../database/unstorable-text';
import { GraphHosts } from '../graphs/host/graph-hosts';
import { ExecutionBroken } from '../graphs/host/graph-process.errors';
import type { FinalState, GraphOutcome } from '../graphs/host/protocol';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { atMost, LATE } from '../time/at-most';
import type { EndRunInput, ExecuteRunResult } from '../../workflows/contracts/run.contract';
import type { AttemptEvents } from './attempt-events';
import {
  completedEnding,
  deletedEnding,
  failedEnding,
  type RunEnding,
  storableEnding,
  unstorableEnding,
} from './run-ending';
import { type Ended, type EndResult, type Owned, RunLifecycleRepository } from './run-lifecycle.repository';
import { RunWebhooks } from './run-webhooks';
import type { RunEntity } from './run.entity';
import { RunMetrics } from './run.metrics';
import { UntakenRuns } from './untaken-runs';

/** A run must end although the code of its graph hangs: half of the time that Temporal gives its end. */
const READ_STATE_MS = 15_000;

export interface CommittedEnd {
  result: ExecuteRunResult;
  /** The next run of the thread, for a worker to begin; null when there is none. */
  next: RunEntity | null;
}

/** Ends runs: reads their state, commits their end, and starts the follow-up work. */
@Injectable()
export class RunEnder {
  private readonly logger = new Logger(RunEnder.name);

  constructor(
    private readonly lifecycle: RunLifecycleRepository,
    private readonly graphs: GraphHosts,
    private readonly webhooks: RunWebhooks,
    private readonly deliveries: WebhookOrchestrator,
    private readonly untaken: UntakenRuns,
    private readonly metrics: RunMetrics,
  ) {}

  /** The result of a run that had ended before an attempt at it began. */
  async resultOf({ ending, run }: Owned & { state: 'ended' }): Promise<ExecuteRunResult> {
    const deliveryId = run && (await this.webhooks.pendingDelivery(run));
    return { ending, ...(deliveryId && { deliveryId }) };
  }

  /** Ends a run that no attempt could end, with the state of its last checkpoint. */
  async endLostRun({ runId, ending, message }: EndRunInput): Promise<CommittedEnd> {
    const run = await this.lifecycle.findRunById(runId);
    if (!run) return { result: { ending: 'deleted' }, next: null };
    const state = await this.storedState(run);
    const lost = await this.lostEnding(run, ending, message, state);
    const ended = await this.commit(run, undefined, lost, (storable) =>
      this.lifecycle.endRun(runId, undefined, storable),
    );
    return ended ?? { result: { ending }, next: null };
  }

  private async lostEnding(
    run: RunEntity,
    ending: EndRunInput['ending'],
    message: string | undefined,
    state: FinalState | undefined,
  ): Promise<RunEnding> {
    switch (ending) {
      case 'interrupted':
        return this.cancelledEnding(run, undefined, state);
      case 'timeout':
        return failedEnding('timeout', { error: 'TimeoutError', message: 'The run exceeded its time limit' }, state);
      case 'error':
        return failedEnding('error', { error: 'RunLost', message: message ?? 'The run could not be continued' }, state);
    }
  }

  /**
   * Ends a run as its graph did.
   * @throws ExecutionBroken when another attempt has the run
   */
  async endRun(run: RunEntity, outcome: GraphOutcome, events: AttemptEvents): Promise<CommittedEnd> {
    const ending = await this.endingOf(run, outcome);
    const ended = await this.commitOwned(run, { ...ending, rest: await events.rest() });
    if (!ended) throw new ExecutionBroken('Another attempt holds the run');
    return ended;
  }

  /** Ends a run whose events can't be stored: the next attempt would emit the same ones. */
  async endWithoutContent(run: RunEntity): Promise<CommittedEnd> {
    const ended = await this.commitOwned(run, unstorableEnding(completedEnding('success', undefined)));
    if (!ended) throw new ExecutionBroken('Another attempt holds the run');
    return ended;
  }

  private async endingOf(run: RunEntity, { status, inDoubt, error, state }: GraphOutcome): Promise<RunEnding> {
    if (status === 'aborted') {
      // Aborted before it began: a first attempt leaves the thread as it is, but an earlier one may have changed it.
      const isUnread = inDoubt ?? (state === undefined && run.attempt > 1);
      return this.cancelledEnding(run, run.attempt, isUnread ? await this.storedState(run) : state);
    }
    return error ? failedEnding('error', error, state) : completedEnding('success', state);
  }

  /** `interrupt` keeps the checkpoints; `rollback` deletes the run and what it wrote. */
  private async cancelledEnding(
    run: RunEntity,
    attempt: number | undefined,
    state: FinalState | undefined,
  ): Promise<RunEnding> {
    const now = await this.lifecycle.findRunById(run.runId);
    return now?.cancelAction === 'rollback' ? this.rollBack(run, attempt) : completedEnding('interrupted', state);
  }

  /** Deletes the run's checkpoints; if this process is lost before the run's end, the next attempt does the same. */
  private async rollBack(run: RunEntity, attempt: number | undefined): Promise<RunEnding> {
    if (!(await this.lifecycle.discardCheckpoints(run.runId, attempt))) {
      throw new ExecutionBroken('Another attempt holds the run');
    }
    return deletedEnding(await this.storedState(run));
  }

  /** Reads the state at the last checkpoint of the run's thread; undefined if the graph's code can't read it, or takes too long. */
  private async storedState(run: RunEntity): Promise<FinalState | undefined> {
    const { runId, tenantId, graphId, threadId, metadata, kwargs } = run;
    try {
      const target = { graphId, tenantId, metadata, config: kwargs.config ?? {}, threadId };
      const state = await atMost(READ_STATE_MS, this.graphs.call('getFinalState', target));
      if (state === LATE) throw new Error(`The graph's code takes longer than ${READ_STATE_MS / 1000} s`);
      return JSON.parse(state) as FinalState;
    } catch (error) {
      this.logger.warn(
        { err: error, run_id: runId },
        "The thread's state could not be read; its row keeps the last one",
      );
      return undefined;
    }
  }

  private commitOwned(run: RunEntity, ending: RunEnding): Promise<CommittedEnd | undefined> {
    return this.commit(run, run.attempt, ending, (storable) => this.lifecycle.endOwnedRun(run, storable));
  }

  /**
   * Ends a run. A rollback that was requested when the graph had ended already is carried out nevertheless: its caller was promised
   * that nothing of the run is kept.
   * @param end writes the ending
   * @returns undefined when the attempt no longer owns the run
   */
  private async commit(
    run: RunEntity,
    attempt: number | undefined,
    ending: RunEnding,
    end: (ending: RunEnding) => Promise<EndResult>,
  ): Promise<CommittedEnd | undefined> {
    let ended = await this.write(run, ending, end);
    if (ended === 'rollback-requested') ended = await this.write(run, await this.rollBack(run, attempt), end);
    return ended && ended !== 'rollback-requested' ? this.followUp(ended) : undefined;
  }

  /** Values that can't be stored are left out: a run must end, and its next attempt would produce the same ones. */
  private async write(
    run: RunEntity,
    ending: RunEnding,
    end: (ending: RunEnding) => Promise<EndResult>,
  ): Promise<EndResult> {
    try {
      return await end(storableEnding(ending));
    } catch (error) {
      if (!isContentError(error)) throw error;
      this.logger.error({ err: error, run_id: run.runId }, 'The run ends without its state, which cannot be stored');
      return end(unstorableEnding(ending));
    }
  }

  private followUp(ended: Ended): CommittedEnd {
    const { run, next, deliveries, status } = ended;
    this.metrics.runEnded(run, status);
    void this.deliveries.startStored(deliveries.filter(({ startedByWorkflow }) => !startedByWorkflow));
    if (next) void this.untaken.start(next);
    const deliveryId = deliveries.find(({ startedByWorkflow }) => startedByWorkflow)?.deliveryId;
    return { result: { ending: status, ...(deliveryId && { deliveryId }) }, next };
  }
}
