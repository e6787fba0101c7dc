import { Logger } from '@nestjs/common';
import { ConfigError } from '../../config/config-error';
import { ExecutionBroken, type ExecuteOptions, GraphProcess } from './graph-process-handle';
import type { ExecuteRequest, GraphCall, GraphCalls, GraphOutcome, ProcessData } from './protocol';
import { RecentProcesses } from './recent-processes';
import { SuspectSlots } from './suspect-slots';
import type { Confinement } from './user-code-process';

export interface GraphHostOptions {
  processes: { min: number; max: number };
  /** Known once the database has answered. */
  data: Promise<ProcessData>;
  confinement: Confinement;
}

/** A process that began nothing for this long is blocked by its user code: what was given to it goes elsewhere. */
const BEGIN_TIMEOUT_MS = 250;
/** A process above the minimum that had nothing to do for this long is ended. */
const IDLE_MS = 5 * 60_000;

const stopping = (): ExecutionBroken => new ExecutionBroken('The process is about to stop');

interface Waiting {
  resolve: (process: GraphProcess) => void;
  reject: (error: Error) => void;
}

/**
 * The pool of processes in which graphs run.
 *
 * 1. A run has a process of its own as long as there are fewer runs than the maximum of processes; beyond that, runs share
 *    the process that has the fewest. A node that blocks its event loop then delays at most the runs of its own process.
 * 2. A process that doesn't answer gets no work, and work that it hasn't begun is taken back from it.
 * 3. One idle process is kept in reserve while there may be more.
 * 4. A run goes to the process in which its thread ran last when that one is idle. The runs of a graph that asks for one
 *    process (`"threads": 1`) all go to the same one, also when it is busy or blocked.
 * 5. A process that dies fails its runs as broken: their next attempt resumes from their checkpoints, each in a process of its own, so
 *    that the one that ends its process does it to no other.
 */
export class GraphHost {
  private readonly logger = new Logger(GraphHost.name);
  private readonly processes = new Set<GraphProcess>();
  private readonly waiting: Waiting[] = [];
  private problems: Record<string, string> = {};
  /** Processes that one run has to itself. */
  private readonly alone = new Set<GraphProcess>();
  private readonly recent = new RecentProcesses<GraphProcess>();
  /** The process of each graph that asks for one. */
  private readonly homes = new Map<string, Promise<GraphProcess>>();
  private readonly suspects: SuspectSlots;
  /** Processes that load the graphs and take no work yet. */
  private readonly loading = new Set<GraphProcess>();
  private closed = false;
  private started: Promise<void> | undefined;
  private readonly shrink: NodeJS.Timeout;

  constructor(private readonly options: GraphHostOptions) {
    // Each process that waits for it reports why it failed; there may be none yet.
    options.data.catch(() => undefined);
    this.suspects = new SuspectSlots(options.processes.max);
    this.shrink = setInterval(() => void this.endIdleProcesses(), IDLE_MS / 5);
    this.shrink.unref();
  }

  /**
   * Brings up the first processes. A graph that fails to load is said to and left out.
   * @throws {ConfigError} naming each graph, when none can be served.
   */
  start(): Promise<void> {
    this.started ??= this.bringUp();
    return this.started;
  }

  private async bringUp(): Promise<void> {
    await Promise.all(Array.from({ length: this.options.processes.min }, () => this.spawn()));
    const problems = Object.entries(this.problems).map(([graphId, problem]) => `graphs.${graphId}: ${problem}`);
    for (const problem of problems) this.logger.error(`A graph can't be served: ${problem}`);
    if (problems.length === (await this.options.data).graphs.length) throw new ConfigError(problems);
  }

  /** Why a graph can't be served; undefined when it can. */
  async problemOf(graphId: string): Promise<string | undefined> {
    await this.begun();
    return this.problems[graphId];
  }

  /** Runs a graph to its end. Rejects with ExecutionBroken when the process or the database failed, not the graph. */
  async execute(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    if (options.onAlone) return this.executeAlone(request, options, options.onAlone);
    const { graphs } = await this.options.data;
    const hasHome = graphs.some(({ graphId, threads }) => graphId === request.graphId && threads === 1);
    return hasHome ? this.executeAtHome(request, options) : this.executeInCompany(request, options);
  }

  private async executeAtHome(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    const process = await this.homeOf(request.graphId);
    this.keepReserve();
    return process.execute(request, options).outcome.finally(() => this.dispatch());
  }

  /** The process in which all runs of a graph are; another one only when it has ended. */
  private homeOf(graphId: string): Promise<GraphProcess> {
    const known = this.homes.get(graphId);
    if (known) return known;
    const home = this.acquire();
    this.homes.set(graphId, home);
    home
      .then((process) => process.ended)
      .finally(() => this.homes.delete(graphId))
      .catch(() => undefined);
    return home;
  }

  private async executeInCompany(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    for (;;) {
      const process = await this.acquire(this.recent.of(request));
      this.keepReserve();
      const execution = process.execute(request, options);
      if (await execution.begun(BEGIN_TIMEOUT_MS)) {
        this.recent.remember(request, process);
        return execution.outcome.finally(() => this.dispatch());
      }
      this.logger.warn(
        { run_id: request.runId },
        'A graph process is blocked by its code; its next run goes elsewhere',
      );
    }
  }

  /** A process that is started for this run and ended after it: nothing else can end it. */
  private async executeAlone(
    request: ExecuteRequest,
    options: ExecuteOptions,
    onAlone: () => Promise<void>,
  ): Promise<GraphOutcome> {
    const { signal, handBack } = options;
    const release = await this.suspects.take(request.tenantId, AbortSignal.any([signal, handBack]));
    try {
      if (this.closed || handBack.aborted) throw stopping();
      return await this.inProcessOfItsOwn(async (process) => {
        await onAlone();
        return process.execute(request, options).outcome;
      });
    } finally {
      release();
    }
  }

  private async inProcessOfItsOwn<T>(use: (process: GraphProcess) => Promise<T>): Promise<T> {
    const process = new GraphProcess(this.options.data, this.options.confinement, () => undefined);
    this.alone.add(process);
    try {
      await process.ready;
      return await use(process);
    } finally {
      this.alone.delete(process);
      await process.terminate();
    }
  }

  /** Asks the graph's code something. Resolves to JSON text; rejects with GraphCallRefused with the code's own error. */
  async call<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    await this.begun();
    const process = await this.acquire();
    return process.call(name, args).finally(() => this.dispatch());
  }

  /** The processes by what they are at; a blocked one is busy with one piece of code and answers nothing. */
  census(): Record<'idle' | 'busy' | 'blocked', number> {
    const census = { idle: 0, busy: 0, blocked: 0 };
    for (const process of [...this.processes, ...this.alone]) {
      census[!process.responsive ? 'blocked' : process.load === 0 ? 'idle' : 'busy'] += 1;
    }
    return census;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.shrink);
    for (const { reject } of this.waiting.splice(0)) reject(stopping());
    await Promise.all([...this.processes, ...this.loading, ...this.alone].map((process) => process.terminate()));
  }

  /** Loads the graphs if nothing else has. The process that starts the pool reports what is wrong with them. */
  private async begun(): Promise<void> {
    await this.start().catch(() => undefined);
  }

  /** @param preferred where it is idle */
  private acquire(preferred?: GraphProcess): Promise<GraphProcess> {
    if (this.closed) return Promise.reject(stopping());
    const process = this.pick(preferred);
    if (process) return Promise.resolve(process);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      if (this.loading.size < this.waiting.length) {
        this.spawn().catch((error: Error) => this.waiting.shift()?.reject(error));
      }
    });
  }

  /** The next run should find a process that is up already: starting one takes a second or more. */
  private keepReserve(): void {
    const idle = [...this.processes].filter((process) => process.responsive && process.load === 0).length;
    // The one that was just picked still counts as idle here.
    if (idle > 1 || this.loading.size > 0 || this.processes.size >= this.options.processes.max) return;
    this.spawn().catch((error: unknown) => this.logger.error({ err: error }, 'A graph process could not be started'));
  }

  /** A process to use now, or none when it is better to wait for a new one. */
  private pick(preferred?: GraphProcess): GraphProcess | undefined {
    const responsive = [...this.processes].filter((process) => process.responsive);
    const idle = responsive.filter((process) => process.load === 0);
    if (idle.length > 0) return idle.find((process) => process === preferred) ?? idle[0];
    // A blocked process doesn't count against the maximum, or a few of them would stop the whole worker.
    if (responsive.length + this.loading.size < this.options.processes.max) return undefined;
    return responsive.reduce<GraphProcess | undefined>(
      (least, process) => (least && least.load <= process.load ? least : process),
      undefined,
    );
  }

  private dispatch(): void {
    while (this.waiting.length > 0) {
      const process = this.pick();
      if (!process) return;
      this.waiting.shift()!.resolve(process);
    }
  }

  private async spawn(): Promise<void> {
    const process = new GraphProcess(this.options.data, this.options.confinement, () => this.dispatch());
    this.loading.add(process);
    try {
      this.problems = await process.ready;
      if (this.closed) return;
      this.processes.add(process);
      void process.ended.then(() => this.onEnded(process));
    } catch (error) {
      // A process that was ended by `close` has nothing to say.
      if (!this.closed) throw error;
    } finally {
      this.loading.delete(process);
    }
    this.dispatch();
  }

  private onEnded(process: GraphProcess): void {
    this.processes.delete(process);
    this.recent.forget(process);
    if (this.closed || this.processes.size + this.loading.size >= this.options.processes.min) return;
    this.logger.warn('A graph process ended; a new one takes its place');
    this.spawn().catch((error: unknown) => this.logger.error({ err: error }, 'A graph process could not be started'));
  }

  /** What a graph keeps in the memory of its one process stays there. */
  private async endIdleProcesses(): Promise<void> {
    const homes = new Set(await Promise.all([...this.homes.values()].map((home) => home.catch(() => undefined))));
    for (const process of this.processes) {
      if (this.processes.size <= this.options.processes.min) return;
      if (process.load === 0 && process.idleMs > IDLE_MS && !homes.has(process)) {
        this.processes.delete(process);
        void process.terminate();
      }
    }
  }
}
