import { setMaxListeners } from 'node:events';
import { Injectable, Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { A2aTurns } from '../a2a/a2a-turns';
import { AppConfig } from '../config/config';
import { recordCronOutcome } from '../crons/cron-outcomes';
import { Notifications } from '../database/notifications';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHost } from '../graphs/host/graph-host';
import { ExecutionBroken } from '../graphs/host/graph-thread-handle';
import type { FinalState, GraphOutcome, RunEventMessage } from '../graphs/host/protocol';
import { EventAppender, EventsRefused } from '../streams/event-appender';
import { EventLogRepository } from '../streams/event-log.repository';
import { RUN_CANCEL_CHANNEL } from '../streams/run-event';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import type { EndRunInput, ExecuteRunResult } from '../../workflows/contracts/run.contract';
import { completedEnding, deletedEnding, failedEnding, type RunEnding } from './run-ending';
import { RunHeaders } from './run-headers';
import { type HeldRun, RunLifecycleRepository } from './run-lifecycle.repository';
import { RunWebhooks } from './run-webhooks';
import { RunEntity } from './run.entity';
import { RunMetrics } from './run.metrics';

export interface ExecuteOptions {
  /** Aborted when Temporal ends the attempt. */
  signal: AbortSignal;
  /** Whether that was somebody's wish, and not a lost heartbeat or the worker's own shutdown. */
  isCancelRequested: () => boolean;
  /** Told of each node that begins, for those who watch the run. */
  onNode: (node: string) => void;
}

interface Active {
  abort: AbortController;
  cancelled: boolean;
}

/** Runs a run: takes it, lets the graph host work, writes its events, and ends it. */
@Injectable()
export class RunExecutor implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly active = new Map<string, Active>();
  private readonly handBack = new AbortController();
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly lifecycle: RunLifecycleRepository,
    private readonly graphs: GraphHost,
    private readonly registry: GraphRegistry,
    private readonly events: EventAppender,
    private readonly log: EventLogRepository,
    private readonly config: AppConfig,
    private readonly notifications: Notifications,
    private readonly webhooks: RunWebhooks,
    private readonly turns: A2aTurns,
    private readonly orchestrator: RunOrchestrator,
    private readonly metrics: RunMetrics,
    private readonly headers: RunHeaders,
  ) {}

  async onModuleInit(): Promise<void> {
    // Every run on its way listens: that many are no leak.
    setMaxListeners(0, this.handBack.signal);
    // Temporal tells an activity of its cancellation with the answer to a heartbeat, seconds later; this is at once.
    this.unsubscribe = await this.notifications.subscribe(RUN_CANCEL_CHANNEL, (runId) => this.cancelActive(runId));
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  /**
   * One attempt at a run.
   * @throws ExecutionBroken or the database's error when the attempt failed and not the graph: it can be repeated.
   */
  async execute(runId: string, { signal, isCancelRequested, onNode }: ExecuteOptions): Promise<ExecuteRunResult> {
    const held = await this.lifecycle.begin(runId, this.registry.revision);
    if (held.state === 'waiting') return { ending: 'waiting' };
    if (held.state === 'ended') return { ending: held.ending };
    const { run, before } = held;
    if (before && before.lostAttempts >= this.config.runLostAttempts) {
      const message = `The run's worker was lost ${before.lostAttempts} times behind the same checkpoint: it is not tried again`;
      return this.end({ runId, ending: 'error', message });
    }
    const active: Active = { abort: new AbortController(), cancelled: run.cancelAction !== null };
    const onAbort = (): void => {
      active.cancelled ||= isCancelRequested();
      active.abort.abort('cancelled');
    };
    signal.addEventListener('abort', onAbort);
    this.active.set(runId, active);
    this.metrics.attemptBegun(run);
    let ending: 'finished' | 'handed-back' | 'broken' = 'broken';
    try {
      if (signal.aborted) onAbort();
      else if (active.cancelled) active.abort.abort('cancelled');
      const outcome = await this.runGraph(held, active.abort.signal, onNode);
      if (outcome.status === 'handed-back' && !outcome.inDoubt) await this.lifecycle.recordHandBack(runId, run.attempt);
      if (outcome.status === 'handed-back') ending = 'handed-back';
      if (outcome.status === 'handed-back' || (outcome.status === 'aborted' && !active.cancelled)) {
        throw new ExecutionBroken('This worker gave the run away: its next attempt goes on at the checkpoint');
      }
      const result = await this.finish(run, outcome);
      ending = 'finished';
      return result;
    } catch (error) {
      if (error instanceof EventsRefused) throw new ExecutionBroken(error.message);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.active.delete(runId);
      this.metrics.attemptEnded(run, ending);
    }
  }

  /** Gives every run away at its next checkpoint, for a worker that is about to stop. */
  handBackAll(): void {
    this.handBack.abort('shutdown');
  }

  /** Ends a run that no attempt could end, with the state that its last checkpoint left. */
  async end({ runId, ending, message }: EndRunInput): Promise<ExecuteRunResult> {
    const run = await this.lifecycle.find(runId);
    if (!run) return { ending: 'deleted' };
    const state = await this.storedState(run);
    const ended = await this.commit(runId, undefined, await this.lostEnding(run, ending, message, state));
    return ended ?? { ending };
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

  private cancelActive(runId: string): void {
    const active = this.active.get(runId);
    if (!active) return;
    active.cancelled = true;
    active.abort.abort('cancelled');
  }

  private async runGraph(
    { run, nextSeq, before }: HeldRun,
    signal: AbortSignal,
    onNode: (node: string) => void,
  ): Promise<GraphOutcome> {
    const told = before ? await this.log.toldOf(run.runId) : { updates: {}, facts: [] };
    let seq = nextSeq;
    const append = (batch: RunEventMessage[]): Promise<void> => {
      const { tenantId, runId, attempt } = run;
      const events = batch.map((message) => ({ tenantId, runId, attempt, seq: seq++, ...message }));
      return this.events.append(runId, events);
    };
    let lastWrite = append([{ event: 'metadata', data: JSON.stringify({ run_id: run.runId, attempt: run.attempt }) }]);
    const onEvents = (batch: RunEventMessage[]): Promise<void> => (lastWrite = append(batch));
    // A refusal is seen where the events are awaited; until then it must not count as unhandled.
    lastWrite.catch(() => undefined);
    const { runId, threadId, tenantId, assistantId, graphId, attempt, kwargs, metadata } = run;
    const onUnknown = this.registry.onUnknown(graphId);
    const headers = this.headers.open(tenantId, runId, kwargs.sealed_headers);
    const outcome = await this.graphs.execute(
      {
        ...{ runId, threadId, tenantId, assistantId, graphId, attempt, kwargs, metadata, headers, onUnknown },
        handedBack: before?.handedBack ?? false,
        told,
      },
      { signal, handBack: this.handBack.signal, onEvents, onNode },
    );
    // The end is the last of the log: everything before it has to be there first.
    await lastWrite;
    return outcome;
  }

  private async finish(run: RunEntity, outcome: GraphOutcome): Promise<ExecuteRunResult> {
    const ending = await this.endingOf(run, outcome);
    const ended = await this.commit(run.runId, run.attempt, ending);
    if (!ended) throw new ExecutionBroken('Another attempt holds the run');
    return ended;
  }

  private async endingOf(run: RunEntity, { status, error, state }: GraphOutcome): Promise<RunEnding> {
    if (status === 'aborted') return this.cancelledEnding(run, run.attempt, state);
    return error ? failedEnding('error', error, state) : completedEnding('success', state);
  }

  /** `interrupt` keeps the checkpoints, `rollback` takes the run and what it wrote away. */
  private async cancelledEnding(
    run: RunEntity,
    attempt: number | undefined,
    state: FinalState | undefined,
  ): Promise<RunEnding> {
    const now = await this.lifecycle.find(run.runId);
    if (now?.cancelAction !== 'rollback') return completedEnding('interrupted', state);
    if (!(await this.lifecycle.discardCheckpoints(run.runId, attempt))) {
      throw new ExecutionBroken('Another attempt holds the run');
    }
    return deletedEnding(await this.storedState(run));
  }

  /** What the last checkpoint of the run's thread holds; undefined when the graph's code can't say it. */
  private async storedState({ runId, graphId, threadId }: RunEntity): Promise<FinalState | undefined> {
    try {
      return JSON.parse(await this.graphs.call('getFinalState', { graphId, threadId })) as FinalState;
    } catch (error) {
      this.logger.warn(
        { err: error, run_id: runId },
        "The thread's state could not be read; its row keeps the last one",
      );
      return undefined;
    }
  }

  private async commit(
    runId: string,
    attempt: number | undefined,
    ending: RunEnding,
  ): Promise<ExecuteRunResult | undefined> {
    let notifications: DeliveryReference[] = [];
    const ended = await this.lifecycle.end(runId, attempt, ending, async (manager, run) => {
      notifications = await this.turns.close(manager, run, ending);
      await recordCronOutcome(manager, run, ending);
      return this.webhooks.enqueue(manager, run, ending);
    });
    if (!ended) return undefined;
    const { run, next, deliveryId } = ended;
    this.metrics.runEnded(run, ending.status);
    this.turns.start(notifications);
    if (next) {
      this.orchestrator.start(next).catch((error: unknown) => {
        this.logger.warn({ err: error, run_id: next.runId }, 'Next run not started yet: the sweep will do it');
      });
    }
    return { ending: ending.status, ...(deliveryId && { deliveryId }) };
  }
}
