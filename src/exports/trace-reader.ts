import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import type { TenantId } from '../auth/tenant';
import { parseFilter } from '../traces/filter/filter-parser';
import { filterToSql } from '../traces/filter/filter-sql';
import { SqlParams } from '../traces/filter/sql-params';
import { ExportColumn } from './export-columns';
import type { DayCount } from './export-runs.repository';
import { isoText } from './exports.repository';
import { SqlLiterals } from './sql-literals';

/** The place of a row in the order of an export. The instant is ISO text with its microseconds. */
export interface RowKey {
  startTime: string;
  runId: string;
}

/** Which rows: a project's in a window, received up to the watermark, that the filter lets through. */
export interface RowSelection {
  projectId: string;
  startTime: string;
  endTime: string;
  watermark: string;
  /** Only rows that arrived or changed after this moment; null for all. */
  changedAfter: string | null;
  filter: string | null;
}

/** A stretch of rows after a key up to its last one, small enough for one file. */
export interface PartPlan {
  rows: number;
  firstKey: RowKey;
  lastKey: RowKey;
  /** At least the length of the longest of them as CSV. */
  rowBytes: number;
}

/** What every row weighs beside its texts: numbers, instants and ids. */
const ROW_OVERHEAD_BYTES = 600;
/** Rows that are weighed at first; twice as many each time that they all fit. */
const GUESS_ROWS = 4_096;
/** A batch of traces is written within seconds; what takes longer is something else, and isn't waited for. */
const WRITERS_MS = 10_000;
const WRITERS_POLL_MS = 50;

/**
 * Reads traces for exports, in the order of (start_time, run_id). A part is first measured (stored lengths, no values)
 * and then read up to a fixed key: how much is held depends on the part's bounds alone, not on the export's size.
 */
@Injectable()
export class TraceReader {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * The database's time, up to which rows count. A row's time of receipt is the start of its transaction, so those that
   * are being written now are waited for: whatever was received before the watermark can be seen from here on.
   */
  async watermark(signal: AbortSignal): Promise<string> {
    const [{ now }] = await this.database.query<[{ now: string }]>(`SELECT ${isoText('clock_timestamp()')} AS now`);
    const deadline = Date.now() + WRITERS_MS;
    while (Date.now() < deadline) {
      const writers = await this.database.query<unknown[]>(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND backend_xid IS NOT NULL AND xact_start <= $1 AND pid <> pg_backend_pid()
         LIMIT 1`,
        [now],
      );
      if (writers.length === 0) break;
      await sleep(WRITERS_POLL_MS, undefined, { signal });
    }
    return now;
  }

  /** Rows by UTC day; days without rows are absent. */
  countDays(tenantId: TenantId, selection: RowSelection): Promise<DayCount[]> {
    const { where, params } = this.where(tenantId, selection);
    return this.database.query<DayCount[]>(
      `SELECT (r.start_time AT TIME ZONE 'UTC')::date::text AS day, count(*)::float8 AS rows
       FROM trace_runs r WHERE ${where} GROUP BY 1 ORDER BY 1`,
      params.values,
    );
  }

  async count(tenantId: TenantId, selection: RowSelection): Promise<number> {
    const { where, params } = this.where(tenantId, selection);
    const [row] = await this.database.query<[{ rows: number }]>(
      `SELECT count(*)::float8 AS rows FROM trace_runs r WHERE ${where}`,
      params.values,
    );
    return row.rows;
  }

  /**
   * The next part after `after`: at most so many rows, and so many bytes unless one row alone has more. It depends on the
   * first key and the limits only. `guess` (the rows of the part before) spares weighing rows that won't fit.
   */
  async nextPart(
    tenantId: TenantId,
    selection: RowSelection,
    columns: ExportColumn[],
    after: RowKey | null,
    limit: { rows: number; bytes: number },
    guess = GUESS_ROWS,
  ): Promise<PartPlan | undefined> {
    for (let rows = Math.min(limit.rows, Math.ceil(guess * 1.25)); ; rows = Math.min(limit.rows, rows * 2)) {
      const part = await this.weigh(tenantId, selection, columns, after, { rows, bytes: limit.bytes });
      if (!part || part.rows < rows || rows === limit.rows) return part;
    }
  }

  /**
   * Writes the rows after `after` up to and including `last` as CSV, the columns in their order.
   * @returns how many there were
   */
  async copy(
    tenantId: TenantId,
    selection: RowSelection,
    columns: ExportColumn[],
    after: RowKey | null,
    last: RowKey,
    into: Writable,
    signal: AbortSignal,
  ): Promise<number> {
    // COPY takes no parameters.
    const { where, params } = this.where(tenantId, selection, after, new SqlLiterals());
    const rows = copyTo(
      `COPY (
         SELECT ${columns.map(({ sql }) => sql).join(', ')} FROM trace_runs r
         WHERE ${where} AND (r.start_time, r.run_id) <= ${keyOf(last, params)}
         ORDER BY r.start_time, r.run_id
       ) TO STDOUT (FORMAT csv)`,
    );
    const [client, release] = (await (this.database.driver as PostgresDriver).obtainMasterConnection()) as [
      PoolClient,
      (error?: unknown) => void,
    ];
    try {
      await pipeline(client.query(rows), into, { signal });
      // The count comes behind the last row: it is there when the connection answers again.
      await client.query('');
      release();
      return rows.rowCount;
    } catch (error) {
      // Broken off in the middle, the connection is of no use to anybody else.
      release(error);
      throw error;
    }
  }

  private async weigh(
    tenantId: TenantId,
    selection: RowSelection,
    columns: ExportColumn[],
    after: RowKey | null,
    limit: { rows: number; bytes: number },
  ): Promise<PartPlan | undefined> {
    const { where, params } = this.where(tenantId, selection, after);
    const sizes = columns.flatMap(({ size }) => (size ? [size] : []));
    const weight = [ROW_OVERHEAD_BYTES, ...sizes].join(' + ');
    const [row] = await this.database.query<PartPlan[]>(
      `WITH ahead AS (
         SELECT r.start_time, r.run_id, ${weight} AS weight FROM trace_runs r
         WHERE ${where} ORDER BY r.start_time, r.run_id LIMIT ${params.add(limit.rows, 'bigint')}
       ), measured AS (
         SELECT start_time, run_id, weight, row_number() OVER place AS rows, sum(weight) OVER place AS bytes
         FROM ahead WINDOW place AS (ORDER BY start_time, run_id ROWS UNBOUNDED PRECEDING)
       ), fitting AS (
         SELECT * FROM measured WHERE rows = 1 OR bytes <= ${params.add(limit.bytes, 'bigint')}
       )
       SELECT l.rows::float8 AS rows, (SELECT max(weight) * 2 FROM fitting)::float8 AS "rowBytes",
         json_build_object('startTime', ${isoText('f.start_time')}, 'runId', f.run_id) AS "firstKey",
         json_build_object('startTime', ${isoText('l.start_time')}, 'runId', l.run_id) AS "lastKey"
       FROM (SELECT * FROM fitting ORDER BY rows LIMIT 1) f, (SELECT * FROM fitting ORDER BY rows DESC LIMIT 1) l`,
      params.values,
    );
    return row;
  }

  private where(
    tenantId: TenantId,
    { projectId, startTime, endTime, watermark, changedAfter, filter }: RowSelection,
    after: RowKey | null = null,
    params = new SqlParams(),
  ): { where: string; params: SqlParams } {
    const conditions = [
      `r.tenant_id = ${params.add(tenantId, 'uuid')}`,
      `r.project_id = ${params.add(projectId, 'uuid')}`,
      `r.start_time >= ${params.add(startTime, 'timestamptz')}`,
      `r.start_time < ${params.add(endTime, 'timestamptz')}`,
      `r.received_at <= ${params.add(watermark, 'timestamptz')}`,
    ];
    if (changedAfter !== null) conditions.push(`r.updated_at > ${params.add(changedAfter, 'timestamptz')}`);
    if (after) conditions.push(`(r.start_time, r.run_id) > ${keyOf(after, params)}`);
    if (filter !== null) conditions.push(filterToSql(parseFilter(filter), params));
    return { where: conditions.join(' AND '), params };
  }
}

function keyOf({ startTime, runId }: RowKey, params: SqlParams): string {
  return `(${params.add(startTime, 'timestamptz')}, ${params.add(runId, 'uuid')})`;
}
