import { PartCutter } from './part-cutter';

const ID = '8e5b048d-c03d-447a-a4b0-6b2411f4646';
const row = (n: number, length: number): string =>
  `2026-11-21 00:00:0${n}.00${n}+00\t${ID}${n}\t${'x'.repeat(length)}\n`;
const key = (n: number) => ({ startTime: `2026-11-21T00:00:0${n}.00${n}000+00:00`, runId: `${ID}${n}` });

/** @returns the rows of each part, and what is left when the pieces are used up */
function cut(rows: string[], pieceBytes: number, limit: { rows: number; bytes: number }) {
  const data = Buffer.from(rows.join(''));
  const parts: PartCutter[] = [];
  let part = new PartCutter(limit);
  for (let from = 0; from < data.length; from += pieceBytes) {
    let piece = data.subarray(from, from + pieceBytes);
    while (piece.length > 0) {
      piece = piece.subarray(part.take(piece));
      if (!part.isFull) continue;
      parts.push(part);
      part = new PartCutter(limit);
    }
  }
  if (part.rows > 0) parts.push(part);
  return parts.map(({ rows: count, bytes, longest, firstKey, lastKey }) => ({
    rows: count,
    bytes,
    longest,
    firstKey,
    lastKey,
  }));
}

describe('the end of a part file', () => {
  const rows = [0, 1, 2, 3, 4, 5, 6].map((n) => row(n, n === 3 ? 500 : 10));
  const short = rows[0].length;
  const long = rows[3].length;

  it.each([1, 7, 64, 100, 1_000, 100_000])('is the same when the input arrives in pieces of %d bytes', (pieceBytes) => {
    expect(cut(rows, pieceBytes, { rows: 2, bytes: 10_000 })).toEqual([
      { rows: 2, bytes: 2 * short, longest: short, firstKey: key(0), lastKey: key(1) },
      { rows: 2, bytes: short + long, longest: long, firstKey: key(2), lastKey: key(3) },
      { rows: 2, bytes: 2 * short, longest: short, firstKey: key(4), lastKey: key(5) },
      { rows: 1, bytes: short, longest: short, firstKey: key(6), lastKey: key(6) },
    ]);
    expect(cut(rows, pieceBytes, { rows: 100, bytes: 3 * short + 1 })).toEqual([
      { rows: 4, bytes: 3 * short + long, longest: long, firstKey: key(0), lastKey: key(3) },
      { rows: 3, bytes: 3 * short, longest: short, firstKey: key(4), lastKey: key(6) },
    ]);
  });

  it('follows the first row when this row alone reaches the limit', () => {
    expect(cut(rows, 64, { rows: 100, bytes: 1 })).toHaveLength(7);
  });

  it('requires rows that begin with their key', () => {
    const part = new PartCutter({ rows: 1, bytes: 1 });
    part.take(Buffer.from('something else\n'));
    expect(() => part.lastKey).toThrow('does not begin with its key');
  });

  it('handles instants without a fraction, and rows that consist of their key only', () => {
    const part = new PartCutter({ rows: 1, bytes: 1 });
    part.take(Buffer.from(`2026-11-21 09:30:00+00\t${ID}1\n`));
    expect(part.firstKey.startTime).toBe('2026-11-21T09:30:00.000000+00:00');
  });
});
