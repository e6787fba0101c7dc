import './duckdb-allocator';
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, OnModuleDestroy } from '@nestjs/common';
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { EncodingError } from './encoding-error';
import { ColumnType, ExportColumn, readColumns } from './export-columns';
import type { CreateExport } from '../api/exports.schemas';

const MIB = 1024 * 1024;
/** Held in memory until it is written: at 2 KB a row about 20 MB. */
const ROW_GROUP_ROWS = 10_240;
/** Memory that is shared by all parts in progress. */
const MEMORY_LIMIT_MB = 160;
/** Freed memory that is kept: returning it in smaller pieces costs a sixth of the time in page faults. */
const FLUSH_THRESHOLD = '64MB';
/** Size of the reader's buffers, unless a row is larger: a row that doesn't fit into one is misread. */
const BUFFER_BYTES = 4 * MIB;
/** Rows that need larger buffers need memory for several of them. */
const BUFFERS = 8;
/** A part that is larger than parts are by default (a row is never split) is held several times while it is written. */
const USUAL_BYTES = 40 * MIB;
const COPIES = 5;

/** The name contains the host, since containers may share the directory but not the process ids. */
const DIRECTORY = `gantry-export-${hostname().replaceAll('-', '')}-`;
/** Begins the names of this process's directories. In a container the process before this one had the same id. */
const OWN_DIRECTORY = `${DIRECTORY}${process.pid}-${randomBytes(4).toString('hex')}-`;

const TYPES: Record<ColumnType, string> = {
  text: 'VARCHAR',
  timestamp: 'TIMESTAMPTZ',
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

/** Characters that PostgreSQL's text format writes as a backslash and a letter. */
const ESCAPED = { b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
/**
 * The unescaped value. A NUL, which is no character of PostgreSQL's texts, stands for the backslash until everything else is
 * undone.
 */
const AS_SENT = `CREATE MACRO as_sent(x) AS CASE WHEN contains(x, '\\') THEN replace(${Object.entries(ESCAPED).reduce(
  (value, [letter, code]) => `replace(${value}, '\\${letter}', chr(${code}))`,
  `replace(x, '\\\\', chr(0))`,
)}, chr(0), '\\') ELSE x END`;

/** PostgreSQL's text of an array of ids, `{a,b}`, as JSON. */
const JSON_IDS = `CREATE MACRO json_ids(x) AS
  CASE WHEN x = '{}' THEN '[]' ELSE replace(replace(replace(x, '{', '["'), '}', '"]'), ',', '","') END`;

/** A file with rows that wait to be encoded. */
export interface SpooledPart {
  path: string;
  rows: number;
  /** The bytes of the longest row. */
  rowBytes: number;
}

/** Resolves when the next piece may come. */
export type Append = (piece: Buffer) => Promise<void> | undefined;

/** The database in memory that encodes, and the directory of its files. */
export interface OpenEncoder {
  instance: DuckDBInstance;
  directory: string;
}

/**
 * Writes Parquet files with DuckDB. The same rows give the same bytes: one thread, rows in the order in which they come,
 * row groups of a fixed number of rows. Rows come as PostgreSQL's text in a file: none of them passes through JavaScript
 * as a value. In that format line feeds and tabs are nothing but the ends of rows and values, so nothing is quoted, which
 * is what makes CSV slow to read.
 */
@Injectable()
export class ParquetEncoder implements OnModuleDestroy {
  private opened: Promise<OpenEncoder> | undefined;
  private sequence = 0;
  private extraMb = 0;

  /**
   * Spools rows in PostgreSQL's text format, with the columns of `readColumns`.
   * @returns what `write` has, and the path of what it appended, for `encode` or `discard`
   */
  async spool<T>(write: (append: Append) => Promise<T>): Promise<{ path: string; written: T }> {
    const { directory } = await onDisk(this.open());
    const path = join(directory, `part_${(this.sequence += 1)}.tsv`);
    const file = await onDisk(open(path, 'wx'));
    try {
      const spool = new Spool(file);
      const written = await write((piece) => spool.append(piece));
      await spool.flush();
      return { path, written };
    } catch (error) {
      await this.discard(path);
      throw error;
    } finally {
      await file.close();
    }
  }

  async discard(spooled: string): Promise<void> {
    await rm(spooled, { force: true });
  }

  /**
   * Encodes the spooled rows as a Parquet file, and deletes them.
   * @param part.rowBytes at least the length of the longest row
   * @param part.rows how many rows were spooled
   */
  async encode(
    columns: ExportColumn[],
    part: SpooledPart,
    compression: CreateExport['compression'],
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { instance, directory } = await this.open();
    const path = `${part.path}.parquet`;
    const connection = await instance.connect();
    const interrupt = (): void => connection.interrupt();
    signal.addEventListener('abort', interrupt);
    try {
      signal.throwIfAborted();
      const { size } = await onDisk(stat(part.path));
      const bufferBytes = Math.max(BUFFER_BYTES, Math.min(part.rowBytes, size) + 1);
      const extraBytes =
        (bufferBytes > BUFFER_BYTES ? bufferBytes * BUFFERS : 0) + Math.max(0, size - USUAL_BYTES) * COPIES;
      const rows = await this.withMemory(connection, extraBytes, () =>
        copyRows(connection, columns, part.path, path, compression, bufferBytes),
      );
      if (rows !== part.rows) throw new EncodingError(`${rows} of ${part.rows} rows came out of the Parquet writer`);
      return await onDisk(readFile(path));
    } catch (error) {
      // DuckDB only reports an interruption; the reason is that of the signal.
      signal.throwIfAborted();
      throw withoutDetails(error, directory);
    } finally {
      signal.removeEventListener('abort', interrupt);
      connection.closeSync();
      await Promise.all([rm(path, { force: true }), this.discard(part.path)]);
    }
  }

  async onModuleDestroy(): Promise<void> {
    const opened = await this.opened?.catch(() => undefined);
    if (!opened) return;
    opened.instance.closeSync();
    await rm(opened.directory, { recursive: true, force: true });
  }

  /** Raises DuckDB's memory limit while large parts are being encoded. */
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

  /** Opens the database for the first part; after a failure, the next part tries it again. */
  private open(): Promise<OpenEncoder> {
    this.opened ??= this.create().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  protected async create(): Promise<OpenEncoder> {
    await removeLeftovers();
    const directory = await mkdtemp(join(tmpdir(), OWN_DIRECTORY));
    const instance = await DuckDBInstance.create(':memory:', {
      threads: '1',
      memory_limit: `${MEMORY_LIMIT_MB}MB`,
      allocator_flush_threshold: FLUSH_THRESHOLD,
      allocator_bulk_deallocation_flush_threshold: FLUSH_THRESHOLD,
      temp_directory: join(directory, 'spill'),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    await connection.run(AS_SENT);
    await connection.run(JSON_IDS);
    connection.closeSync();
    return { instance, directory };
  }
}

/** Pieces are as small as the network made them, and are written many at once. */
class Spool {
  private pieces: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly file: FileHandle) {}

  append(piece: Buffer): Promise<void> | undefined {
    this.pieces.push(piece);
    this.bytes += piece.length;
    return this.bytes < MIB ? undefined : this.flush();
  }

  async flush(): Promise<void> {
    const { pieces, bytes } = this;
    this.pieces = [];
    this.bytes = 0;
    if (bytes === 0) return;
    const { bytesWritten } = await onDisk(this.file.writev(pieces));
    if (bytesWritten < bytes) throw new EncodingError('There is no room for the rows of a part where they wait');
  }
}

/** Waits for the worker's disk. Its errors have a code, and a path that must not get into the errors of exports. */
async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new EncodingError(code ? `the worker's disk failed (${code})` : message, { cause: error });
  }
}

/** Removes the directories that killed workers have left. Another user's can't be removed. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(DIRECTORY) || isInUse(name)) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isInUse(directory: string): boolean {
  const pid = Number(directory.slice(DIRECTORY.length).split('-')[0]);
  return pid === process.pid ? directory.startsWith(OWN_DIRECTORY) : !Number.isInteger(pid) || isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function copyRows(
  connection: DuckDBConnection,
  columns: ExportColumn[],
  from: string,
  to: string,
  compression: CreateExport['compression'],
  bufferBytes: number,
): Promise<number> {
  const types = readColumns(columns).map(({ name, type }) => `'${name}': '${TYPES[type]}'`);
  const values = columns.map((column) => `${valueOf(column)} AS "${column.name}"`);
  const result = await connection.runAndReadAll(
    `COPY (
       SELECT ${values.join(', ')} FROM read_csv('${from}', columns = {${types.join(', ')}}, auto_detect = false,
         header = false, delim = '\t', quote = '', escape = '', new_line = '\\n', nullstr = '\\N',
         parallel = false, max_line_size = ${bufferBytes}, buffer_size = ${bufferBytes})
     ) TO '${to}' (FORMAT parquet, COMPRESSION ${CODECS[compression]}, ROW_GROUP_SIZE ${ROW_GROUP_ROWS})`,
  );
  return Number(result.getRows()[0]?.[0] ?? 0);
}

function valueOf({ name, type, form, constant }: ExportColumn): string {
  if (constant !== undefined) return `'${constant.replaceAll("'", "''")}'`;
  if (form === 'id list') return `json_ids("${name}")`;
  return type === 'text' && form !== 'id' ? `as_sent("${name}")` : `"${name}"`;
}

/**
 * DuckDB quotes the row that it could not read, which is users' data, and the path of a file that it could not write,
 * which contains the host's name: neither must get into the errors of exports.
 */
function withoutDetails(error: unknown, directory: string): Error {
  if (error instanceof EncodingError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new EncodingError(message.split('\n', 1)[0].replaceAll(directory, '…').slice(0, 200));
}
