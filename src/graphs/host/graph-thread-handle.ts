import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import {
  CLAIM,
  type ExecuteRequest,
  type FromThread,
  type GraphCall,
  type GraphCalls,
  type GraphOutcome,
  type RunEventMessage,
  type ThreadData,
  type ToThread,
} from './protocol';
import { writeUserLog } from './sdk-logger';
import { startUserCodeThread } from './user-code-thread';

const THREAD_FILE = join(__dirname, 'graph-thread');

/** A thread that sent no pulse for this long (it sends ten a second) is busy with one piece of code. */
const SILENCE_MS = 400;

/**
 * LangChain calls its listeners from a queue of the whole thread, and LangGraph's own stream of tokens is one of them: behind
 * a slow listener tokens would come after the end of their node, or be lost with the stream's. Awaited, they come in order.
 */
const AWAITED_CALLBACKS = { LANGCHAIN_CALLBACKS_BACKGROUND: 'false' };

/** The attempt failed, not the graph: it can be repeated, and does nothing when another worker has the run. */
export class ExecutionBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ExecutionBroken';
  }
}

/** The host of the attempt ended under it: what ran in it is the cause, this run or one beside it. */
export class HostLost extends ExecutionBroken {
  constructor() {
    super('The graph thread ended before the run did');
    this.name = 'HostLost';
  }
}

/** The graph's code refused a call: an unknown node, values that don't fit the state. */
export class GraphCallRefused extends Error {
  constructor(
    message: string,
    readonly errorName: string,
  ) {
    super(message);
    this.name = 'GraphCallRefused';
  }
}

export interface ExecuteOptions {
  /** Of a run that needs a thread of its own, with nothing before or beside it: called when it has one, before it begins. */
  onAlone?: () => Promise<void>;
  signal: AbortSignal;
  /** Aborted when the run is to stop behind its next checkpoint, for another worker to go on. */
  handBack: AbortSignal;
  /** Called with each batch of events; the run is held back while the promises of many batches are open. */
  onEvents: (events: RunEventMessage[]) => Promise<void>;
  /** Called with each node that begins. */
  onNode: (node: string) => void;
}

interface Execution extends Pick<ExecuteOptions, 'onEvents' | 'onNode'> {
  resolve: (outcome: GraphOutcome) => void;
  reject: (error: Error) => void;
}

interface Call {
  resolve: (value: string) => void;
  reject: (error: Error) => void;
}

export interface StartedExecution {
  /** Whether the thread began within the time. If not, the work is withdrawn and can be given to another thread. */
  begun(timeoutMs: number): Promise<boolean>;
  outcome: Promise<GraphOutcome>;
}

/** One graph thread, seen from the pool. */
export class GraphThread {
  /** Resolves to the graphs that it can't serve, and why. */
  readonly ready: Promise<Record<string, string>>;
  readonly ended: Promise<void>;
  private readonly logger = new Logger(GraphThread.name);
  private readonly userLog = new Logger('Graph');
  private readonly worker: Worker;
  private readonly executions = new Map<number, Execution>();
  private readonly calls = new Map<number, Call>();
  private nextId = 1;
  private lastPulse = Date.now();
  private lastUse = Date.now();
  private dead = false;

  /** @param onAwake called when the thread answers again after a silence: it can take work. */
  constructor(data: ThreadData, env: Record<string, string>, onAwake: () => void) {
    this.worker = startUserCodeThread(THREAD_FILE, data, { ...AWAITED_CALLBACKS, ...env });
    this.ready = new Promise((resolve, reject) => {
      this.worker.on('message', (message: FromThread) => {
        const wasSilent = !this.responsive;
        this.lastPulse = Date.now();
        if (wasSilent) onAwake();
        if (message.type === 'ready') resolve(message.problems);
        else if (message.type === 'unusable') reject(new Error(message.message));
        else this.receive(message);
      });
      this.worker.once('exit', (code: number) =>
        reject(new Error(`The graph thread ended with code ${code} while it loaded`)),
      );
    });
    this.worker.on('error', (error: unknown) => this.logger.error({ err: error }, 'A graph thread failed'));
    this.ended = new Promise((resolve) => {
      this.worker.once('exit', () => {
        this.fail();
        resolve();
      });
    });
  }

  /** Runs and calls that are on their way in this thread. */
  get load(): number {
    return this.executions.size + this.calls.size;
  }

  get responsive(): boolean {
    return !this.dead && Date.now() - this.lastPulse < SILENCE_MS;
  }

  get idleMs(): number {
    return Date.now() - this.lastUse;
  }

  execute(
    request: ExecuteRequest,
    { signal, handBack, onEvents, onNode }: Omit<ExecuteOptions, 'onAlone'>,
  ): StartedExecution {
    const id = this.take();
    const claim = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const abort = (): void => this.send({ type: 'abort', id, reason: String(signal.reason ?? 'cancelled') });
    const giveAway = (): void => this.send({ type: 'hand-back', id });
    const outcome = new Promise<GraphOutcome>((resolve, reject) => {
      this.executions.set(id, { resolve, reject, onEvents, onNode });
    }).finally(() => {
      signal.removeEventListener('abort', abort);
      handBack.removeEventListener('abort', giveAway);
    });
    // A withdrawn execution has no reader of its outcome.
    outcome.catch(() => undefined);
    this.send({ type: 'execute', id, request, claim });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    handBack.addEventListener('abort', giveAway);
    return { begun: (timeoutMs) => this.begun(id, claim, timeoutMs), outcome };
  }

  call<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    const id = this.take();
    return new Promise<string>((resolve, reject) => {
      this.calls.set(id, { resolve, reject });
      this.send({ type: 'call', id, name, args });
    });
  }

  async terminate(): Promise<void> {
    await this.worker.terminate();
  }

  private async begun(id: number, claim: Int32Array, timeoutMs: number): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    for (let pauseMs = 1; Atomics.load(claim, 0) === CLAIM.open && this.executions.has(id); pauseMs *= 2) {
      if (Date.now() >= deadline) {
        if (Atomics.compareExchange(claim, 0, CLAIM.open, CLAIM.withdrawn) !== CLAIM.open) return true;
        this.executions.get(id)?.reject(new ExecutionBroken('The thread did not begin'));
        this.executions.delete(id);
        return false;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return true;
  }

  private take(): number {
    this.lastUse = Date.now();
    this.nextId += 1;
    return this.nextId;
  }

  private send(message: ToThread): void {
    this.worker.postMessage(message);
  }

  private receive(message: Exclude<FromThread, { type: 'ready' | 'unusable' }>): void {
    switch (message.type) {
      case 'pulse':
        return;
      case 'stray':
        this.logger.error({ error: message.message }, 'Graph code threw outside of a run');
        return;
      case 'log':
        return writeUserLog(this.userLog, message);
      case 'events':
        return this.deliver(message.id, message.events);
      case 'node':
        this.executions.get(message.id)?.onNode(message.node);
        return;
      case 'outcome':
        this.executions.get(message.id)?.resolve(message.outcome);
        this.executions.delete(message.id);
        return;
      case 'broken':
        this.executions.get(message.id)?.reject(new ExecutionBroken(message.message));
        this.executions.delete(message.id);
        return;
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

  private deliver(id: number, events: RunEventMessage[]): void {
    const execution = this.executions.get(id);
    if (!execution) return;
    execution.onEvents(events).then(
      () => this.send({ type: 'ack', id, count: events.length }),
      (error: Error) => {
        // The log refused the events: this attempt is over, and its graph must stop.
        this.executions.delete(id);
        this.send({ type: 'abort', id, reason: error.message });
        execution.reject(error);
      },
    );
  }

  private fail(): void {
    this.dead = true;
    const error = new HostLost();
    for (const execution of this.executions.values()) execution.reject(error);
    for (const call of this.calls.values()) call.reject(error);
    this.executions.clear();
    this.calls.clear();
  }
}
