import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { Notifications } from '../database/notifications';
import { ProcessId } from '../database/process-id';
import { isContentError } from '../database/unstorable-text';
import { ExecutionBroken, HostLost } from '../graphs/host/graph-process.errors';
import { EventAppender, EventsRefused } from '../streams/event-appender';
import { RUN_CANCEL_CHANNEL } from '../streams/run-event';
import { runsHeldQueue } from '../../workflows/contracts/queues';
import type { EndRunInput, ExecuteRunResult } from '../../workflows/contracts/run.contract';
import { AttemptEvents } from './attempt-events';
import { type CommittedEnd, RunEnder } from './run-ender';
import { RunExecution } from './run-execution';
import { RunGraphs } from './run-graphs';
import {
  type Begun as Claimed,
  type Elsewhere,
  foundElsewhere,
  type Owned,
  type OwnedRun,
  RunLifecycleRepository,
} from './run-lifecycle.repository';
import { RunSlots } from './run-slots';
import type { RunEntity } from './run.entity';
import { RunMetrics } from './run.metrics';

const WATCHED_POLL_MS = 50;
/** Number of tenants that may have a run here although others fill every slot. */
const RESERVED_SLOTS = 16;

/** A claimed run, or the reason why it couldn't be claimed. */
export type Taken = { state: 'held'; execution: RunExecution } | { state: 'ended'; result: ExecuteRunResult };

export type Begun =
  | Taken
  /** Another process owns it; undefined if the task queue of that process is unknown. */
  | { state: 'elsewhere'; taskQueue: string | undefined; startedAt: Date }
  /** This worker has no room, or is about to stop; no process is known to have it. */
  | { state: 'refused' };

/** Executes runs: claims them, runs their graphs in the graph host, writes their events, and ends them. */
@Injectable()
export class RunExecutor implements OnModuleInit, OnModuleDestroy {
  /** Task queue of this process, for questions about the runs that it owns. */
  readonly taskQueue: string;
  /** Slots for all runs that this worker executes, however they were started. */
  readonly slots: RunSlots;
  private readonly executions = new Map<string, RunExecution>();
  private readonly handBack = new AbortController();
  /** Runs that are being claimed at the moment. */
  private beginning = 0;
  /** Present when this worker is about to stop; resolves when Temporal gives it no more tasks, and may learn what it leaves. */
  private pollsEnded: Promise<void> | undefined;
  /** Called with the next run of a thread when one has ended here. */
  onNext: ((next: RunEntity) => void) | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly lifecycle: RunLifecycleRepository,
    private readonly graphs: RunGraphs,
    private readonly ender: RunEnder,
    private readonly events: EventAppender,
    private readonly config: AppConfig,
    private readonly notifications: Notifications,
    private readonly metrics: RunMetrics,
    processId: ProcessId,
  ) {
    this.taskQueue = runsHeldQueue(processId.value);
    this.slots = new RunSlots(config.worker.runs, RESERVED_SLOTS);
  }

  async onModuleInit(): Promise<void> {
    // Every run in flight adds a listener, so a large number is no leak.
    setMaxListeners(0, this.handBack.signal);
    // An activity learns of its cancellation from the answer to a heartbeat, seconds later; this is immediate.
    const cancel = (runId: string): void => this.executions.get(runId)?.cancel();
    this.unsubscribe = await this.notifications.subscribe(RUN_CANCEL_CHANNEL, cancel);
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  /** The attempt at a run that is running in this process. */
  findExecution(runId: string): RunExecution | undefined {
    const execution = this.executions.get(runId);
    // One that is stopping can't continue the run.
    return execution?.signal.aborted ? undefined : execution;
  }

  /**
   * Begins a run that no process owns; otherwise resolves to where it is.
   * @param tenantId where it is known before the run is read
   * @param onTaken called with the attempt if this call begins it
   */
  async beginRun(
    runId: string,
    tenantId?: string,
    onTaken?: (run: RunEntity, execution: RunExecution) => void,
  ): Promise<Begun> {
    const known = this.heldHere(runId);
    if (known) return known;
    const claim = (): Promise<Claimed> => this.lifecycle.beginRun(runId, this.graphs.revision, this.taskQueue);
    const begun = await this.claimWithSlot(runId, tenantId, claim, onTaken);
    if (begun.state !== 'refused' || tenantId !== undefined) return begun;
    const run = await this.lifecycle.findRunById(runId);
    // No slot is needed to see who has it: its workflow watches it there.
    const elsewhere = foundElsewhere(run);
    if (elsewhere) return this.heldHere(runId) ?? elsewhere;
    // No slot is free; its tenant may have one of the reserve.
    return run ? this.claimWithSlot(runId, run.tenantId, claim, onTaken) : begun;
  }

  private heldHere(runId: string): Taken | undefined {
    const execution = this.findExecution(runId);
    return execution && { state: 'held', execution };
  }

  /**
   * Takes a run over from a lost worker, if that one still owns it, and resumes it from its last checkpoint; otherwise resolves to
   * where it is.
   * @param lost task queue of the lost worker
   */
  takeOverRunOf(lost: string, { runId, tenantId }: RunEntity): Promise<Begun> {
    const claim = (): Promise<Claimed> =>
      this.lifecycle.takeOverRunOf(lost, runId, this.graphs.revision, this.taskQueue);
    return this.claimWithSlot(runId, tenantId, claim);
  }

  /**
   * Takes a run over from the process that owned it, and resumes it from its last checkpoint. The caller has a slot for it.
   * @param from task queue of that process, null if only from none; undefined from whichever process has it
   */
  async takeOverRun(runId: string, from?: string | null): Promise<Taken | Elsewhere> {
    const claimed = await this.lifecycle.takeOverRun(runId, this.graphs.revision, this.taskQueue, from);
    return claimed.state === 'elsewhere' ? claimed : this.hold(claimed);
  }

  private async claimWithSlot(
    runId: string,
    tenantId: string | undefined,
    claim: () => Promise<Claimed>,
    onTaken?: (run: RunEntity, execution: RunExecution) => void,
  ): Promise<Begun> {
    const slot = this.pollsEnded ? undefined : this.slots.tryTakeFor(tenantId);
    if (!slot) return { state: 'refused' };
    let execution: RunExecution | undefined;
    this.beginning += 1;
    try {
      const claimed = await claim();
      if (claimed.state === 'elsewhere') {
        // It may have begun here during the query.
        return this.heldHere(runId) ?? claimed;
      }
      const taken = await this.hold(claimed);
      if (claimed.state === 'held' && taken.state === 'held') {
        ({ execution } = taken);
        onTaken?.(claimed.run, execution);
      }
      return taken;
    } finally {
      this.beginning -= 1;
      if (execution) execution.ended.then(slot.release, slot.release);
      else slot.release();
    }
  }

  /** Executes a run that this process has claimed, unless it has ended its hosts too often. */
  private async hold(owned: Owned): Promise<Taken> {
    if (owned.state === 'ended') return { state: 'ended', result: await this.ender.resultOf(owned) };
    const { before, run } = owned;
    if (before && before.lostAttempts >= this.config.runs.lostAttempts) {
      const message = `The run's host was lost ${before.lostAttempts} times after the same checkpoint, with no other run in it: it is not retried`;
      return { state: 'ended', result: await this.endRun({ runId: run.runId, ending: 'error', message }) };
    }
    return { state: 'held', execution: this.execute(owned) };
  }

  /** Resolves when each run that is running here is watched by an activity, which Temporal waits for. */
  async allWatched(): Promise<void> {
    const isUnwatched = ({ isWatched }: RunExecution): boolean => !isWatched;
    while (this.beginning > 0 || [...this.executions.values()].some(isUnwatched)) await sleep(WATCHED_POLL_MS);
  }

  /**
   * Claims no more runs, and has activities watch those that none watches yet.
   * @param pollsEnded resolves when Temporal gives this worker no more tasks: what becomes a task waits for it
   */
  stopBeginning(pollsEnded: Promise<void>): void {
    this.pollsEnded = pollsEnded;
    for (const execution of this.executions.values()) void pollsEnded.then(() => execution.stopWaiting());
  }

  /** Hands every run back at its next checkpoint, for a worker that is about to stop. */
  handBackAll(): void {
    this.handBack.abort('shutdown');
  }

  /** Ends a run that no attempt could end, with the state that its last checkpoint left. */
  async endRun(input: EndRunInput): Promise<ExecuteRunResult> {
    return this.startNext(await this.ender.endLostRun(input));
  }

  private startNext({ result, next }: CommittedEnd): ExecuteRunResult {
    if (next) this.onNext?.(next);
    return result;
  }

  private execute(held: OwnedRun): RunExecution {
    const { runId } = held.run;
    const tenant = this.slots.countTenant(held.run.tenantId);
    const execution = new RunExecution((self) => this.executeAttempt(held, self));
    this.executions.set(runId, execution);
    const forget = (): void => {
      tenant.release();
      if (this.executions.get(runId) === execution) this.executions.delete(runId);
    };
    execution.ended.then(forget, forget);
    void this.pollsEnded?.then(() => execution.stopWaiting());
    return execution;
  }

  /** @throws ExecutionBroken or the database's error if the attempt rather than the graph failed, so that it can be repeated */
  private async executeAttempt(held: OwnedRun, execution: RunExecution): Promise<ExecuteRunResult> {
    const { run } = held;
    const events = new AttemptEvents(this.events, run, held.nextSeq);
    if (run.cancelAction !== null) execution.cancel();
    this.metrics.attemptBegun(run);
    let ending: 'finished' | 'handed-back' | 'broken' = 'broken';
    try {
      const outcome = await this.graphs.runGraph(held, { execution, events, handBack: this.handBack.signal });
      const { status, inDoubt } = outcome;
      if (status === 'handed-back' || (status === 'aborted' && !execution.isCancelled)) {
        await events.written();
        if (status === 'handed-back') {
          if (!inDoubt) await this.lifecycle.recordHandBack(run.runId, run.attempt);
          ending = 'handed-back';
          await this.pollsEnded;
        }
        throw new ExecutionBroken('This worker handed the run back: its next attempt resumes from the checkpoint');
      }
      const result = this.startNext(await this.ender.endRun(run, outcome, events));
      ending = 'finished';
      return result;
    } catch (error) {
      if (error instanceof EventsRefused) throw new ExecutionBroken(error.message);
      if (error instanceof HostLost) await this.lifecycle.recordHostLoss(run.runId, run.attempt);
      if (!isContentError(error)) throw error;
      const result = this.startNext(await this.ender.endWithoutContent(run));
      ending = 'finished';
      return result;
    } finally {
      this.metrics.attemptEnded(run, ending);
    }
  }
}
