import { Logger } from '@nestjs/common';
import type { GraphProcess } from './graph-process-handle';
import { GraphProcessMemory } from './graph-process-memory';
import { GraphProcessPulse } from './graph-process-pulse';
import { ProcessPool } from './process-pool';
import type { LoadedGraphs } from './protocol';

const MAX = 2;
const RECYCLE_MB = 500;
const COMPLETE: LoadedGraphs = { problems: {}, factories: [] };
const LACKING: LoadedGraphs = { problems: { paid: 'its server is down' }, factories: [] };

/** A process whose work is counted here. */
class FakeProcess {
  private readonly end = Promise.withResolvers<void>();
  readonly ended = this.end.promise;
  responsive = true;
  isStuck = false;
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

describe('a pool of graph processes that tenants share', () => {
  let started: FakeProcess[];
  let pool: ProcessPool;
  /** When the next processes have loaded the graphs. */
  let ready: Promise<LoadedGraphs>;

  beforeEach(async () => {
    started = [];
    ready = Promise.resolve(COMPLETE);
    pool = new ProcessPool({
      processes: { min: 1, max: MAX },
      perTenant: false,
      reservesForLight: true,
      recycleAboveMb: RECYCLE_MB,
      start: () => {
        started.push(new FakeProcess(ready));
        return started.at(-1) as unknown as GraphProcess;
      },
      onEnded: () => undefined,
    });
    await pool.spawn();
  });

  afterEach(() => pool.close());

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Gives a tenant a run in a process, which the pool chooses. */
  async function begin(tenantId: string): Promise<FakeProcess> {
    const process = (await pool.acquire(tenantId)) as unknown as FakeProcess;
    process.pulse.gotWork(process.load === 0);
    process.work.push(tenantId);
    pool.keepReserve();
    await turn();
    return process;
  }

  async function beginBatch(tenantId: string, size: number): Promise<FakeProcess[]> {
    const processes = [];
    for (let count = 0; count < size; count += 1) processes.push(await begin(tenantId));
    return processes;
  }

  it('gives work to the process that has the most, as long as that has time left, and otherwise to the one that has the least', async () => {
    const own = await beginBatch('one', MAX);
    expect(new Set(own)).toEqual(new Set(started));
    const [shared, ...rest] = await beginBatch('one', 5);
    expect(new Set(rest)).toEqual(new Set([shared]));
    const other = own.find((process) => process !== shared)!;
    shared.pulse.beat(0.8);
    expect(await begin('one')).toBe(other);
    other.pulse.beat(0.9);
    expect(await begin('one')).toBe(other);
    shared.pulse.beat(0.6);
    expect(await begin('one')).toBe(shared);
  });

  it('distributes work that comes before a pulse has measured what it takes', async () => {
    await beginBatch('one', 100);
    const [fewest, most] = started.map(({ load }) => load).sort((one, other) => one - other);
    expect(most - fewest).toBeLessThan(20);
  });

  it('starts the process for tenants with little work after the one that was loading when the second tenant came', async () => {
    const loading = Promise.withResolvers<LoadedGraphs>();
    ready = loading.promise;
    await begin('one');
    await begin('two');
    expect(started).toHaveLength(MAX);
    loading.resolve(COMPLETE);
    await turn();
    expect(started).toHaveLength(MAX + 1);
  });

  it('has one process beyond the maximum for tenants with little work', async () => {
    await begin('one');
    const batch = await beginBatch('two', 100);
    expect(started).toHaveLength(MAX + 1);
    const reserved = started[MAX];
    const inReserved = (of: FakeProcess[]): number => of.filter((process) => process === reserved).length;
    // Its first runs are little work, like those of any other tenant.
    expect(inReserved(batch)).toBeLessThan(3);
    expect(await begin('one')).toBe(reserved);
    expect(await begin('three')).toBe(reserved);
    expect(inReserved(await beginBatch('one', 100))).toBeLessThan(3);
  });

  it('gives it the runs of light tenants also while processes with more work have time left', async () => {
    await begin('one');
    await beginBatch('two', 20);
    const reserved = started[MAX];
    expect(await begin('three')).toBe(reserved);
    for (const process of started) process.pulse.beat(0);
    expect(await begin('four')).toBe(reserved);
  });

  it('gives it the runs of light tenants while it is idle, so that its code is compiled when a batch comes', async () => {
    await begin('one');
    await begin('two');
    const reserved = started[MAX];
    for (const process of started) process.work.length = 0;
    expect(await begin('two')).toBe(reserved);
    expect(await begin('one')).not.toBe(reserved);
  });

  it('lets it go first where processors are busy, also when it came later or is another one', async () => {
    const nice = (): boolean[] => started.map(({ isNice }) => isNice);
    await begin('one');
    expect(nice()).toEqual([false, false]);
    await begin('two');
    expect(nice()).toEqual([true, true, false]);
    expect(pool.reclaim(started[MAX] as unknown as GraphProcess, 'three')).toBe(true);
    await begin('two');
    expect(nice()).toEqual([true, true, true, false]);
  });

  it('starts no such process for a single tenant', async () => {
    await beginBatch('one', 100);
    expect(started).toHaveLength(MAX);
  });

  it('starts another one when it has ended, or has become the home of a graph', async () => {
    await begin('one');
    await beginBatch('two', 10);
    expect(started).toHaveLength(MAX + 1);
    await started[MAX].terminate();
    await begin('two');
    expect(started).toHaveLength(MAX + 2);
    expect(pool.reclaim(started[MAX + 1] as unknown as GraphProcess, 'three')).toBe(true);
    await begin('two');
    expect(started).toHaveLength(MAX + 3);
  });

  it('gives no work to a process that has grown too large, and ends it when it has none', async () => {
    const large = await begin('one');
    large.memory.measured(100);
    pool.recycle(() => false);
    expect([...pool]).toContain(large);
    large.memory.measured(RECYCLE_MB + 1);
    pool.recycle((process) => process === (large as unknown as GraphProcess));
    expect(await begin('one')).not.toBe(large);
    pool.recycle(() => false);
    await beginBatch('one', 10);
    expect(large.work).toEqual(['one']);
    expect([...pool]).toContain(large);
    large.work.length = 0;
    pool.recycle(() => false);
    await turn();
    expect([...pool]).not.toContain(large);
    expect([...pool]).toHaveLength(MAX);
  });

  it('keeps a process that is too large once it has loaded the graphs', async () => {
    const [process] = started;
    process.memory.measured(RECYCLE_MB + 1);
    process.memory.measured(RECYCLE_MB + 2);
    pool.recycle(() => false);
    expect([...pool]).toEqual([process]);
  });

  it('keeps it while it ends others that are idle', async () => {
    await begin('one');
    await beginBatch('two', 10);
    for (const process of started) process.work.length = 0;
    pool.endIdle(() => false);
    expect([...pool]).toEqual(started);
  });

  it('ends processes above the minimum that have been idle for fifty times as long as they took to start', async () => {
    await begin('one');
    await beginBatch('two', 10);
    for (const process of started) process.work.length = 0;
    for (const process of started) process.idleness = 49;
    pool.endIdle(() => false);
    expect([...pool]).toEqual(started);
    for (const process of started) process.idleness = 51;
    pool.endIdle(() => false);
    expect([...pool]).toHaveLength(1);
  });

  it('starts one for the next work when none was kept', async () => {
    const emptied = new ProcessPool({
      processes: { min: 0, max: MAX },
      perTenant: false,
      reservesForLight: false,
      start: () => new FakeProcess(ready) as unknown as GraphProcess,
      onEnded: () => undefined,
    });
    await emptied.spawn();
    const [first] = emptied as unknown as Iterable<FakeProcess>;
    first.idleness = 51;
    emptied.endIdle(() => false);
    expect([...emptied]).toEqual([]);
    const next = await emptied.acquire('one');
    expect(next).not.toBe(first);
    expect([...emptied]).toEqual([next]);
    await emptied.close();
  });

  it('starts none when one that loads is ended by the close of the pool', async () => {
    const loading = Promise.withResolvers<LoadedGraphs>();
    ready = loading.promise;
    const spawned = pool.spawn();
    const closed = pool.close();
    loading.reject(new Error('ended'));
    await Promise.all([spawned, closed]);
    expect(started).toHaveLength(2);
  });

  it('ends processes that code without a run blocks', async () => {
    const [first] = started;
    pool.endIdle(() => false);
    expect(first.hasEnded).toBe(false);
    first.isStuck = true;
    pool.endIdle(() => true);
    expect(first.hasEnded).toBe(true);
    await turn();
    expect([...pool]).toEqual([started[1]]);
  });

  it('ends a process that can’t load what all graphs need', async () => {
    ready = Promise.reject(new Error('The model server is down'));
    await expect(pool.spawn()).rejects.toThrow('The model server is down');
    expect(started.map(({ hasEnded }) => hasEnded)).toEqual([false, true]);
  });

  describe('whose later processes fail to load a graph', () => {
    let log: jest.SpyInstance;

    beforeEach(() => {
      log = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
      ready = Promise.resolve(LACKING);
    });

    afterEach(() => {
      log.mockRestore();
      jest.useRealTimers();
    });

    it('ends these, shares what it has meanwhile, and starts others after a pause', async () => {
      const first = await begin('one');
      expect(started.map(({ hasEnded }) => hasEnded)).toEqual([false, true]);
      expect(log).toHaveBeenCalledWith(expect.stringMatching(/graphs\.paid: its server is down/));
      expect(await begin('one')).toBe(first);
      expect(started).toHaveLength(2);
      ready = Promise.resolve(COMPLETE);
      jest.advanceTimersByTime(1_000);
      expect(await begin('one')).toBe(started[2]);
    });

    it('lets work wait for a process that has it', async () => {
      await started[0].terminate();
      await turn();
      const waiting = pool.acquire('one');
      ready = Promise.resolve(COMPLETE);
      await jest.advanceTimersByTimeAsync(1_500);
      expect(await waiting).toBe(started[2]);
    });

    it('uses one after some attempts, and replaces it once another one has the graph', async () => {
      await started[0].terminate();
      const process = (await Promise.all([pool.acquire('one'), jest.advanceTimersByTimeAsync(10_000)]))[0];
      expect(started).toHaveLength(5);
      expect(process).toBe(started[4]);
      await jest.advanceTimersByTimeAsync(10_000);
      pool.recycle(() => false);
      await turn();
      expect(started.map(({ hasEnded }) => hasEnded)).toEqual([true, true, true, true, false, true]);
      ready = Promise.resolve(COMPLETE);
      await jest.advanceTimersByTimeAsync(20_000);
      pool.recycle(() => false);
      await turn();
      pool.recycle(() => false);
      await turn();
      expect(started[4].hasEnded).toBe(true);
      expect([...pool]).toEqual([started[6]]);
    });
  });

  it('warns of a process that loads for long, and starts another one for work that waits', () => {
    jest.useFakeTimers();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    try {
      started[0].responsive = false;
      ready = new Promise(() => undefined);
      pool.acquire('a').catch(() => undefined);
      jest.advanceTimersByTime(29_000);
      expect(warn).not.toHaveBeenCalled();
      expect(started).toHaveLength(2);
      jest.advanceTimersByTime(2_000);
      expect(warn).toHaveBeenCalledWith(expect.stringMatching(/loading for 30 s/));
      expect(started).toHaveLength(3);
      jest.advanceTimersByTime(300_000);
      expect(started).toHaveLength(1 + MAX + 1);
    } finally {
      warn.mockRestore();
      jest.useRealTimers();
    }
  });
});
