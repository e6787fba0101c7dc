import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { Injectable, OnModuleDestroy } from '@nestjs/common';
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { ColumnType, ExportColumn } from './export-columns';
import type { CreateExport } from './exports.schemas';

const MIB = 1024 * 1024;
/** Held in memory until it is written: at 2 KB a row about 20 MB. */
const ROW_GROUP_ROWS = 10_240;
/** Several parts at once share this. */
const MEMORY_LIMIT_MB = 160;
/** What a part has used is given back to the system soon, and not kept for the next one. */
const FLUSH_THRESHOLD = '8MB';
/** The reader's buffers, unless a row is larger: a row that doesn't fit into one is read wrongly. */
const BUFFER_BYTES = 4 * MIB;
/** Rows that need larger buffers need memory for several of them. */
const BUFFERS = 8;
/** A part that is larger than parts are by default (a row is never split) is held several times while it is written. */
const USUAL_BYTES = 40 * MIB;
const COPIES = 5;

/** The host is part of the name: containers may share the place and not the process ids. */
const DIRECTORY = `gantry-export-${hostname().replaceAll('-', '')}-`;

/** As the columns stand in the CSV. Instants are microseconds since the epoch. */
const CSV_TYPES: Record<ColumnType, string> = {
  text: 'VARCHAR',
  timestamp: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(38, 12)',
  integer: 'BIGINT',
  boolean: 'BOOLEAN',
};

const CODECS: Record<CreateExport['compression'], string> = {
  none: 'UNCOMPRESSED',
  gzip: 'GZIP',
  snappy: 'SNAPPY',
  zstandard: 'ZSTD',
};

/** Rows that wait to be encoded, in a file. */
export interface SpooledPart {
  path: string;
  rows: number;
  rowBytes: number;
}

/** A part could not be made into a Parquet file. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
}

/**
 * Writes Parquet files with DuckDB. The same rows give the same bytes: one thread, rows in the order in which they come,
 * row groups of a fixed number of rows. Rows come as CSV in a file: none of them passes through JavaScript as a value.
 */
@Injectable()
export class ParquetEncoder implements OnModuleDestroy {
  private opened: Promise<{ instance: DuckDBInstance; directory: string }> | undefined;
  private sequence = 0;
  private extraMb = 0;

  /**
   * Takes rows in, as PostgreSQL writes CSV (NULL is nothing, the empty text is "").
   * @returns the path of what was written, for `encode` or `discard`
   */
  async spool(write: (into: Writable) => Promise<void>): Promise<string> {
    const { directory } = await this.open();
    const path = join(directory, `part_${(this.sequence += 1)}.csv`);
    try {
      await write(createWriteStream(path, { highWaterMark: MIB }));
      return path;
    } catch (error) {
      await this.discard(path);
      throw error;
    }
  }

  async discard(spooled: string): Promise<void> {
    await rm(spooled, { force: true });
  }

  /**
   * Makes a Parquet file of what was spooled, which is gone afterwards.
   * @param part.rowBytes at least the length of the longest row as CSV
   * @param part.rows how many rows were spooled
   */
  async encode(
    columns: ExportColumn[],
    part: SpooledPart,
    compression: CreateExport['compression'],
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { instance } = await this.open();
    const path = `${part.path}.parquet`;
    const connection = await instance.connect();
    const interrupt = (): void => connection.interrupt();
    signal.addEventListener('abort', interrupt);
    try {
      signal.throwIfAborted();
      const { size } = await stat(part.path);
      const bufferBytes = Math.max(BUFFER_BYTES, Math.min(part.rowBytes, size) + 1);
      const extraBytes =
        (bufferBytes > BUFFER_BYTES ? bufferBytes * BUFFERS : 0) + Math.max(0, size - USUAL_BYTES) * COPIES;
      const rows = await this.withMemory(connection, extraBytes, () =>
        copyCsv(connection, columns, part.path, path, compression, bufferBytes),
      );
      if (rows !== part.rows) throw new EncodingError(`${rows} of ${part.rows} rows came out of the Parquet writer`);
      return await readFile(path);
    } catch (error) {
      // DuckDB says "interrupted" in its own words; the reason is the signal's.
      signal.throwIfAborted();
      throw withoutRows(error);
    } finally {
      signal.removeEventListener('abort', interrupt);
      connection.closeSync();
      await Promise.all([rm(path, { force: true }), this.discard(part.path)]);
    }
  }

  async onModuleDestroy(): Promise<void> {
    if (!this.opened) return;
    const { instance, directory } = await this.opened;
    instance.closeSync();
    await rm(directory, { recursive: true, force: true });
  }

  /** Gives what large parts need, for as long as they are at work. */
  private async withMemory<T>(connection: DuckDBConnection, extraBytes: number, work: () => Promise<T>): Promise<T> {
    if (extraBytes === 0) return work();
    const extraMb = Math.ceil(extraBytes / MIB);
    this.extraMb += extraMb;
    await connection.run(`SET memory_limit = '${MEMORY_LIMIT_MB + this.extraMb}MB'`);
    try {
      return await work();
    } finally {
      this.extraMb -= extraMb;
      await connection.run(`SET memory_limit = '${MEMORY_LIMIT_MB + this.extraMb}MB'`);
    }
  }

  private open(): Promise<{ instance: DuckDBInstance; directory: string }> {
    this.opened ??= (async () => {
      await removeLeftovers();
      const directory = await mkdtemp(join(tmpdir(), `${DIRECTORY}${process.pid}-`));
      const instance = await DuckDBInstance.create(':memory:', {
        threads: '1',
        memory_limit: `${MEMORY_LIMIT_MB}MB`,
        allocator_flush_threshold: FLUSH_THRESHOLD,
        allocator_bulk_deallocation_flush_threshold: FLUSH_THRESHOLD,
        temp_directory: join(directory, 'spill'),
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
      });
      return { instance, directory };
    })();
    return this.opened;
  }
}

/** A worker that was killed left its directory behind: the name tells whose it was. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(DIRECTORY) ? Number(name.slice(DIRECTORY.length).split('-')[0]) : NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function copyCsv(
  connection: DuckDBConnection,
  columns: ExportColumn[],
  from: string,
  to: string,
  compression: CreateExport['compression'],
  bufferBytes: number,
): Promise<number> {
  const types = columns.map(({ name, type }) => `'${name}': '${CSV_TYPES[type]}'`);
  const values = columns.map(({ name, type }) =>
    type === 'timestamp' ? `make_timestamptz("${name}") AS "${name}"` : `"${name}"`,
  );
  const result = await connection.runAndReadAll(
    `COPY (
       SELECT ${values.join(', ')} FROM read_csv('${from}', columns = {${types.join(', ')}}, auto_detect = false,
         header = false, delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '',
         allow_quoted_nulls = false, parallel = false, max_line_size = ${bufferBytes}, buffer_size = ${bufferBytes})
     ) TO '${to}' (FORMAT parquet, COMPRESSION ${CODECS[compression]}, ROW_GROUP_SIZE ${ROW_GROUP_ROWS})`,
  );
  return Number(result.getRows()[0]?.[0] ?? 0);
}

/** DuckDB quotes the row that it could not read: users' data, which belongs in no error and no log. */
function withoutRows(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof EncodingError ? error : new EncodingError(message.split('\n', 1)[0].slice(0, 200));
}
