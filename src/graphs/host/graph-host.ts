import { Logger } from '@nestjs/common';
import { ConfigError } from '../../config/config';
import { ExecutionBroken, type ExecuteOptions, GraphThread } from './graph-thread-handle';
import type { ExecuteRequest, GraphCall, GraphCalls, GraphOutcome, ThreadData } from './protocol';
import { SuspectSlots } from './suspect-slots';

export interface GraphHostOptions {
  threads: { min: number; max: number };
  data: ThreadData;
  env: Record<string, string>;
}

/** A thread that began nothing for this long is blocked by its user code: what was given to it goes elsewhere. */
const BEGIN_TIMEOUT_MS = 250;
/** A thread above the minimum that had nothing to do for this long is ended. */
const IDLE_MS = 5 * 60_000;

const stopping = (): ExecutionBroken => new ExecutionBroken('The process is about to stop');

interface Waiting {
  resolve: (thread: GraphThread) => void;
  reject: (error: Error) => void;
}

/**
 * The pool of threads in which graphs run.
 *
 * 1. A run has a thread of its own as long as there are fewer runs than the maximum of threads; beyond that, runs share
 *    the thread that has the fewest. A node that blocks its event loop then delays at most the runs of its own thread.
 * 2. A thread that doesn't answer gets no work, and work that it hasn't begun is taken back from it.
 * 3. One idle thread is kept in reserve while there may be more.
 * 4. A thread that dies fails its runs as broken: their next attempt goes on at their checkpoints, each in a thread of its own, so
 *    that the one that ends its thread does it to no other.
 */
export class GraphHost {
  private readonly logger = new Logger(GraphHost.name);
  private readonly threads = new Set<GraphThread>();
  private readonly waiting: Waiting[] = [];
  private problems: Record<string, string> = {};
  /** Threads that one run has to itself. */
  private readonly alone = new Set<GraphThread>();
  private readonly suspects: SuspectSlots;
  /** Threads that load the graphs and take no work yet. */
  private readonly loading = new Set<GraphThread>();
  private closed = false;
  private started: Promise<void> | undefined;
  private readonly shrink: NodeJS.Timeout;

  constructor(private readonly options: GraphHostOptions) {
    this.suspects = new SuspectSlots(options.threads.max);
    this.shrink = setInterval(() => this.endIdleThreads(), IDLE_MS / 5);
    this.shrink.unref();
  }

  /**
   * Brings up the first threads. A graph that fails to load is said to and left out.
   * @throws {ConfigError} naming each graph, when none can be served.
   */
  start(): Promise<void> {
    this.started ??= this.bringUp();
    return this.started;
  }

  private async bringUp(): Promise<void> {
    await Promise.all(Array.from({ length: this.options.threads.min }, () => this.spawn()));
    const problems = Object.entries(this.problems).map(([graphId, problem]) => `graphs.${graphId}: ${problem}`);
    for (const problem of problems) this.logger.error(`A graph can't be served: ${problem}`);
    if (problems.length === this.options.data.graphs.length) throw new ConfigError(problems);
  }

  /** Why a graph can't be served; undefined when it can. */
  async problemOf(graphId: string): Promise<string | undefined> {
    await this.begun();
    return this.problems[graphId];
  }

  /** Runs a graph to its end. Rejects with ExecutionBroken when the thread or the database failed, not the graph. */
  execute(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    return options.onAlone
      ? this.executeAlone(request, options, options.onAlone)
      : this.executeInCompany(request, options);
  }

  private async executeInCompany(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    for (;;) {
      const thread = await this.acquire();
      this.keepReserve();
      const execution = thread.execute(request, options);
      if (await execution.begun(BEGIN_TIMEOUT_MS)) {
        return execution.outcome.finally(() => this.dispatch());
      }
      this.logger.warn({ run_id: request.runId }, 'A graph thread is blocked by its code; its next run goes elsewhere');
    }
  }

  /** A thread that is started for this run and ended after it: nothing else can end it. */
  private async executeAlone(
    request: ExecuteRequest,
    options: ExecuteOptions,
    onAlone: () => Promise<void>,
  ): Promise<GraphOutcome> {
    const { signal, handBack } = options;
    const release = await this.suspects.take(request.tenantId, AbortSignal.any([signal, handBack]));
    try {
      if (this.closed || handBack.aborted) throw stopping();
      return await this.inThreadOfItsOwn(async (thread) => {
        await onAlone();
        return thread.execute(request, options).outcome;
      });
    } finally {
      release();
    }
  }

  private async inThreadOfItsOwn<T>(use: (thread: GraphThread) => Promise<T>): Promise<T> {
    const thread = new GraphThread(this.options.data, this.options.env, () => undefined);
    this.alone.add(thread);
    try {
      await thread.ready;
      return await use(thread);
    } finally {
      this.alone.delete(thread);
      await thread.terminate();
    }
  }

  /** Asks the graph's code something. Resolves to JSON text; rejects with GraphCallRefused with the code's own error. */
  async call<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    await this.begun();
    const thread = await this.acquire();
    return thread.call(name, args).finally(() => this.dispatch());
  }

  /** The threads by what they are at; a blocked one is busy with one piece of code and answers nothing. */
  census(): Record<'idle' | 'busy' | 'blocked', number> {
    const census = { idle: 0, busy: 0, blocked: 0 };
    for (const thread of [...this.threads, ...this.alone]) {
      census[!thread.responsive ? 'blocked' : thread.load === 0 ? 'idle' : 'busy'] += 1;
    }
    return census;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.shrink);
    for (const { reject } of this.waiting.splice(0)) reject(stopping());
    await Promise.all([...this.threads, ...this.loading, ...this.alone].map((thread) => thread.terminate()));
  }

  /** Loads the graphs if nothing else has. What is wrong with them is told by who starts the pool. */
  private async begun(): Promise<void> {
    await this.start().catch(() => undefined);
  }

  private acquire(): Promise<GraphThread> {
    if (this.closed) return Promise.reject(stopping());
    const thread = this.pick();
    if (thread) return Promise.resolve(thread);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      if (this.loading.size < this.waiting.length) {
        this.spawn().catch((error: Error) => this.waiting.shift()?.reject(error));
      }
    });
  }

  /** The next run should find a thread that is up already: starting one takes a second or more. */
  private keepReserve(): void {
    const idle = [...this.threads].filter((thread) => thread.responsive && thread.load === 0).length;
    // The one that was just picked still counts as idle here.
    if (idle > 1 || this.loading.size > 0 || this.threads.size >= this.options.threads.max) return;
    this.spawn().catch((error: unknown) => this.logger.error({ err: error }, 'A graph thread could not be started'));
  }

  /** A thread to use now, or none when it is better to wait for a new one. */
  private pick(): GraphThread | undefined {
    const responsive = [...this.threads].filter((thread) => thread.responsive);
    const idle = responsive.find((thread) => thread.load === 0);
    if (idle) return idle;
    // A blocked thread doesn't count against the maximum, or a few of them would stop the whole worker.
    if (responsive.length + this.loading.size < this.options.threads.max) return undefined;
    return responsive.reduce<GraphThread | undefined>(
      (least, thread) => (least && least.load <= thread.load ? least : thread),
      undefined,
    );
  }

  private dispatch(): void {
    while (this.waiting.length > 0) {
      const thread = this.pick();
      if (!thread) return;
      this.waiting.shift()!.resolve(thread);
    }
  }

  private async spawn(): Promise<void> {
    const thread = new GraphThread(this.options.data, this.options.env, () => this.dispatch());
    this.loading.add(thread);
    try {
      this.problems = await thread.ready;
      if (this.closed) return;
      this.threads.add(thread);
      void thread.ended.then(() => this.onEnded(thread));
    } catch (error) {
      // A thread that was ended by `close` has nothing to say.
      if (!this.closed) throw error;
    } finally {
      this.loading.delete(thread);
    }
    this.dispatch();
  }

  private onEnded(thread: GraphThread): void {
    this.threads.delete(thread);
    if (this.closed || this.threads.size + this.loading.size >= this.options.threads.min) return;
    this.logger.warn('A graph thread ended; a new one takes its place');
    this.spawn().catch((error: unknown) => this.logger.error({ err: error }, 'A graph thread could not be started'));
  }

  private endIdleThreads(): void {
    for (const thread of this.threads) {
      if (this.threads.size <= this.options.threads.min) return;
      if (thread.load === 0 && thread.idleMs > IDLE_MS) {
        this.threads.delete(thread);
        void thread.terminate();
      }
    }
  }
}
