import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { takeConnection } from '../../patches/typeorm/driver-pool';
import type { TenantId } from '../../auth/tenant';
import { parseFilter } from '../../traces/filter/filter-parser';
import { filterToSql } from '../../traces/filter/filter-sql';
import { SqlParams } from '../../traces/filter/sql-params';
import { ExportColumn, readColumns } from '../parquet/export-columns';
import { isoText } from '../export-row';
import { PartReader, RowStream } from './part-reader';
import type { DayCount, RowCount, RowKey, RowSelection } from './row-selection';
import { SqlLiterals } from './sql-literals';

/** Maximum of rows in one statement, since its snapshot blocks vacuum. */
const ROWS_AT_ONCE = 50_000;
/** Instants as the cutter and the encoder read them, whatever the server's settings are. */
const BEGIN = `BEGIN READ ONLY; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'`;
/** A batch of traces is written within seconds; longer transactions are something else and not waited for. */
const WRITERS_MS = 10_000;
const WRITERS_POLL_MS = 50;

/** Reads traces for exports, in the order of (start_time, run_id). */
@Injectable()
export class TraceReader {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * The database's time, up to which rows count. A row's time of receipt is the start of its transaction, so transactions in
   * progress are waited for: afterwards all rows received before the watermark are visible.
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

  /**
   * Rows by project and UTC day; days without selected rows are absent. Grouped by a value that is cheap to compute: text is made
   * once per day, not per row.
   */
  countDays(tenantId: TenantId, selection: RowSelection): Promise<DayCount[]> {
    const { window, choice, params } = this.conditions(tenantId, selection);
    return this.database.query<DayCount[]>(
      `SELECT (day AT TIME ZONE 'UTC')::date::text AS day, project_id AS "sessionId", days.rows, "sourceRows" FROM (
         SELECT r.project_id, date_bin('1 day', r.start_time, '2000-01-01Z') AS day, ${counts(choice)}
         FROM trace_runs r WHERE ${window.join(' AND ')} GROUP BY 1, 2
       ) AS days WHERE days.rows > 0 ORDER BY days.day, days.project_id`,
      params.values,
    );
  }

  async count(tenantId: TenantId, selection: RowSelection): Promise<RowCount> {
    const { window, choice, params } = this.conditions(tenantId, selection);
    const [row] = await this.database.query<[RowCount]>(
      `SELECT ${counts(choice)} FROM trace_runs r WHERE ${window.join(' AND ')}`,
      params.values,
    );
    return row;
  }

  /** The rows after `after`, part by part. The caller closes the reader. */
  parts(tenantId: TenantId, selection: RowSelection, columns: ExportColumn[], after: RowKey | null): PartReader {
    const names = readColumns(columns).map(({ sql }) => sql);
    return new PartReader(after, ROWS_AT_ONCE, async (from, signal) => {
      // COPY takes no parameters.
      const { window, choice, params } = this.conditions(tenantId, selection, new SqlLiterals());
      const place = from ? [`(r.start_time, r.run_id) > ${keyOf(from, params)}`] : [];
      const sql = `COPY (
         SELECT ${names.join(', ')} FROM trace_runs r WHERE ${[...window, ...place, ...choice].join(' AND ')}
         ORDER BY r.start_time, r.run_id LIMIT ${params.add(ROWS_AT_ONCE, 'bigint')}
       ) TO STDOUT`;
      const [client, release] = await takeConnection(this.database);
      return RowStream.begin(client, release, BEGIN, sql, signal);
    });
  }

  /** Conditions for all rows of the window that count, and those that choose among them by what the rows contain. */
  private conditions(
    tenantId: TenantId,
    { projectId, startTime, endTime, watermark, changedAfter, filter }: RowSelection,
    params = new SqlParams(),
  ): { window: string[]; choice: string[]; params: SqlParams } {
    const tenant = params.add(tenantId, 'uuid');
    const window = [
      `r.tenant_id = ${tenant}`,
      projectId === null
        ? `r.project_id IN (SELECT p.project_id FROM trace_projects p
             WHERE p.tenant_id = ${tenant} AND p.reference_dataset_id IS NOT NULL)`
        : `r.project_id = ${params.add(projectId, 'uuid')}`,
      `r.start_time >= ${params.add(startTime, 'timestamptz')}`,
      `r.start_time < ${params.add(endTime, 'timestamptz')}`,
      `r.received_at <= ${params.add(watermark, 'timestamptz')}`,
    ];
    const choice: string[] = [];
    if (changedAfter !== null) choice.push(`r.updated_at > ${params.add(changedAfter, 'timestamptz')}`);
    if (filter !== null) choice.push(filterToSql(parseFilter(filter), params));
    return { window, choice, params };
  }
}

/** Columns of a RowCount. */
function counts(choice: string[]): string {
  const chosen = choice.length === 0 ? 'count(*)' : `(count(*) FILTER (WHERE ${choice.join(' AND ')}))`;
  return `${chosen}::float8 AS rows, count(*)::float8 AS "sourceRows"`;
}

function keyOf({ startTime, runId }: RowKey, params: SqlParams): string {
  return `(${params.add(startTime, 'timestamptz')}, ${params.add(runId, 'uuid')})`;
}
