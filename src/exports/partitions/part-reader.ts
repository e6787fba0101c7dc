import { addAbortSignal } from 'node:stream';
import { DatabaseError, type PoolClient } from 'pg';
import { to as copyTo, type CopyToStreamQuery } from 'pg-copy-streams';
import { cutConnection } from '../../patches/pg/connection';
import { exportFailures } from '../export-failure';
import type { Append } from '../parquet/parquet-encoder';
import { PartCutter, PartLimit } from './part-cutter';
import type { RowKey } from './row-selection';

/** Time after which a statement whose rows are not read is abandoned: the next one begins after the last row that was read. */
const IDLE_MS = 5_000;
/** Read ahead while rows are being written to a file. */
const READ_AHEAD_BYTES = 512 * 1024;

/** Content of a part. */
export interface PartRows {
  rows: number;
  /** The bytes of the longest row. */
  rowBytes: number;
  firstKey: RowKey;
  lastKey: RowKey;
}

/** The rows of one statement, as PostgreSQL's text, in pieces of any length. */
export interface Rows {
  /** The next piece; undefined after the last one. */
  next(): Promise<Buffer | undefined>;
  /** Releases the connection after the last piece. @returns how many rows the server has sent */
  end(): Promise<number>;
  /** Called instead of `end` if the rest is not read. */
  giveUp(): void;
}

/** The failure of reading rows. Errors of the connection name the address of the database, which users need not see. */
export function unreadable(error: unknown): Error {
  if (error instanceof DatabaseError) return error;
  return exportFailures.notRead('it could not be reached, or the connection was lost', error);
}

/** A running COPY. */
export class RowStream implements Rows {
  private readonly pieces: Buffer[] = [];
  private waitingBytes = 0;
  private hasEnded = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;
  private isOver = false;

  /** Pieces are used as they arrive: the usual way of reading would join them first, with twice the memory. */
  private constructor(
    private readonly client: PoolClient,
    private readonly release: (error?: unknown) => void,
    private readonly stream: CopyToStreamQuery,
  ) {
    stream.on('data', (piece: Buffer) => {
      this.pieces.push(piece);
      this.waitingBytes += piece.length;
      if (this.waitingBytes >= READ_AHEAD_BYTES) stream.pause();
      this.wake?.();
    });
    stream.on('end', () => {
      this.hasEnded = true;
      this.wake?.();
    });
    stream.on('error', (error) => {
      this.failure = unreadable(error);
      this.wake?.();
    });
  }

  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.failure) throw this.failure;
      const piece = this.pieces.shift();
      if (piece) {
        this.waitingBytes -= piece.length;
        if (this.pieces.length === 0) this.stream.resume();
        return piece;
      }
      if (this.hasEnded) return undefined;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** @param begin opens the transaction in which `copy` runs */
  static async begin(
    client: PoolClient,
    release: (error?: unknown) => void,
    begin: string,
    copy: string,
    signal: AbortSignal,
  ): Promise<RowStream> {
    try {
      await client.query(begin);
      return new RowStream(client, release, addAbortSignal(signal, client.query(copyTo(copy))));
    } catch (error) {
      release(error);
      throw unreadable(error);
    }
  }

  async end(): Promise<number> {
    this.isOver = true;
    try {
      // The count arrives after the last row, so it is known once the connection is ready again.
      await this.client.query('COMMIT');
    } catch (error) {
      this.release(error);
      throw unreadable(error);
    }
    this.release();
    return this.stream.rowCount;
  }

  /**
   * Cuts the connection, which can't be reused after an abort in the middle. A server that still sends rows would not read a
   * proper close, and would keep its snapshot until they are read.
   */
  giveUp(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stream.destroy();
    this.release(new Error('The rest of the rows is not read'));
    cutConnection(this.client);
  }
}

/**
 * Reads part after part. A statement may bring rows of several parts, and a part may come from several statements: the rows of
 * a part depend only on its first row and the limits.
 */
export class PartReader {
  private stream: Rows | undefined;
  private rowsOfStream = 0;
  /** Received rows that belong to the next part. */
  private rest: Buffer | undefined;
  private hasMore = true;
  private idle: NodeJS.Timeout | undefined;

  /** @param open the rows after a key, at most `rowsAtOnce` of them */
  constructor(
    private after: RowKey | null,
    private readonly rowsAtOnce: number,
    private readonly open: (after: RowKey | null, signal: AbortSignal) => Promise<Rows>,
  ) {}

  /**
   * Reads the next part and hands it to `append`, in PostgreSQL's text format.
   * @returns undefined when there are no more rows
   */
  async next(limit: PartLimit, append: Append, signal: AbortSignal): Promise<PartRows | undefined> {
    clearTimeout(this.idle);
    const part = new PartCutter(limit);
    try {
      while (!part.isFull && this.hasMore) {
        signal.throwIfAborted();
        this.stream ??= await this.open(part.rows > 0 ? part.lastKey : this.after, signal);
        await this.fill(part, this.stream, append);
      }
    } catch (error) {
      this.close();
      throw error;
    }
    if (part.rows === 0) return undefined;
    this.after = part.lastKey;
    if (this.stream) this.idle = setTimeout(() => this.close(), IDLE_MS).unref();
    return { rows: part.rows, rowBytes: part.longest, firstKey: part.firstKey, lastKey: part.lastKey };
  }

  /** Releases the connection; `next` takes another one. */
  close(): void {
    clearTimeout(this.idle);
    this.stream?.giveUp();
    this.forget();
  }

  /** Reads until the part is full or the statement has no more rows. */
  private async fill(part: PartCutter, stream: Rows, append: Append): Promise<void> {
    while (!part.isFull) {
      const piece = this.rest ?? (await stream.next());
      if (!piece) {
        const sent = await stream.end();
        if (sent !== this.rowsOfStream) {
          throw exportFailures.notRead(`${this.rowsOfStream} of ${sent} rows arrived`, undefined);
        }
        this.hasMore = sent === this.rowsAtOnce;
        this.forget();
        return;
      }
      const rows = part.rows;
      const length = part.take(piece);
      this.rowsOfStream += part.rows - rows;
      this.rest = length < piece.length ? piece.subarray(length) : undefined;
      await append(piece.subarray(0, length));
    }
  }

  private forget(): void {
    this.stream = undefined;
    this.rest = undefined;
    this.rowsOfStream = 0;
  }
}
