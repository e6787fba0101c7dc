import type { ChildProcess } from 'node:child_process';
import { Logger } from '@nestjs/common';
import { CorruptMessage, MessageChannel } from './message-channel';
import { answerCipherQuestion } from './cipher-questions';
import type { Call, ExecuteOptions, Execution, StartedExecution } from './execution';
import { ExecutionBroken, GraphCallRefused, HostLost } from './graph-process.errors';
import {
  type ExecuteRequest,
  type FromProcess,
  type GraphCall,
  type GraphCalls,
  type GraphOutcome,
  isFromProcess,
  type LoadedGraphs,
  type RunEventMessage,
  type ProcessData,
  type ToProcess,
} from './protocol';
import { writeUserLog } from './user-log';
import { GraphProcessMemory } from './graph-process-memory';
import { GraphProcessPulse } from './graph-process-pulse';
import type { GraphRuntime } from './graph-runtime';
import { GraphsUnavailable } from './graphs-unavailable';
import { lowerPriority } from './process-priority';
import { sendAnswer } from './send-answer';
import type { StoreOperations, StoreQuestion } from './store-operations';
import { answerStoreQuestion, type Asker } from './store-questions';
import { UnwrittenEvents } from './unwritten-events';
import type { Confinement } from './user-code-process';
import { atMost, LATE } from '../../time/at-most';

/** Events that are acknowledged together: the process waits only when many times as many are unacknowledged. */
const ACKNOWLEDGED_AT_ONCE = 250;
/** Characters of a node's name, which goes with heartbeats. */
const MAX_NODE = 1_000;
/**
 * Time for a run that was aborted to end: as long as code of a node may well take to give back what it has. Beyond it the run ends
 * without its code, since it has a slot of the worker until then.
 */
const ABORT_GRACE_MS = 10_000;
/** Time in which a process that doesn't block sends a pulse after a pause of the whole machine or container, and the pulse is read. */
const PULSE_AFTER_PAUSE_MS = 2_000;
/** Outcome of a run whose code was not waited for. */
const LEFT_RUNNING: GraphOutcome = { status: 'aborted', inDoubt: true };

export interface GraphProcessOptions {
  runtime: GraphRuntime;
  confinement: Confinement;
  /** Known once the database has answered. */
  data: Promise<ProcessData>;
  /** Performs store operations for graphs that don't reach the store themselves. */
  store: StoreOperations;
}

/** One graph process, seen from the pool. */
export class GraphProcess {
  readonly ready: Promise<LoadedGraphs>;
  readonly ended: Promise<void>;
  readonly memory = new GraphProcessMemory();
  readonly pulse = new GraphProcessPulse();
  private readonly store: StoreOperations;
  private readonly logger = new Logger(GraphProcess.name);
  private readonly userLog = new Logger('Graph');
  private readonly child: ChildProcess;
  private messages!: MessageChannel;
  private readonly executions = new Map<number, Execution>();
  private readonly calls = new Map<number, Call>();
  /** Withdrawn executions whose offer the process hasn't read yet. */
  private readonly unanswered = new Set<number>();
  private readonly unwritten: UnwrittenEvents;
  private nextId = 1;
  private lastUse = performance.now();
  private loadMs = 0;
  private dead = false;

  /** @param onAwake called when the process answers again after a silence, so that it can take work */
  constructor({ runtime, confinement, data, store }: GraphProcessOptions, onAwake: () => void) {
    const { child, messages } = runtime.start(confinement);
    this.child = child;
    this.store = store;
    this.ready = new Promise((resolve, reject) => {
      const take = (message: unknown, bytes: number): void => {
        if (!isFromProcess(message, bytes)) throw new CorruptMessage('a shape that no graph process sends');
        const wasSilent = !this.responsive;
        // Data on the channel doesn't prove it: code that blocks the event loop may write it.
        if (message.type === 'ready') this.pulse.beat(0);
        if (message.type === 'pulse') this.pulse.beat(message.busyShare);
        if (message.type === 'accept') this.unanswered.delete(message.id);
        if (wasSilent && this.responsive) onAwake();
        if (message.type === 'ready') {
          this.loadMs = performance.now() - this.lastUse;
          this.lastUse = performance.now();
          resolve(message);
        } else if (message.type === 'unusable') reject(new Error(message.message));
        else this.receive(message);
      };
      const fail = (error: CorruptMessage): void =>
        this.logger.error(
          { err: error, pid: child.pid },
          'User code wrote to the channel of its process, which is ended',
        );
      this.messages = new MessageChannel(messages, take, fail, {
        awaitsReader: true,
        codec: runtime.codec,
        maxBytes: confinement.messageLimitBytes,
      });
      child.once('exit', (code, signal) => {
        const why = `the graph process ended with ${signal ?? `code ${code}`} while it loaded`;
        // A signal comes from outside: the next process may load.
        reject(signal ? new Error(why) : new GraphsUnavailable(why, runtime));
      });
      child.once('error', (error) => reject(new GraphsUnavailable(error.message, runtime)));
      data.then((given) => this.send(given), reject);
    });
    this.unwritten = new UnwrittenEvents(this.messages);
    // A process without a working channel is useless, whether it closed the channel or wrote invalid bytes.
    messages.once('close', () => child.kill('SIGKILL'));
    child.on('error', (error) => this.logger.error({ err: error }, 'A graph process failed'));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.fail();
        resolve();
      };
      child.once('exit', end);
      // A process that could not be started has no exit event.
      child.once('error', () => child.pid === undefined && end());
    });
  }

  /** Lets other processes of this machine go first where all processors are busy. */
  lowerPriority(): void {
    lowerPriority(this.child, this.logger);
  }

  /** Runs and calls in flight in this process. */
  get load(): number {
    return this.executions.size + this.calls.size;
  }

  /** Runs and calls of a tenant in flight in this process. */
  loadOf(tenantId: string): number {
    return this.tenants().filter((each) => each === tenantId).length;
  }

  get responsive(): boolean {
    return !this.dead && this.unanswered.size === 0 && this.pulse.isRegular(this.load === 0);
  }

  /** Time since which code of work that is over seems to block its event loop; it does if that is the same at a later look. */
  get stuckSince(): number | undefined {
    return this.load === 0 ? this.pulse.silentSince(ABORT_GRACE_MS) : undefined;
  }

  /** Time without work, as a multiple of the time that the process took to load the graphs. */
  get idleness(): number {
    return this.load > 0 ? 0 : (performance.now() - this.lastUse) / Math.max(this.loadMs, 1);
  }

  execute(
    request: ExecuteRequest,
    { signal, handBack, onEvents, onNode }: Omit<ExecuteOptions, 'onAlone'>,
  ): StartedExecution {
    const id = this.take();
    let grace: NodeJS.Timeout | undefined;
    const abort = (): void => {
      this.send({ type: 'abort', id, reason: String(signal.reason ?? 'cancelled') });
      grace = setTimeout(() => this.giveUp(id), ABORT_GRACE_MS).unref();
    };
    const requestHandBack = (): void => this.send({ type: 'hand-back', id });
    let outcome!: Promise<GraphOutcome>;
    const accepted = new Promise<void>((onAccepted) => {
      outcome = new Promise<GraphOutcome>((resolve, reject) => {
        this.executions.set(id, { request, signal, resolve, reject, onEvents, onNode, onAccepted, logged: 0 });
      }).finally(() => {
        clearTimeout(grace);
        signal.removeEventListener('abort', abort);
        handBack.removeEventListener('abort', requestHandBack);
        onAccepted();
      });
    });
    // The outcome of a withdrawn execution is not awaited.
    outcome.catch(() => undefined);
    this.send({ type: 'offer', id, request });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    if (handBack.aborted) requestHandBack();
    else handBack.addEventListener('abort', requestHandBack);
    if (this.dead) this.fail();
    return { begun: (timeoutMs) => this.begun(id, accepted, timeoutMs), outcome };
  }

  call<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    const id = this.take();
    return new Promise<string>((resolve, reject) => {
      this.calls.set(id, { tenantId: args.tenantId, resolve, reject });
      this.send({ type: 'call', id, name, args });
      if (this.dead) this.fail();
    });
  }

  async terminate(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** @param settled resolves when the execution is accepted, or over */
  private async begun(id: number, settled: Promise<void>, timeoutMs: number): Promise<boolean> {
    const first = await atMost(timeoutMs, settled);
    const execution = this.executions.get(id);
    if (first !== LATE || !execution || execution.hasBegun) return true;
    this.withdraw(id);
    execution.reject(new ExecutionBroken('The graph process did not begin'));
    return false;
  }

  private withdraw(id: number): void {
    this.send({ type: 'withdraw', id });
    this.unanswered.add(id);
    this.executions.delete(id);
  }

  /**
   * Ends an aborted execution that its graph has not ended in time. Code that holds the event loop ends only with the process;
   * other code continues, but what it still sends belongs to no execution, and what it stores is refused once the run has ended.
   * @param silentBefore time since which the process was silent at the previous look
   */
  private giveUp(id: number, silentBefore?: number): void {
    const execution = this.executions.get(id);
    if (!execution) return;
    const fields = { run_id: execution.request.runId, pid: this.child.pid };
    const silent = execution.hasBegun ? this.pulse.silentSince(ABORT_GRACE_MS) : undefined;
    if (silent !== undefined) {
      if (silent !== silentBefore) return void setTimeout(() => this.giveUp(id, silent), PULSE_AFTER_PAUSE_MS).unref();
      // Another aborted run in it may have been as late.
      if (this.child.killed) return;
      this.logger.error(fields, 'A graph process is ended: its code blocks it, and a run in it is aborted');
      return void this.terminate();
    }
    this.logger.warn(fields, 'The code of a run did not end when the run was aborted');
    if (!execution.hasBegun) this.withdraw(id);
    this.executions.delete(id);
    execution.resolve(LEFT_RUNNING);
  }

  /** Executions that were withdrawn meanwhile aren't granted. */
  private grant(id: number): void {
    const execution = this.executions.get(id);
    if (!execution) return;
    execution.hasBegun = true;
    this.send({ type: 'begin', id });
    execution.onAccepted();
  }

  private take(): number {
    this.lastUse = performance.now();
    this.pulse.gotWork(this.load === 0);
    this.nextId += 1;
    return this.nextId;
  }

  private readonly send = (message: ToProcess | ProcessData): void => {
    // `fail` handles messages that don't reach a process that has ended.
    this.messages.send(message);
  };

  private receive(message: Exclude<FromProcess, { type: 'ready' | 'unusable' }>): void {
    switch (message.type) {
      case 'pulse':
        return this.memory.measured(message.residentMb);
      case 'accept':
        return this.grant(message.id);
      case 'stray':
        this.logger.error({ error: message.message }, 'Graph code threw outside of a run');
        return;
      case 'log':
        return writeUserLog(this.userLog, message);
      case 'events':
        return this.deliver(message.id, message.events);
      case 'node':
        this.executions.get(message.id)?.onNode(message.node.slice(0, MAX_NODE));
        return;
      case 'outcome':
        this.executions.get(message.id)?.resolve(message.outcome);
        this.executions.delete(message.id);
        return;
      case 'broken':
        this.executions.get(message.id)?.reject(new ExecutionBroken(message.message));
        this.executions.delete(message.id);
        return;
      case 'store':
        return void sendAnswer(this.send, answerStoreQuestion(this.store, message, this.askerOf(message)));
      case 'cipher':
        return void sendAnswer(this.send, answerCipherQuestion(message));
      case 'result':
        this.calls.get(message.id)?.resolve(message.value);
        this.calls.delete(message.id);
        return;
      case 'refused':
        this.calls.get(message.id)?.reject(new GraphCallRefused(message.message, message.errorName));
        this.calls.delete(message.id);
        return;
    }
  }

  /** A process may name a run that it executes, or the tenant of its work in flight. */
  private askerOf({ execution, tenantId }: StoreQuestion): Asker {
    const run = execution === undefined ? undefined : this.executions.get(execution)?.request;
    return { run, tenantId: run?.tenantId ?? this.tenants().find((each) => each === tenantId) };
  }

  /** Tenants of the runs and calls in flight, once for each of these. */
  private tenants(): string[] {
    const executing = [...this.executions.values()].map(({ request }) => request.tenantId);
    return [...executing, ...[...this.calls.values()].map(({ tenantId }) => tenantId)];
  }

  private deliver(id: number, events: RunEventMessage[]): void {
    const execution = this.executions.get(id);
    if (!execution) return;
    this.unwritten.untilWritten(events, execution.onEvents).then(
      () => {
        execution.logged += events.length;
        if (execution.logged < ACKNOWLEDGED_AT_ONCE) return;
        this.send({ type: 'ack', id, count: execution.logged });
        execution.logged = 0;
      },
      (error: Error) => {
        // The log refused the events: this attempt is over, and its graph must stop.
        this.executions.delete(id);
        this.send({ type: 'abort', id, reason: error.message });
        execution.reject(error);
      },
    );
  }

  /** Ends all work, since the process has ended; work that comes later is ended by another call. */
  private fail(): void {
    this.dead = true;
    const error = new HostLost();
    for (const { signal, resolve, reject } of this.executions.values()) {
      // An aborted run isn't repeated, so that the loss is nothing against it.
      if (signal.aborted) resolve(LEFT_RUNNING);
      else reject(error);
    }
    for (const call of this.calls.values()) call.reject(error);
    this.executions.clear();
    this.calls.clear();
  }
}
