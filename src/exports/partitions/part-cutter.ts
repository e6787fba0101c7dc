import type { RowKey } from './row-selection';

/** End of a row in PostgreSQL's text format; line feeds within values are escaped. */
const LINE_FEED = 0x0a;
/** Enough for the key, with which each row begins: an instant with microseconds, a tab, an id, a tab or the end. */
const HEAD_BYTES = 80;
const KEY = /^(\d+-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00\t([0-9a-f-]{36})[\t\n]/;

export interface PartLimit {
  rows: number;
  bytes: number;
}

/**
 * Finds the end of a part in a stream of rows, in pieces of any length. A part ends with the row that reaches a limit, so its
 * content depends only on its first row and the limits, not on the pieces.
 */
export class PartCutter {
  rows = 0;
  bytes = 0;
  /** The bytes of the longest row. */
  longest = 0;
  private first: Buffer | undefined;
  private last: Buffer | undefined;
  /** The incomplete row: its length so far, and its beginning. */
  private openBytes = 0;
  private openHead: Buffer | undefined;

  constructor(private readonly limit: PartLimit) {}

  get isFull(): boolean {
    return this.rows >= this.limit.rows || this.bytes >= this.limit.bytes;
  }

  get firstKey(): RowKey {
    return keyOf(this.first);
  }

  get lastKey(): RowKey {
    return keyOf(this.last);
  }

  /** @returns how many bytes of the piece belong to the part: fewer than it has when the part is full */
  take(piece: Buffer): number {
    let start = 0;
    while (!this.isFull && start < piece.length) {
      const end = piece.indexOf(LINE_FEED, start) + 1;
      if (end === 0) {
        this.openHead = this.headOf(piece, start, piece.length);
        this.openBytes += piece.length - start;
        return piece.length;
      }
      this.last = this.headOf(piece, start, end);
      this.first ??= this.last;
      const length = this.openBytes + end - start;
      this.openHead = undefined;
      this.openBytes = 0;
      this.rows += 1;
      this.bytes += length;
      if (length > this.longest) this.longest = length;
      start = end;
    }
    return start;
  }

  private headOf(piece: Buffer, start: number, end: number): Buffer {
    const open = this.openHead;
    if (!open) return piece.subarray(start, Math.min(end, start + HEAD_BYTES));
    const missing = HEAD_BYTES - open.length;
    return missing > 0 ? Buffer.concat([open, piece.subarray(start, Math.min(end, start + missing))]) : open;
  }
}

function keyOf(head: Buffer | undefined): RowKey {
  const match = KEY.exec(head?.toString('latin1') ?? '');
  if (!match) throw new Error('A row of an export does not begin with its key');
  const [, day, time, fraction = '', runId] = match;
  return { startTime: `${day}T${time}.${fraction.padEnd(6, '0')}+00:00`, runId };
}
