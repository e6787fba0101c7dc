import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { TenantTokens } from '../../database/tenant-token';
import { unlessAborted } from './aborted';
import type { ExecuteOptions } from './execution';
import { MAX_LOADS, pauseAfter } from './graph-loads';
import { GraphProcess } from './graph-process-handle';
import { stopping } from './graph-process.errors';
import type { ExecuteRequest, GraphCall, GraphCalls, GraphOutcome, ProcessData } from './protocol';
import { ProcessPool } from './process-pool';
import type { GraphRuntime } from './graph-runtime';
import { RecentProcesses } from './recent-processes';
import type { StoreOperations } from './store-operations';
import { SuspectSlots } from './suspect-slots';
import type { Confinement } from './user-code-process';

export interface GraphHostOptions {
  processes: { min: number; max: number };
  /** Whether a process serves one tenant for as long as it lives. */
  perTenant: boolean;
  /** Whether one process more is kept for tenants with little work, once there are several tenants. */
  reservesForLight: boolean;
  /** MiB of memory beyond which a process is replaced; undefined: none is. */
  recycleAboveMb: number | undefined;
  /** Known once the database has answered. */
  data: Promise<ProcessData>;
  runtime: GraphRuntime;
  store: StoreOperations;
  /** Signs tokens for the tenants whose states a process may reach. */
  tokens: Promise<TenantTokens>;
  confinement: Confinement;
}

/** Time after which a process that hasn't begun its work counts as blocked by user code, and the work goes elsewhere. */
const BEGIN_TIMEOUT_MS = 250;
const SHRINK_MS = 10_000;
const RECYCLE_MS = 1_000;

/** The process of a graph with `"threads": 1`. */
interface Home {
  graphId: string;
  assigned: Promise<GraphProcess>;
  /** Known once it is assigned. */
  process?: GraphProcess;
}

/**
 * The result of what a run waits for before it begins; undefined if the run is aborted first.
 * @throws {ExecutionBroken} if it is handed back first
 */
async function unlessStopped<T>(work: Promise<T>, { signal, handBack }: ExecuteOptions): Promise<T | undefined> {
  try {
    return await unlessAborted(work, AbortSignal.any([signal, handBack]));
  } catch (error) {
    if (signal.aborted) return undefined;
    throw handBack.aborted ? stopping() : error;
  }
}

/**
 * The processes in which graphs of one language run.
 *
 * 1. A run has a process of its own as long as there are few runs (ProcessPool). A node that blocks its event loop delays at most
 *    the runs of its own process.
 * 2. Work that a process hasn't begun is taken back from it when it doesn't answer.
 * 3. A run goes to the process in which its thread ran last when that one is idle. The runs of a graph that asks for one
 *    process (`"threads": 1`) all go to the same one, also when it is busy or blocked.
 * 4. A process that dies fails its runs as broken: their next attempt resumes from their checkpoints, each in a process of its own, so
 *    that a run that kills its process affects no other.
 */
export class GraphHost {
  private readonly logger = new Logger(GraphHost.name);
  private readonly pool: ProcessPool;
  /** Processes that one run has to itself. */
  private readonly alone = new Set<GraphProcess>();
  private readonly recent = new RecentProcesses<GraphProcess>();
  /** The process of each graph with `"threads": 1`; one per tenant if processes serve one tenant. */
  private readonly homes = new Map<string, Home>();
  private readonly suspects: SuspectSlots;
  private closed = false;
  private started: Promise<Record<string, string>> | undefined;
  private readonly shrink: NodeJS.Timeout;
  private readonly recycling: NodeJS.Timeout;

  constructor(private readonly options: GraphHostOptions) {
    // Each caller that waits for it reports why it failed; there may be none yet.
    options.data.catch(() => undefined);
    options.tokens.catch(() => undefined);
    this.suspects = new SuspectSlots(options.processes.max);
    this.pool = new ProcessPool({
      processes: options.processes,
      perTenant: options.perTenant,
      reservesForLight: options.reservesForLight,
      recycleAboveMb: options.recycleAboveMb,
      start: (onAwake) => new GraphProcess(options, onAwake),
      onEnded: (process) => this.recent.forget(process),
    });
    this.shrink = setInterval(() => this.pool.endIdle(this.isHome), SHRINK_MS);
    this.shrink.unref();
    this.recycling = setInterval(() => this.pool.recycle(this.isHome), RECYCLE_MS);
    this.recycling.unref();
  }

  /**
   * Starts the first processes, and at least one, since it finds out which graphs can be served.
   * @returns one sentence by graph for each that can't be served
   */
  start(): Promise<Record<string, string>> {
    this.started ??= this.bringUp();
    return this.started;
  }

  private async bringUp(): Promise<Record<string, string>> {
    const { min } = this.options.processes;
    await Promise.all(Array.from({ length: Math.max(1, min) }, () => this.pool.spawn()));
    return this.pool.loads.complete?.problems ?? {};
  }

  /** Whether each use of the graph has the same one, not one that a function makes for it; false until a process has loaded it. */
  isFixed(graphId: string): boolean {
    return this.pool.loads.complete?.factories.includes(graphId) === false;
  }

  /** Runs a graph to its end. Rejects with ExecutionBroken when the process or the database failed, not the graph. */
  async execute(run: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    const request = { ...run, tenantToken: (await this.options.tokens).ofRun(run) };
    if (options.onAlone) return this.executeAlone(request, options, options.onAlone);
    const { graphs } = await this.options.data;
    const hasHome = graphs.some(({ graphId, threads }) => graphId === request.graphId && threads === 1);
    try {
      return await (hasHome ? this.executeAtHome(request, options) : this.executeInCompany(request, options));
    } finally {
      this.pool.dispatch();
    }
  }

  private async executeAtHome(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    const process = await this.homeOf(request, options);
    if (!process) return { status: 'aborted' };
    const { outcome } = process.execute(request, options);
    this.pool.keepReserve();
    return outcome;
  }

  /** The process that executes all runs of a graph, until it ends; undefined if the run is aborted while it waits for it. */
  private async homeOf(
    { graphId, tenantId }: ExecuteRequest,
    options: ExecuteOptions,
  ): Promise<GraphProcess | undefined> {
    const name = this.options.perTenant ? `${tenantId}/${graphId}` : graphId;
    for (;;) {
      const home = this.homes.get(name) ?? this.assignHome(name, graphId, tenantId);
      const process = await unlessStopped(home.assigned, options);
      if (!process || this.pool.reclaim(process, tenantId, graphId)) return process;
      this.forgetHome(name, home);
    }
  }

  /** All runs of the graph that come meanwhile wait for the same process, so that the end of one of them doesn't end the waiting. */
  private assignHome(name: string, graphId: string, tenantId: string): Home {
    const home: Home = { graphId, assigned: this.pool.acquire(tenantId) };
    this.homes.set(name, home);
    home.assigned.then(
      (process) => (home.process = process),
      () => this.forgetHome(name, home),
    );
    return home;
  }

  private forgetHome(name: string, home: Home): void {
    if (this.homes.get(name) === home) this.homes.delete(name);
  }

  private async executeInCompany(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    const { signal, handBack } = options;
    for (;;) {
      const process = await this.pool
        .acquire(request.tenantId, this.recent.of(request), [signal, handBack])
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      if (!process) return { status: 'aborted' };
      const execution = process.execute(request, options);
      this.pool.keepReserve();
      if (await execution.begun(BEGIN_TIMEOUT_MS)) {
        this.recent.remember(request, process);
        return execution.outcome;
      }
      this.logger.warn(
        { run_id: request.runId },
        'A graph process is blocked by its code; its next run goes elsewhere',
      );
    }
  }

  /** Starts a process for this run alone and ends it afterwards, so no other code can end it. */
  private async executeAlone(
    request: ExecuteRequest,
    options: ExecuteOptions,
    onAlone: () => Promise<void>,
  ): Promise<GraphOutcome> {
    const { signal, handBack } = options;
    const stopped = AbortSignal.any([signal, handBack]);
    const release = await this.suspects.take(request.tenantId, stopped);
    try {
      for (let loads = 1; ; loads += 1) {
        if (signal.aborted) return { status: 'aborted' };
        if (this.closed || handBack.aborted) throw stopping();
        const outcome = await this.inProcessOfItsOwn(options, async (process, lost) => {
          // It may load in the next one; after some, the run ends with the reason.
          if (lost.includes(request.graphId) && loads < MAX_LOADS) return undefined;
          await onAlone();
          return process.execute(request, options).outcome;
        });
        if (outcome) return outcome;
        await sleep(pauseAfter(loads), undefined, { ref: false, signal: stopped }).catch(() => undefined);
      }
    } finally {
      release();
    }
  }

  /**
   * Resolves to undefined if the run is aborted before its process has loaded the graphs.
   * @param use gets the ids of the graphs that the process has failed to load although they are served
   */
  private async inProcessOfItsOwn<T>(
    options: ExecuteOptions,
    use: (process: GraphProcess, lost: string[]) => Promise<T>,
  ): Promise<T | undefined> {
    const process = new GraphProcess(this.options, () => undefined);
    this.alone.add(process);
    try {
      const loaded = await unlessStopped(process.ready, options);
      return loaded && (await use(process, this.pool.loads.lostIn(loaded)));
    } finally {
      this.alone.delete(process);
      await process.terminate();
    }
  }

  /**
   * Calls the graph's code without running it. Resolves to JSON text; rejects with GraphCallRefused with the code's own error.
   */
  async call<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    await this.begun();
    const tokens = await this.options.tokens;
    const process = await this.pool.acquire(args.tenantId);
    const tenantToken = tokens.ofCall(args.tenantId);
    return process.call(name, { ...args, tenantToken }).finally(() => this.pool.dispatch());
  }

  /** Number of processes by state; a blocked one is busy with user code and doesn't answer. */
  census(): Record<'idle' | 'busy' | 'blocked', number> {
    const census = { idle: 0, busy: 0, blocked: 0 };
    for (const process of [...this.pool, ...this.alone]) {
      census[!process.responsive ? 'blocked' : process.load === 0 ? 'idle' : 'busy'] += 1;
    }
    return census;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.shrink);
    clearInterval(this.recycling);
    await Promise.all([this.pool.close(), ...[...this.alone].map((process) => process.terminate())]);
  }

  /** Loads the graphs if nothing else has. The process that starts the pool reports what is wrong with them. */
  private async begun(): Promise<void> {
    await this.start().catch(() => undefined);
  }

  /** Whether a process is the only one of a graph, whose memory is kept. One that failed to load the graph has nothing to keep. */
  private readonly isHome = (process: GraphProcess): boolean =>
    [...this.homes.values()].some((home) => home.process === process && !this.pool.loads.lacks(process, home.graphId));
}
