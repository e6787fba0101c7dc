import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { PoolClient, QueryArrayResult } from 'pg';
import { DataSource } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { parseFilter } from '../traces/filter/filter-parser';
import { filterToSql } from '../traces/filter/filter-sql';
import { SqlParams } from '../traces/filter/sql-params';
import { ExportColumn } from './export-columns';
import type { DayCount } from './export-runs.repository';
import { isoText } from './exports.repository';

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
  filter: string | null;
}

/** A stretch of rows after a key up to its last one, small enough for one file. */
export interface PartPlan {
  rows: number;
  firstKey: RowKey;
  lastKey: RowKey;
}

export type RowValues = unknown[];

/** What every row weighs beside its documents. */
const ROW_OVERHEAD_BYTES = 600;
const PAGE_ROWS = 512;
/** A batch of traces is written within seconds; what takes longer is something else, and isn't waited for. */
const WRITERS_MS = 10_000;
const WRITERS_POLL_MS = 50;

/**
 * Reads traces for exports, in the order of (start_time, run_id). A part is first measured (stored lengths, no values)
 * and then read up to a fixed key: how much is in memory depends on the part's bounds alone, not on the export's size.
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

  /** The next part after `after`: at most so many rows, and so many bytes unless one row alone has more. */
  async nextPart(
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
         SELECT start_time, run_id, row_number() OVER place AS rows, sum(weight) OVER place AS bytes
         FROM ahead WINDOW place AS (ORDER BY start_time, run_id ROWS UNBOUNDED PRECEDING)
       ), fitting AS (
         SELECT * FROM measured WHERE rows = 1 OR bytes <= ${params.add(limit.bytes, 'bigint')}
       )
       SELECT l.rows::float8 AS rows,
         json_build_object('startTime', ${isoText('f.start_time')}, 'runId', f.run_id) AS "firstKey",
         json_build_object('startTime', ${isoText('l.start_time')}, 'runId', l.run_id) AS "lastKey"
       FROM (SELECT * FROM fitting ORDER BY rows LIMIT 1) f, (SELECT * FROM fitting ORDER BY rows DESC LIMIT 1) l`,
      params.values,
    );
    return row;
  }

  /** The rows after `after` up to and including `last`, in pages, with the columns' values in their order. */
  async *read(
    tenantId: TenantId,
    selection: RowSelection,
    columns: ExportColumn[],
    after: RowKey | null,
    last: RowKey,
    signal: AbortSignal,
  ): AsyncGenerator<RowValues[]> {
    const { where, params } = this.where(tenantId, selection, after);
    const text = `DECLARE export_rows NO SCROLL CURSOR FOR
      SELECT ${columns.map(({ sql }) => sql).join(', ')} FROM trace_runs r
      WHERE ${where} AND (r.start_time, r.run_id) <= ${keyOf(last, params)}
      ORDER BY r.start_time, r.run_id`;
    const runner = this.database.createQueryRunner();
    try {
      const client = (await runner.connect()) as PoolClient;
      await client.query('BEGIN READ ONLY');
      try {
        await client.query(text, params.values);
        for (;;) {
          signal.throwIfAborted();
          const page: QueryArrayResult<RowValues> = await client.query({
            text: `FETCH ${PAGE_ROWS} FROM export_rows`,
            rowMode: 'array',
          });
          if (page.rows.length > 0) yield page.rows;
          if (page.rows.length < PAGE_ROWS) break;
        }
      } finally {
        await client.query('ROLLBACK');
      }
    } finally {
      await runner.release();
    }
  }

  private where(
    tenantId: TenantId,
    { projectId, startTime, endTime, watermark, filter }: RowSelection,
    after: RowKey | null = null,
  ): { where: string; params: SqlParams } {
    const params = new SqlParams();
    const conditions = [
      `r.tenant_id = ${params.add(tenantId, 'uuid')}`,
      `r.project_id = ${params.add(projectId, 'uuid')}`,
      `r.start_time >= ${params.add(startTime, 'timestamptz')}`,
      `r.start_time < ${params.add(endTime, 'timestamptz')}`,
      `r.received_at <= ${params.add(watermark, 'timestamptz')}`,
    ];
    if (after) conditions.push(`(r.start_time, r.run_id) > ${keyOf(after, params)}`);
    if (filter !== null) conditions.push(filterToSql(parseFilter(filter), params));
    return { where: conditions.join(' AND '), params };
  }
}

function keyOf({ startTime, runId }: RowKey, params: SqlParams): string {
  return `(${params.add(startTime, 'timestamptz')}, ${params.add(runId, 'uuid')})`;
}
