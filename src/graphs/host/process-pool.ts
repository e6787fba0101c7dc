import { Logger } from '@nestjs/common';
import type { GraphProcess } from './graph-process-handle';
import { stopping } from './graph-process.errors';
import { GraphLoads, LONG_LOAD, LONG_LOAD_MS } from './graph-loads';
import { type Waiting, WaitingWork } from './waiting-work';

export interface ProcessPoolOptions {
  processes: { min: number; max: number };
  /** Whether a process serves one tenant for as long as it lives. */
  perTenant: boolean;
  /** Whether one process more is kept for tenants with little work, once there are several tenants. */
  reservesForLight: boolean;
  /** MiB of memory beyond which a process is replaced. */
  recycleAboveMb?: number;
  /** @param onAwake called when the process answers again */
  start: (onAwake: () => void) => GraphProcess;
  onEnded: (process: GraphProcess) => void;
}

/**
 * A process above the minimum is ended when it has been idle for this many times as long as it took to start: half a minute for
 * one that takes 0.6 s, eight for one that takes 10. The next work then waits for a start, at most a fiftieth of the idle time.
 */
const IDLE_STARTS = 50;
/** A tenant with less work than this is light. */
const LIGHT_BELOW = 2;

/**
 * Assigns work to graph processes.
 *
 * 1. Work has a process of its own as long as there are fewer than the maximum. Beyond that it shares a process: of those that have
 *    time left the one with the most work, since a token costs less the more of them a process handles each time that it wakes up.
 *    Where none has time left, it is the one with the least work.
 * 2. A process that doesn't answer gets no work, and doesn't count against the maximum.
 * 3. One idle process is kept in reserve while there may be more.
 * 4. Where processes serve one tenant each, a process belongs to the first tenant whose work it gets. At the maximum, an idle process
 *    of another tenant is ended to make room; where none is idle, the work waits until one is, tenants with the fewest processes first.
 * 5. Where tenants share processes, one process beyond the maximum serves only tenants with little work, so that these don't take turns
 *    with the hundreds of runs of another tenant's batch. It is started when the second tenant has work. While it is idle, it gets
 *    such work before any other process: its code is compiled when a batch comes. The others have a lower priority for the operating
 *    system.
 * 6. A process that fails to load a graph that is served is replaced after a pause. After some in a row, one is used without it until
 *    another one has it. From then on it has no work but that of the graphs that keep their state in it.
 */
export class ProcessPool {
  private readonly logger = new Logger(ProcessPool.name);
  private readonly processes = new Set<GraphProcess>();
  /** Processes that still load the graphs and take no work yet. */
  private readonly loading = new Set<GraphProcess>();
  /** Those of them that work no longer waits for. */
  private readonly late = new Set<GraphProcess>();
  /** Processes that have grown too large or lack a graph: they finish what they have, and serve graphs that keep state in them. */
  private readonly leaving = new Set<GraphProcess>();
  private readonly waiting = new WaitingWork<GraphProcess>(() => this.dispatch());
  /** The tenant of each process, if it serves only one. */
  private readonly owners = new WeakMap<GraphProcess, string>();
  /** Processes that were handed out in this turn of the event loop: their work begins before the next one. */
  private readonly claimed = new Set<GraphProcess>();
  /** Time since which each process seemed to be stuck when `endIdle` last looked. */
  private readonly stuckSince = new WeakMap<GraphProcess, number>();
  /** The process for tenants with little work. */
  private reserved: GraphProcess | undefined;
  private firstTenant: string | undefined;
  private hasSeveralTenants = false;
  private closed = false;
  /** Findings of the processes when they loaded the graphs. */
  readonly loads = new GraphLoads<GraphProcess>();

  constructor(private readonly options: ProcessPoolOptions) {}

  [Symbol.iterator](): IterableIterator<GraphProcess> {
    return [...this.processes, ...this.leaving].values();
  }

  /**
   * Resolves to a process for a tenant's work, which has to begin at once.
   * @param preferred process to use if it is idle
   * @param signals end the waiting
   * @throws {ExecutionBroken} when a signal is aborted or the pool closed while it waits
   */
  acquire(tenantId: string, preferred?: GraphProcess, signals: AbortSignal[] = []): Promise<GraphProcess> {
    if (this.closed) return Promise.reject(stopping());
    this.firstTenant ??= tenantId;
    this.hasSeveralTenants ||= tenantId !== this.firstTenant;
    const process = this.pick(tenantId, preferred);
    return process ? Promise.resolve(this.claim(process, tenantId)) : this.waiting.wait(tenantId, signals);
  }

  /** Takes the process that keeps the state of a tenant's graph; false when it has ended, or another one has to serve the graph. */
  reclaim(process: GraphProcess, tenantId: string, graphId: string): boolean {
    const serves = this.processes.has(process) || (this.leaving.has(process) && !this.loads.lacks(process, graphId));
    if (!serves) return false;
    // All runs of a graph are its work from now on; another process takes its place.
    if (process === this.reserved) this.reserved = undefined;
    this.claim(process, tenantId);
    return true;
  }

  /** Assigns waiting work to processes with capacity, and starts processes for the rest. */
  dispatch(): void {
    let loading = this.loading.size - this.late.size;
    for (const entry of this.inTurn()) {
      const process = this.pick(entry.tenantId);
      if (process) {
        this.waiting.remove(entry);
        entry.resolve(this.claim(process, entry.tenantId));
      } else if (loading > 0) {
        loading -= 1;
      } else if (this.makeRoom()) {
        this.startAnother();
      }
    }
  }

  /** The next run should find a running process, since starting one takes a second or more. */
  keepReserve(): void {
    if (this.closed || this.loadingCount > 0 || this.loads.isPausing) return;
    const regular = this.regular();
    const isIdle = regular.some((process) => this.isIdle(process) && !this.owners.has(process));
    if (!isIdle && regular.length < this.options.processes.max) this.startAnother();
    else if (this.options.reservesForLight && this.hasSeveralTenants && !this.reserved) this.startAnother(true);
  }

  async spawn(isReserved = false): Promise<void> {
    const process = this.options.start(() => this.dispatch());
    this.loading.add(process);
    const warning = setTimeout(() => {
      this.logger.warn(LONG_LOAD);
      this.late.add(process);
      this.dispatch();
    }, LONG_LOAD_MS).unref();
    try {
      const loaded = await process.ready;
      if (this.closed) return;
      const isComplete = this.loads.record(process, loaded);
      // Other graphs must not wait for one that is broken for good.
      const isNeeded = this.loads.isFailingForLong && !this.waiting.isEmpty;
      if (isComplete || isNeeded) this.add(process, isReserved);
      else void process.terminate();
    } catch (error) {
      // One that reports that it is unusable doesn't end by itself.
      void process.terminate();
      // The end of a process by `close` is not reported.
      if (!this.closed) throw error;
    } finally {
      clearTimeout(warning);
      this.loading.delete(process);
      this.late.delete(process);
    }
    this.dispatch();
    // Only one process loads at a time: the reserve may need another one after this one.
    this.keepReserve();
  }

  private add(process: GraphProcess, isReserved: boolean): void {
    this.processes.add(process);
    if (isReserved) this.reserved = process;
    this.favorReserved();
    void process.ended.then(() => this.onEnded(process));
  }

  /** Lets a process finish what it has: `recycle` ends it when it has no work and no graph keeps state in it. */
  private dismiss(process: GraphProcess): void {
    this.processes.delete(process);
    if (process === this.reserved) this.reserved = undefined;
    this.leaving.add(process);
  }

  /**
   * Ends processes that aren't needed, and those that code without a run blocks.
   * @param isKept whether a process must stay because its graph keeps state in memory
   */
  endIdle(isKept: (process: GraphProcess) => boolean): void {
    for (const process of this) this.endIfStuck(process);
    for (const process of this.regular()) {
      const { length } = this.regular();
      if (length <= this.options.processes.min) break;
      // One more may have been started for a blocked process that answers again.
      const isSurplus = length > this.options.processes.max;
      if (this.isIdle(process) && (isSurplus || this.isLongIdle(process)) && !isKept(process)) this.retire(process);
    }
    if (this.reserved && this.isIdle(this.reserved) && this.isLongIdle(this.reserved)) this.retire(this.reserved);
  }

  /** Ends a process that was stuck at the previous look too: after a pause of the whole machine or container, each seems to be. */
  private endIfStuck(process: GraphProcess): void {
    const { stuckSince } = process;
    if (stuckSince === undefined) return;
    const before = this.stuckSince.get(process);
    this.stuckSince.set(process, stuckSince);
    if (before === stuckSince && !this.claimed.has(process)) void process.terminate();
  }

  /**
   * Replaces the processes that have grown too large, or lack a graph that another one has. Those with work end at a later call.
   * @param isKept as in `endIdle`; such a process stays whatever its size, and for its graph alone if it lacks another one
   */
  recycle(isKept: (process: GraphProcess) => boolean): void {
    if (this.closed) return;
    const incomplete = [...this.processes].filter((process) => this.loads.isIncomplete(process));
    if (!this.loads.isFailing) incomplete.forEach((process) => this.dismiss(process));
    const { recycleAboveMb = Infinity } = this.options;
    for (const process of this.processes) {
      if (!process.memory.hasGrownAbove(recycleAboveMb) || isKept(process)) continue;
      this.logger.log(`A graph process has grown above ${recycleAboveMb} MiB: another one takes its place`);
      this.dismiss(process);
    }
    for (const process of this.leaving) {
      if (process.load === 0 && !this.claimed.has(process) && !isKept(process)) void process.terminate();
    }
    const needsComplete = incomplete.length > 0 && this.loadingCount === 0 && this.loads.isFailing;
    if (this.isBelowMinimum() || (needsComplete && !this.loads.isPausing)) this.startAnother();
    this.dispatch();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.waiting.stop();
    await Promise.all([...this, ...this.loading].map((process) => process.terminate()));
  }

  private claim(process: GraphProcess, tenantId: string): GraphProcess {
    if (this.options.perTenant) this.owners.set(process, tenantId);
    this.claimed.add(process);
    setImmediate(() => this.claimed.delete(process));
    return process;
  }

  /** Returns a process to use now, or none if it is better to wait for a new one. */
  private pick(tenantId: string, preferred?: GraphProcess): GraphProcess | undefined {
    const responsive = this.regular().filter((process) => process.responsive);
    const usable = responsive.filter((process) => [undefined, tenantId].includes(this.owners.get(process)));
    const reserved = this.reserved?.responsive && this.isLight(tenantId) ? this.reserved : undefined;
    if (reserved) usable.unshift(reserved);
    const idle = usable.filter((process) => process.load === 0);
    const owned = idle.find((process) => this.owners.has(process));
    if (idle.length > 0) return idle.find((process) => process === preferred) ?? owned ?? idle[0];
    // A blocked process doesn't count against the maximum, or a few of them would stop the whole worker.
    if (this.hasRoom(responsive.length)) return undefined;
    const byLoad = usable.sort((one, other) => one.load - other.load);
    // A tenant with little work doesn't join the process that another tenant's batch fills.
    const shared = reserved ? undefined : byLoad.findLast(({ pulse }) => pulse.hasTimeLeft);
    return shared ?? byLoad[0];
  }

  /** The processes that serve every tenant. */
  private regular(): GraphProcess[] {
    return [...this.processes].filter((process) => process !== this.reserved);
  }

  /** Number of processes that load. One that does for long has one other in its place, not more: that one may take as long. */
  private get loadingCount(): number {
    return this.loading.size - Math.min(this.late.size, 1);
  }

  private hasRoom(responsive: number): boolean {
    return !this.loads.isPausing && responsive + this.loadingCount < this.options.processes.max;
  }

  /** Whether a process is to be started that no work waits for. */
  private isBelowMinimum(): boolean {
    return !this.loads.isPausing && this.regular().length + this.loadingCount < this.options.processes.min;
  }

  /** Where all processors are busy, the few runs of light tenants don't wait for the batch that keeps them busy. */
  private favorReserved(): void {
    if (!this.reserved) return;
    for (const process of this.regular()) process.lowerPriority();
  }

  private isLight(tenantId: string): boolean {
    let load = 0;
    for (const process of this.processes) load += process.loadOf(tenantId);
    return load < LIGHT_BELOW;
  }

  /** Waiting work in order: tenants with the fewest processes first, so that one with many runs doesn't keep all of them. */
  private inTurn(): Waiting<GraphProcess>[] {
    const counts = new Map<string | undefined, number>();
    for (const process of this.processes) {
      const owner = this.owners.get(process);
      if (process.responsive) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    const count = ({ tenantId }: Waiting<GraphProcess>): number => counts.get(tenantId) ?? 0;
    return [...this.waiting].sort((one, other) => count(one) - count(other));
  }

  private startAnother(isReserved = false): void {
    this.spawn(isReserved).catch((error: Error) => {
      this.logger.error({ err: error }, 'A graph process could not be started');
      this.waiting.rejectFirst(error);
      this.dispatch();
    });
  }

  /** Whether another process may be started, if need be in the place of an idle one. */
  private makeRoom(): boolean {
    const responsive = this.regular().filter((process) => process.responsive);
    if (this.loads.isPausing) return false;
    if (this.hasRoom(responsive.length)) return true;
    const idle = responsive.find((process) => this.isIdle(process));
    if (!this.options.perTenant || !idle) return false;
    this.retire(idle);
    return true;
  }

  private isIdle(process: GraphProcess): boolean {
    return process.responsive && process.load === 0 && !this.claimed.has(process);
  }

  private isLongIdle(process: GraphProcess): boolean {
    return process.idleness > IDLE_STARTS;
  }

  private retire(process: GraphProcess): void {
    this.processes.delete(process);
    if (process === this.reserved) this.reserved = undefined;
    void process.terminate();
  }

  private onEnded(process: GraphProcess): void {
    this.options.onEnded(process);
    this.leaving.delete(process);
    const wasRetired = !this.processes.delete(process);
    if (process === this.reserved) this.reserved = undefined;
    if (this.closed) return;
    this.dispatch();
    if (wasRetired || !this.isBelowMinimum()) return;
    this.logger.warn('A graph process ended; a new one takes its place');
    this.startAnother();
  }
}
