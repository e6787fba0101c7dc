import { BatchedCalls } from './batched-calls';

describe('batched calls', () => {
  it('answer with one call the requests of all continuations of the same moment', async () => {
    const asked: number[][] = [];
    const calls = new BatchedCalls<number, number>((queries) => {
      asked.push(queries);
      return Promise.resolve(queries);
    });
    const event = Promise.withResolvers<void>();
    const readers = [1, 2, 3].map(async (reader) => {
      // Those who are further away from what they wait for continue later.
      for (let hops = 0; hops < reader; hops += 1) await event.promise;
      return calls.call(reader);
    });
    event.resolve();
    expect(await Promise.all(readers)).toEqual([1, 2, 3]);
    expect(asked).toEqual([[1, 2, 3]]);
  });

  it('answer the requests that arrive during a call with the next one, each with its own result', async () => {
    const asked: string[][] = [];
    let answer!: () => void;
    const calls = new BatchedCalls<string, string>(async (queries) => {
      asked.push(queries);
      await new Promise<void>((resolve) => (answer = resolve));
      return queries.map((query) => query.toUpperCase());
    });
    const first = calls.call('a');
    await new Promise(setImmediate);
    const next = [calls.call('b'), calls.call('c')];
    answer();
    expect(await first).toBe('A');
    await new Promise(setImmediate);
    answer();
    expect(await Promise.all(next)).toEqual(['B', 'C']);
    expect(asked).toEqual([['a'], ['b', 'c']]);
  });

  it('fail for the callers of one batch, and continue for the others', async () => {
    let isAway = true;
    const calls = new BatchedCalls<number, number>(async (queries) => {
      if (isAway) throw new Error('The database is away');
      return queries;
    });
    await expect(calls.call(1)).rejects.toThrow('The database is away');
    isAway = false;
    expect(await calls.call(2)).toBe(2);
  });
});
