import type { GraphProcess } from './graph-process-handle';
import type { LoadedGraphs } from './protocol';
import { COMPLETE, FakePool, type FakeProcess, MAX, RECYCLE_MB, turn } from '../../../test/support/fake-pool';

describe('a pool of graph processes that tenants share', () => {
  let pool: FakePool;
  let started: FakeProcess[];

  beforeEach(async () => {
    pool = new FakePool();
    ({ started } = pool);
    await pool.spawn();
  });

  afterEach(() => pool.close());

  const begin = (tenantId: string): Promise<FakeProcess> => pool.begin(tenantId);

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
    pool.ready = loading.promise;
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
    expect(pool.reclaim(started[MAX] as unknown as GraphProcess, 'three', 'home')).toBe(true);
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
    expect(pool.reclaim(started[MAX + 1] as unknown as GraphProcess, 'three', 'home')).toBe(true);
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
    const emptied = new FakePool({ processes: { min: 0, max: MAX }, reservesForLight: false });
    await emptied.spawn();
    const [first] = emptied.started;
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
    pool.ready = loading.promise;
    const spawned = pool.spawn();
    const closed = pool.close();
    loading.reject(new Error('ended'));
    await Promise.all([spawned, closed]);
    expect(started).toHaveLength(2);
  });

  it('ends processes that code without a run blocks', async () => {
    const [first] = started;
    pool.endIdle(() => false);
    first.stuckSince = 1;
    pool.endIdle(() => true);
    expect(first.hasEnded).toBe(false);
    pool.endIdle(() => true);
    expect(first.hasEnded).toBe(true);
    await turn();
    expect([...pool]).toEqual([started[1]]);
  });

  it('ends none that has sent a pulse since it seemed to be blocked, as after a pause of all processes', async () => {
    const [first] = started;
    for (const lastPulse of [1, 2, undefined, 3]) {
      first.stuckSince = lastPulse;
      pool.endIdle(() => false);
    }
    expect(first.hasEnded).toBe(false);
  });

  it('ends a process that can’t load what all graphs need', async () => {
    pool.ready = Promise.reject(new Error('The model server is down'));
    await expect(pool.spawn()).rejects.toThrow('The model server is down');
    expect(started.map(({ hasEnded }) => hasEnded)).toEqual([false, true]);
  });
});
