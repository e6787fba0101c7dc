import { PartReader, Rows } from './part-reader';
import type { RowKey } from './row-selection';

const ID = '8e5b048d-c03d-447a-a4b0-6b2411f464';
const never = new AbortController().signal;

const two = (n: number): string => String(n).padStart(2, '0');
const line = (n: number): string => `2026-11-21 00:00:${two(n)}+00\t${ID}${two(n)}\tx\n`;
const numberOf = (key: RowKey | null): number => (key ? Number(key.runId.slice(-2)) : -1);

/** Rows 0 to `total` - 1, so many in one statement, and what became of each statement. */
class Source {
  readonly statements: { after: number; state: 'open' | 'ended' | 'given up' }[] = [];
  failsAt = Infinity;
  lost = 0;

  constructor(
    readonly total: number,
    readonly atOnce: number,
  ) {}

  open = (after: RowKey | null): Promise<Rows> => {
    const first = numberOf(after) + 1;
    const rows = Array.from({ length: Math.max(0, Math.min(this.atOnce, this.total - first)) }, (_, n) => first + n);
    const statement: Source['statements'][number] = { after: first - 1, state: 'open' };
    this.statements.push(statement);
    // Two rows and a half at a time.
    const text = Buffer.from(rows.map(line).join(''));
    const step = Math.ceil(line(0).length * 2.5);
    let at = 0;
    return Promise.resolve({
      next: () => {
        if (at / line(0).length >= this.failsAt) return Promise.reject(new Error('connection lost'));
        const piece = text.subarray(at, (at += step));
        return Promise.resolve(piece.length > 0 ? piece : undefined);
      },
      end: () => {
        statement.state = 'ended';
        return Promise.resolve(rows.length + this.lost);
      },
      giveUp: () => void (statement.state = 'given up'),
    });
  };
}

/** The rows of the next part as they were appended, and what the reader says of them. */
async function next(reader: PartReader, rows: number) {
  const pieces: Buffer[] = [];
  const part = await reader.next({ rows, bytes: 1e9 }, (piece) => void pieces.push(piece), never);
  if (!part) return undefined;
  const appended = Buffer.concat(pieces)
    .toString()
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => Number(/[0-9a-f](\d\d)\tx$/.exec(one)?.[1]));
  expect([part.rows, numberOf(part.firstKey), numberOf(part.lastKey)]).toEqual([
    appended.length,
    appended[0],
    appended.at(-1),
  ]);
  return appended;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

describe('part files', () => {
  it.each([
    [25, 7],
    [25, 5],
    [25, 100],
    [21, 3],
    [20, 5],
  ])('of %d rows are the same whatever number of rows a statement fetches: %d at once', async (total, atOnce) => {
    const source = new Source(total, atOnce);
    const reader = new PartReader(null, atOnce, source.open);
    const parts: number[][] = [];
    for (let part = await next(reader, 5); part; part = await next(reader, 5)) parts.push(part);
    reader.close();
    expect(parts).toEqual(
      Array.from({ length: Math.ceil(total / 5) }, (_, n) => range(n * 5, Math.min(total, n * 5 + 5))),
    );
    expect(source.statements.every(({ state }) => state === 'ended')).toBe(true);
  });

  it('begin after a given key', async () => {
    const source = new Source(10, 100);
    const reader = new PartReader(
      { startTime: '2026-11-21T00:00:06.000000+00:00', runId: `${ID}06` },
      100,
      source.open,
    );
    expect(await next(reader, 5)).toEqual([7, 8, 9]);
    expect(await next(reader, 5)).toBeUndefined();
  });

  it('are none when there are no rows', async () => {
    const reader = new PartReader(null, 100, new Source(0, 100).open);
    expect(await next(reader, 5)).toBeUndefined();
  });

  it('close a statement that is not being read, and resume after the last part file', async () => {
    jest.useFakeTimers();
    try {
      const source = new Source(12, 100);
      const reader = new PartReader(null, 100, source.open);
      expect(await next(reader, 5)).toEqual(range(0, 5));
      jest.advanceTimersByTime(60_000);
      expect(source.statements).toEqual([{ after: -1, state: 'given up' }]);
      expect(await next(reader, 5)).toEqual(range(5, 10));
      expect(await next(reader, 5)).toEqual([10, 11]);
      expect(source.statements.slice(1)).toEqual([{ after: 4, state: 'ended' }]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('leave no statement open when reading fails or they are closed', async () => {
    const source = new Source(20, 100);
    const reader = new PartReader(null, 100, source.open);
    await next(reader, 5);
    reader.close();
    source.failsAt = 2;
    await expect(next(reader, 5)).rejects.toThrow('connection lost');
    expect(source.statements.map(({ state }) => state)).toEqual(['given up', 'given up']);
  });

  it('are refused when fewer rows arrive than the server has sent', async () => {
    const source = new Source(3, 100);
    source.lost = 1;
    await expect(next(new PartReader(null, 100, source.open), 5)).rejects.toThrow('3 of 4 rows arrived');
  });
});
