import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, OnModuleDestroy } from '@nestjs/common';
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  DuckDBType,
  DuckDBValue,
  TIMESTAMPTZ,
  VARCHAR,
} from '@duckdb/node-api';
import { ColumnType, ExportColumn } from './export-columns';
import type { CreateExport } from './exports.schemas';
import type { RowValues } from './trace-reader';

/** A chunk blocks this thread while it is filled: small ones cost little more and let others in between. */
const CHUNK_ROWS = 512;
/** Held in memory until it is written: at 2 KB a row about 20 MB. */
const ROW_GROUP_ROWS = 10_240;
/** Several parts at once share this; what doesn't fit spills to the temporary directory. */
const MEMORY_LIMIT = '160MB';
/** What a part has used is given back to the system soon, and not kept for the next one. */
const FLUSH_THRESHOLD = '8MB';

/** The host is part of the name: containers may share the place and not the process ids. */
const DIRECTORY = `gantry-export-${hostname().replaceAll('-', '')}-`;

const DUCKDB_TYPES: Record<ColumnType, DuckDBType> = {
  text: VARCHAR,
  timestamp: TIMESTAMPTZ,
  double: DOUBLE,
  integer: BIGINT,
  boolean: BOOLEAN,
};

const CODECS: Record<CreateExport['compression'], string> = {
  none: 'UNCOMPRESSED',
  gzip: 'GZIP',
  snappy: 'SNAPPY',
  zstandard: 'ZSTD',
};

export interface EncodedPart {
  rows: number;
  file: Buffer;
}

/**
 * Writes Parquet files with DuckDB. The same rows give the same bytes: one thread, rows in the order in which they come,
 * row groups of a fixed number of rows.
 */
@Injectable()
export class ParquetEncoder implements OnModuleDestroy {
  private opened: Promise<{ instance: DuckDBInstance; directory: string }> | undefined;
  private sequence = 0;

  async encode(
    columns: ExportColumn[],
    pages: AsyncIterable<RowValues[]>,
    compression: CreateExport['compression'],
    signal: AbortSignal,
  ): Promise<EncodedPart> {
    const { instance, directory } = await this.open();
    const name = `part_${(this.sequence += 1)}`;
    const path = join(directory, `${name}.parquet`);
    const connection = await instance.connect();
    const interrupt = (): void => connection.interrupt();
    signal.addEventListener('abort', interrupt);
    try {
      const types = columns.map(({ type }) => DUCKDB_TYPES[type]);
      const definitions = columns.map((column, index) => `"${column.name}" ${String(types[index])}`);
      await connection.run(`CREATE TABLE ${name} (${definitions.join(', ')})`);
      const rows = await this.append(connection, name, columns, types, pages);
      signal.throwIfAborted();
      await connection.run(
        `COPY ${name} TO '${path}' (FORMAT parquet, COMPRESSION ${CODECS[compression]}, ROW_GROUP_SIZE ${ROW_GROUP_ROWS})`,
      );
      return { rows, file: await readFile(path) };
    } catch (error) {
      // DuckDB says "interrupted" in its own words; the reason is the signal's.
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', interrupt);
      await connection.run(`DROP TABLE IF EXISTS ${name}`);
      connection.closeSync();
      await rm(path, { force: true });
    }
  }

  async onModuleDestroy(): Promise<void> {
    if (!this.opened) return;
    const { instance, directory } = await this.opened;
    instance.closeSync();
    await rm(directory, { recursive: true, force: true });
  }

  private async append(
    connection: DuckDBConnection,
    table: string,
    columns: ExportColumn[],
    types: DuckDBType[],
    pages: AsyncIterable<RowValues[]>,
  ): Promise<number> {
    const appender = await connection.createAppender(table);
    let rows = 0;
    try {
      for await (const page of pages) {
        for (let from = 0; from < page.length; from += CHUNK_ROWS) {
          const slice = page.slice(from, from + CHUNK_ROWS);
          const chunk = DuckDBDataChunk.create(types, slice.length);
          chunk.setColumns(columns.map(({ type }, index) => slice.map((row) => toDuckDb(type, row[index]))));
          appender.appendDataChunk(chunk);
          rows += slice.length;
          // Appending is done on this thread, which has heartbeats and other work to see to.
          await nextTurn();
        }
      }
    } finally {
      appender.closeSync();
    }
    return rows;
  }

  private open(): Promise<{ instance: DuckDBInstance; directory: string }> {
    this.opened ??= (async () => {
      await removeLeftovers();
      const directory = await mkdtemp(join(tmpdir(), `${DIRECTORY}${process.pid}-`));
      const instance = await DuckDBInstance.create(':memory:', {
        threads: '1',
        memory_limit: MEMORY_LIMIT,
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

function toDuckDb(type: ColumnType, value: unknown): DuckDBValue {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'timestamp':
      return new DuckDBTimestampTZValue(BigInt(value as string));
    case 'integer':
      return BigInt(value as string);
    default:
      return value as DuckDBValue;
  }
}
