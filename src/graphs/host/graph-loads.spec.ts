import { Logger } from '@nestjs/common';
import type { GraphProcess } from './graph-process-handle';
import type { LoadedGraphs } from './protocol';
import { COMPLETE, FakePool, type FakeProcess, MAX, turn } from '../../../test/support/fake-pool';

const LACKING: LoadedGraphs = { problems: { paid: 'its server is down' }, factories: [] };

describe('a pool of graph processes', () => {
  let pool: FakePool;
  let started: FakeProcess[];
  let error: jest.SpyInstance;
  let warn: jest.SpyInstance;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    pool = new FakePool();
    ({ started } = pool);
    await pool.spawn();
  });

  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const begin = (tenantId: string): Promise<FakeProcess> => pool.begin(tenantId);

  describe('whose later processes fail to load a graph', () => {
    beforeEach(() => {
      pool.ready = Promise.resolve(LACKING);
    });

    it('ends these, shares what it has meanwhile, and starts others after a pause', async () => {
      const first = await begin('one');
      expect(started.map(({ hasEnded }) => hasEnded)).toEqual([false, true]);
      expect(error).toHaveBeenCalledWith(expect.stringMatching(/graphs\.paid: its server is down/));
      expect(await begin('one')).toBe(first);
      expect(started).toHaveLength(2);
      pool.ready = Promise.resolve(COMPLETE);
      jest.advanceTimersByTime(1_000);
      expect(await begin('one')).toBe(started[2]);
    });

    it('lets work wait for a process that has it', async () => {
      await started[0].terminate();
      await turn();
      const waiting = pool.acquire('one');
      pool.ready = Promise.resolve(COMPLETE);
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
      pool.ready = Promise.resolve(COMPLETE);
      await jest.advanceTimersByTimeAsync(20_000);
      pool.recycle(() => false);
      await turn();
      pool.recycle(() => false);
      await turn();
      expect(started[4].hasEnded).toBe(true);
      expect([...pool]).toEqual([started[6]]);
    });

    /** Has a run wait until a process without the graph is used for it. */
    async function useIncomplete(): Promise<FakeProcess> {
      await started[0].terminate();
      const using = pool.acquire('one');
      await jest.advanceTimersByTimeAsync(10_000);
      const process = (await using) as unknown as FakeProcess;
      await turn();
      expect(process).toBe(started.at(-1));
      // The pause after its load.
      await jest.advanceTimersByTimeAsync(10_000);
      return process;
    }

    it('leaves one that is used without it to the graphs that keep their state in it, once another one has it', async () => {
      const incomplete = await useIncomplete();
      const isKept = (process: GraphProcess): boolean => (process as unknown) === incomplete;
      const reclaim = (graphId: string): boolean => pool.reclaim(incomplete as unknown as GraphProcess, 'one', graphId);
      expect(reclaim('home')).toBe(true);
      pool.ready = Promise.resolve(COMPLETE);
      for (let looks = 0; looks < 3; looks += 1) {
        pool.recycle(isKept);
        await turn();
      }
      expect(incomplete.hasEnded).toBe(false);
      expect(reclaim('home')).toBe(true);
      expect(reclaim('paid')).toBe(false);
      const complete = await begin('one');
      expect(complete).not.toBe(incomplete);
      expect(pool.reclaim(complete as unknown as GraphProcess, 'one', 'paid')).toBe(true);
      await turn();
      pool.recycle(() => false);
      await turn();
      expect(incomplete.hasEnded).toBe(true);
      expect(reclaim('home')).toBe(false);
    });

    it('looks for one that has it also while one loads for long, and for no more while two do', async () => {
      const incomplete = await useIncomplete();
      const { length } = started;
      const loading = Promise.withResolvers<LoadedGraphs>();
      pool.ready = loading.promise;
      const look = async (): Promise<void> => {
        pool.recycle(() => false);
        await jest.advanceTimersByTimeAsync(31_000);
      };
      await look();
      expect(started).toHaveLength(length + 1);
      await look();
      expect(started).toHaveLength(length + 2);
      await look();
      expect(started).toHaveLength(length + 2);
      loading.resolve(COMPLETE);
      await look();
      await look();
      expect(incomplete.hasEnded).toBe(true);
    });
  });

  it('warns of a process that loads for long, and starts another one for work that waits', () => {
    started[0].responsive = false;
    pool.ready = new Promise(() => undefined);
    pool.acquire('a').catch(() => undefined);
    jest.advanceTimersByTime(29_000);
    expect(warn).not.toHaveBeenCalled();
    expect(started).toHaveLength(2);
    jest.advanceTimersByTime(2_000);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/loading for 30 s/));
    expect(started).toHaveLength(3);
    jest.advanceTimersByTime(300_000);
    expect(started).toHaveLength(1 + MAX + 1);
  });
});
