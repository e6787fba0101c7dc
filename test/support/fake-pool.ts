import type { GraphProcess } from '../../src/graphs/host/graph-process-handle';
import { GraphProcessMemory } from '../../src/graphs/host/graph-process-memory';
import { GraphProcessPulse } from '../../src/graphs/host/graph-process-pulse';
import { ProcessPool, type ProcessPoolOptions } from '../../src/graphs/host/process-pool';
import type { LoadedGraphs } from '../../src/graphs/host/protocol';

export const MAX = 2;
export const RECYCLE_MB = 500;
export const COMPLETE: LoadedGraphs = { problems: {}, factories: [] };

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A process whose work is counted here. */
export class FakeProcess {
  private readonly end = Promise.withResolvers<void>();
  readonly ended = this.end.promise;
  responsive = true;
  stuckSince: number | undefined;
  hasEnded = false;
  idleness = 0;
  readonly memory = new GraphProcessMemory();
  readonly pulse = new GraphProcessPulse();
  readonly work: string[] = [];
  isNice = false;

  constructor(readonly ready: Promise<LoadedGraphs>) {}

  terminate(): Promise<void> {
    this.hasEnded = true;
    this.end.resolve();
    return this.ended;
  }

  lowerPriority(): void {
    this.isNice = true;
  }

  get load(): number {
    return this.work.length;
  }

  loadOf(tenantId: string): number {
    return this.work.filter((each) => each === tenantId).length;
  }
}

/** A pool of fake processes. */
export class FakePool extends ProcessPool {
  readonly started: FakeProcess[];
  /** When the next processes have loaded the graphs. */
  ready = Promise.resolve(COMPLETE);

  constructor(options: Partial<ProcessPoolOptions> = {}) {
    const started: FakeProcess[] = [];
    super({
      processes: { min: 1, max: MAX },
      perTenant: false,
      reservesForLight: true,
      recycleAboveMb: RECYCLE_MB,
      start: () => {
        started.push(new FakeProcess(this.ready));
        return started.at(-1) as unknown as GraphProcess;
      },
      onEnded: () => undefined,
      ...options,
    });
    this.started = started;
  }

  /** Gives a tenant a run in a process, which the pool chooses. */
  async begin(tenantId: string): Promise<FakeProcess> {
    const process = (await this.acquire(tenantId)) as unknown as FakeProcess;
    process.pulse.gotWork(process.load === 0);
    process.work.push(tenantId);
    this.keepReserve();
    await turn();
    return process;
  }
}
