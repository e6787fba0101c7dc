import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { issueCallToken } from '../auth/call-token';
import { issueTraceToken } from '../auth/trace-token';
import { AppConfig } from '../config/config';
import { SecretValues } from '../crypto/secret-values';
import { Notifications } from '../database/notifications';
import { isContentError } from '../database/unstorable-text';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHost } from '../graphs/host/graph-host';
import { ExecutionBroken, HostLost } from '../graphs/host/graph-process-handle';
import type { CommandInput, FinalState, GraphOutcome } from '../graphs/host/protocol';
import { EventAppender, EventsRefused } from '../streams/event-appender';
import { EventLogRepository } from '../streams/event-log.repository';
import { type DueRun, parseDue, RUN_CANCEL_CHANNEL, RUN_DUE_CHANNEL } from '../streams/run-event';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { runsHeldQueue } from '../../workflows/contracts/queues';
import type { EndRunInput, ExecuteRunResult } from '../../workflows/contracts/run.contract';
import {
  completedEnding,
  deletedEnding,
  failedEnding,
  type RunEnding,
  storableEnding,
  unstorableEnding,
} from './run-ending';
import { AttemptEvents } from './attempt-events';
import { HeadStarts } from './head-starts';
import { RunExecution } from './run-execution';
import { RunHeaders } from './run-headers';
import { type Held, type HeldRun, RunLifecycleRepository } from './run-lifecycle.repository';
import { RunSlots } from './run-slots';
import { RunWebhooks } from './run-webhooks';
import { RunEntity } from './run.entity';
import { RunMetrics } from './run.metrics';

const WATCHED_POLL_MS = 50;
const HEAD_STARTS = 8;
/** Limit for each tenant, whatever the others have. */
const HEAD_STARTS_OF_TENANT = 2;
const HEAD_START_MS = 1_000;
/** Tenants that may have a run here although others fill every slot. */
const RESERVED_SLOTS = 16;
/** Time for what is still queued of a trace when its run ends. */
const UPLOAD_MS = 600_000;

/** A run that was taken, or what was found instead. */
export type Taken = { state: 'held'; execution: RunExecution } | { state: 'ended'; result: ExecuteRunResult };

export type Begun =
  | Taken
  /** Another process took it; undefined when it didn't say where it can be asked. */
  | { state: 'elsewhere'; taskQueue: string | undefined }
  /** This worker has no room, or is about to stop. */
  | { state: 'refused' };

/** Runs a run: takes it, lets the graph host work, writes its events, and ends it. */
@Injectable()
export class RunExecutor implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(RunExecutor.name);
  /** Where this process can be asked about the runs that it holds. */
  readonly taskQueue = runsHeldQueue(randomUUID());
  /** Slots for every run that this worker executes, whichever way it came. */
  readonly slots: RunSlots;
  private readonly executions = new Map<string, RunExecution>();
  private readonly headStarts = new HeadStarts(HEAD_STARTS, HEAD_STARTS_OF_TENANT, HEAD_START_MS);
  private readonly handBack = new AbortController();
  /** Runs that are being taken at the moment. */
  private beginning = 0;
  private beginsAtOnce = false;
  private stopping = false;
  private readonly unsubscribes: (() => void)[] = [];

  constructor(
    private readonly lifecycle: RunLifecycleRepository,
    private readonly graphs: GraphHost,
    private readonly registry: GraphRegistry,
    private readonly events: EventAppender,
    private readonly log: EventLogRepository,
    private readonly config: AppConfig,
    private readonly notifications: Notifications,
    private readonly webhooks: RunWebhooks,
    private readonly deliveries: WebhookOrchestrator,
    private readonly orchestrator: RunOrchestrator,
    private readonly metrics: RunMetrics,
    private readonly headers: RunHeaders,
    private readonly secretValues: SecretValues,
  ) {
    this.slots = new RunSlots(config.runsPerWorker, RESERVED_SLOTS);
  }

  async onModuleInit(): Promise<void> {
    // Every run on its way listens: that many are no leak.
    setMaxListeners(0, this.handBack.signal);
    // An activity learns of its cancellation with the answer to a heartbeat, seconds later; this is at once.
    const cancel = (runId: string): void => this.executions.get(runId)?.cancel();
    this.unsubscribes.push(await this.notifications.subscribe(RUN_CANCEL_CHANNEL, cancel));
  }

  onModuleDestroy(): void {
    for (const unsubscribe of this.unsubscribes) unsubscribe();
  }

  /** The attempt at a run that is running in this process. */
  find(runId: string): RunExecution | undefined {
    const execution = this.executions.get(runId);
    // One that is stopping can't continue the run.
    return execution?.signal.aborted ? undefined : execution;
  }

  /** Begins a run that no process has taken yet; otherwise resolves to where it is. */
  begin(runId: string): Promise<Begun> {
    this.headStarts.caughtUp(runId);
    return this.beginHere(runId);
  }

  /** @param tenantId where it is known before the run is read */
  private async beginHere(runId: string, tenantId?: string): Promise<Begun> {
    const known = this.find(runId);
    if (known) return { state: 'held', execution: known };
    const slot = this.stopping ? undefined : this.slots.tryTakeFor(tenantId);
    if (!slot) return { state: 'refused' };
    let execution: RunExecution | undefined;
    this.beginning += 1;
    try {
      const held = await this.lifecycle.begin(runId, this.registry.revision, this.taskQueue);
      if (held.state === 'elsewhere') {
        // It may have been begun here while the database was asked.
        const begun = this.find(runId);
        return begun ? { state: 'held', execution: begun } : held;
      }
      if (held.state === 'ended') return this.endedBefore(held);
      execution = this.execute(held);
      return { state: 'held', execution };
    } finally {
      this.beginning -= 1;
      if (execution) execution.ended.then(slot.release, slot.release);
      else slot.release();
    }
  }

  /**
   * Begins runs as soon as they are stored, without waiting for their workflows, which then find them here. Only a head start:
   * what this worker doesn't begin, or isn't notified of, is begun by its workflow.
   */
  async beginAtOnce(): Promise<void> {
    this.beginsAtOnce = true;
    this.unsubscribes.push(
      await this.notifications.subscribe(RUN_DUE_CHANNEL, (payload) => this.giveHeadStart(parseDue(payload))),
    );
  }

  private giveHeadStart({ runId, tenantId }: DueRun): void {
    if (!this.beginsAtOnce || !this.headStarts.give(runId, tenantId)) return;
    this.beginHere(runId, tenantId).catch((error: unknown) => {
      this.logger.warn({ err: error, run_id: runId }, 'Run not begun yet: its workflow will do it');
    });
  }

  /** Takes a run from the process that had it, and resumes from its last checkpoint. The caller has a slot for it. */
  async takeOver(runId: string): Promise<Taken> {
    const held = await this.lifecycle.takeOver(runId, this.registry.revision, this.taskQueue);
    if (held.state === 'ended') return this.endedBefore(held);
    const { before } = held;
    if (before && before.lostAttempts >= this.config.runLostAttempts) {
      const message = `The run's host was lost ${before.lostAttempts} times after the same checkpoint, with no other run in it: it is not retried`;
      return { state: 'ended', result: await this.end({ runId, ending: 'error', message }) };
    }
    return { state: 'held', execution: this.execute(held) };
  }

  /** Resolves when each run that is running here is watched by an activity, which Temporal waits for. */
  async allWatched(): Promise<void> {
    const isUnwatched = ({ isWatched }: RunExecution): boolean => !isWatched;
    while (this.beginning > 0 || [...this.executions.values()].some(isUnwatched)) await sleep(WATCHED_POLL_MS);
  }

  /** Takes no more runs, and hands those that no activity watches over to one. */
  stopBeginning(): void {
    this.stopping = true;
    for (const execution of this.executions.values()) execution.stopWaiting();
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

  private async endedBefore({ ending, run }: Held & { state: 'ended' }): Promise<Taken> {
    const deliveryId = run && (await this.webhooks.pendingDelivery(run));
    return { state: 'ended', result: { ending, ...(deliveryId && { deliveryId }) } };
  }

  private execute(held: HeldRun): RunExecution {
    const { runId } = held.run;
    const tenant = this.slots.countTenant(held.run.tenantId);
    const execution = new RunExecution((self) => this.attempt(held, self));
    this.executions.set(runId, execution);
    const forget = (): void => {
      tenant.release();
      if (this.executions.get(runId) === execution) this.executions.delete(runId);
    };
    execution.ended.then(forget, forget);
    if (this.stopping) execution.stopWaiting();
    return execution;
  }

  /** @throws ExecutionBroken or the database's error when the attempt failed and not the graph: it can be repeated. */
  private async attempt(held: HeldRun, execution: RunExecution): Promise<ExecuteRunResult> {
    const { run } = held;
    const events = new AttemptEvents(this.events, run, held.nextSeq);
    if (run.cancelAction !== null) execution.cancel();
    this.metrics.attemptBegun(run);
    let ending: 'finished' | 'handed-back' | 'broken' = 'broken';
    try {
      const outcome = await this.runGraph(held, execution, events);
      const { status, inDoubt } = outcome;
      if (status === 'handed-back' || (status === 'aborted' && !execution.isCancelled)) {
        await events.written();
        if (status === 'handed-back') {
          if (!inDoubt) await this.lifecycle.recordHandBack(run.runId, run.attempt);
          ending = 'handed-back';
        }
        throw new ExecutionBroken('This worker gave the run away: its next attempt goes on at the checkpoint');
      }
      const result = await this.finish(run, outcome, events);
      ending = 'finished';
      return result;
    } catch (error) {
      if (error instanceof EventsRefused) throw new ExecutionBroken(error.message);
      if (error instanceof HostLost) await this.lifecycle.recordHostLoss(run.runId, run.attempt);
      if (!isContentError(error)) throw error;
      const result = await this.endWithoutContent(run);
      ending = 'finished';
      return result;
    } finally {
      this.metrics.attemptEnded(run, ending);
    }
  }

  private async runGraph(
    { run, before }: HeldRun,
    execution: RunExecution,
    events: AttemptEvents,
  ): Promise<GraphOutcome> {
    const told = before ? await this.log.toldOf(run.runId) : { updates: {}, facts: [] };
    const answered = answeredInterrupts(run.kwargs.command);
    const started = { run_id: run.runId, attempt: run.attempt, ...(answered && { answered_interrupts: answered }) };
    void events.append([{ event: 'metadata', data: JSON.stringify(started) }]);
    const { runId, threadId, tenantId, assistantId, graphId, attempt, metadata } = run;
    const onUnknown = this.registry.onUnknown(graphId);
    const { config, context, auth_user: user } = run.kwargs;
    const kwargs = {
      ...run.kwargs,
      ...(config && { config: this.secretValues.open(tenantId, config) }),
      ...(context && { context: this.secretValues.open(tenantId, context) }),
      ...(user && { auth_user: this.secretValues.open(tenantId, user) }),
    };
    const headers = this.headers.open(tenantId, runId, kwargs.sealed_headers);
    return this.graphs.execute(
      {
        ...{ runId, threadId, tenantId, assistantId, graphId, attempt, kwargs, metadata, headers, onUnknown },
        callToken: issueCallToken(
          this.config.secretKey,
          tenantId,
          new Date(),
          kwargs.auth_user,
          this.config.runTimeoutMs,
        ),
        ...(this.config.tracing && { traceKey: this.traceKeyOf(run) }),
        handedBack: before?.handedBack ?? false,
        told,
      },
      {
        ...(before?.isSuspect && { onAlone: () => this.lifecycle.recordAlone(runId, attempt) }),
        signal: execution.signal,
        handBack: this.handBack.signal,
        onEvents: (batch) => events.append(batch),
        onNode: (node) => {
          execution.node = node;
        },
      },
    );
  }

  private traceKeyOf({ tenantId }: RunEntity): string {
    const expiresAt = new Date(Date.now() + this.config.runTimeoutMs + UPLOAD_MS);
    return issueTraceToken(this.config.secretKey, tenantId, expiresAt);
  }

  private async finish(run: RunEntity, outcome: GraphOutcome, events: AttemptEvents): Promise<ExecuteRunResult> {
    const ending = await this.endingOf(run, outcome);
    const ended = await this.commit(run.runId, run.attempt, { ...ending, rest: await events.rest() });
    if (!ended) throw new ExecutionBroken('Another attempt holds the run');
    return ended;
  }

  /** Ends a run whose events can't be stored: its next attempt would make the same. */
  private async endWithoutContent(run: RunEntity): Promise<ExecuteRunResult> {
    const ended = await this.commit(run.runId, run.attempt, unstorableEnding(completedEnding('success', undefined)));
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
  private async storedState(run: RunEntity): Promise<FinalState | undefined> {
    const { runId, tenantId, graphId, threadId, metadata, kwargs } = run;
    try {
      const target = { graphId, tenantId, metadata, config: kwargs.config ?? {}, threadId };
      return JSON.parse(await this.graphs.call('getFinalState', target)) as FinalState;
    } catch (error) {
      this.logger.warn(
        { err: error, run_id: runId },
        "The thread's state could not be read; its row keeps the last one",
      );
      return undefined;
    }
  }

  /** What can't be stored is left out: a run must end, and its next attempt would end with the same. */
  private async commit(
    runId: string,
    attempt: number | undefined,
    ending: RunEnding,
  ): Promise<ExecuteRunResult | undefined> {
    try {
      return await this.commitAs(runId, attempt, storableEnding(ending));
    } catch (error) {
      if (!isContentError(error)) throw error;
      this.logger.error({ err: error, run_id: runId }, 'The run ends without its state, which can not be stored');
      return this.commitAs(runId, attempt, unstorableEnding(ending));
    }
  }

  /** @returns undefined when the attempt doesn't hold the run any more */
  private async commitAs(
    runId: string,
    attempt: number | undefined,
    ending: RunEnding,
  ): Promise<ExecuteRunResult | undefined> {
    const ended = await this.lifecycle.end(runId, attempt, ending);
    if (!ended) return undefined;
    const { run, next, deliveries } = ended;
    this.metrics.runEnded(run, ending.status);
    void this.deliveries.startStored(deliveries.filter(({ startedByWorkflow }) => !startedByWorkflow));
    if (next) {
      this.giveHeadStart(next);
      void startOrLeaveToSweep('Next run', { run_id: next.runId }, () => this.orchestrator.start(next));
    }
    const deliveryId = deliveries.find(({ startedByWorkflow }) => startedByWorkflow)?.deliveryId;
    return { ending: ending.status, ...(deliveryId && { deliveryId }) };
  }
}

/** How LangGraph writes the id of an interrupt. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** The interrupts that a command answers by their ids; undefined when it does not name them. */
function answeredInterrupts(command: CommandInput | undefined): string[] | undefined {
  const { resume } = command ?? {};
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) return undefined;
  const ids = Object.keys(resume);
  return ids.length > 0 && ids.every((id) => INTERRUPT_ID.test(id)) ? ids : undefined;
}
