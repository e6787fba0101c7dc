import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { takeConnection } from '../../patches/typeorm/driver-pool';
import type { TenantId } from '../../auth/tenant';
import { parseFilter } from '../../traces/filter/filter-parser';
import { filterToSql } from '../../traces/filter/filter-sql';
import { SqlParams } from '../../traces/filter/sql-params';
import { ExportColumn, readColumns } from '../parquet/export-columns';
import { isoText } from '../export-row';
import { PartReader, RowStream, unreadable } from './part-reader';
import type { DayCount, RowCount, RowKey, RowSelection, Watermark } from './row-selection';
import { SqlLiterals } from './sql-literals';

/** Maximum of rows in one statement, since its snapshot blocks vacuum. */
const ROWS_AT_ONCE = 50_000;
/** Instants as the cutter and the encoder read them, whatever the server's settings are. */
const BEGIN = `BEGIN READ ONLY; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'`;
/** An upload is written within seconds; a transaction that stays open for longer may be one that never ends. */
const WRITERS_MS = 60_000;
const WRITERS_POLL_MS = 50;

/** Reads traces for exports, in the order of (start_time, run_id). */
@Injectable()
export class TraceReader {
  private readonly logger = new Logger(TraceReader.name);

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * The database's time, up to which rows count. A row's time of receipt is that of the statement that writes it, and its transaction has
   * locked the keys of runs in an earlier statement. So when the transactions are over that hold such a lock after the watermark
   * was read, all rows that were received before it are visible. Locks are shown to every role; transactions of others are not.
   */
  async watermark(signal: AbortSignal): Promise<Watermark> {
    const [{ at }] = await this.database.query<[{ at: string }]>(`SELECT ${isoText('clock_timestamp()')} AS at`);
    const deadline = Date.now() + WRITERS_MS;
    let writers = await this.writers(null);
    while (writers.length > 0 && Date.now() < deadline) {
      await sleep(WRITERS_POLL_MS, undefined, { signal });
      writers = await this.writers(writers);
    }
    if (writers.length > 0) {
      this.logger.warn(
        { writers: writers.length },
        'Transactions that write runs stay open: an export does not wait for them',
      );
    }
    return { at, isSettled: writers.length === 0 };
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
      const [client, release] = await takeConnection(this.database).catch((error: unknown) => {
        throw unreadable(error);
      });
      return RowStream.begin(client, release, BEGIN, sql, signal);
    });
  }

  /** Ids of the transactions that have locked runs in order to write some; only of those in `among` if it isn't null. */
  private async writers(among: string[] | null): Promise<string[]> {
    const rows = await this.database.query<{ id: string }[]>(
      `SELECT DISTINCT virtualtransaction AS id FROM pg_locks
       WHERE locktype = 'relation' AND relation IN ('trace_run_keys'::regclass, 'trace_runs'::regclass)
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND mode = 'RowExclusiveLock' AND granted AND ($1::text[] IS NULL OR virtualtransaction = ANY ($1))`,
      [among],
    );
    return rows.map(({ id }) => id);
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
