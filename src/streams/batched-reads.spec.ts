import { BatchedReads } from './batched-reads';

describe('batched reads', () => {
  it('answer the requests that arrive during a read with the next one, each with its own result', async () => {
    const asked: string[][] = [];
    let answer!: () => void;
    const reads = new BatchedReads<string, string>(async (queries) => {
      asked.push(queries);
      await new Promise<void>((resolve) => (answer = resolve));
      return queries.map((query) => query.toUpperCase());
    });
    const first = reads.read('a');
    const next = [reads.read('b'), reads.read('c')];
    answer();
    expect(await first).toBe('A');
    answer();
    expect(await Promise.all(next)).toEqual(['B', 'C']);
    expect(asked).toEqual([['a'], ['b', 'c']]);
  });

  it('fail for the callers of one batch, and continue for the others', async () => {
    let isAway = true;
    const reads = new BatchedReads<number, number>(async (queries) => {
      if (isAway) throw new Error('The database is away');
      return queries;
    });
    await expect(reads.read(1)).rejects.toThrow('The database is away');
    isAway = false;
    expect(await reads.read(2)).toBe(2);
  });
});
