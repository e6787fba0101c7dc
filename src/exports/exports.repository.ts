import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { CreateExport, ExportStatus, ListExports } from './api/exports.schemas';

/** An instant as text in UTC with its microseconds, which a Date would drop. */
export const isoText = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;

/** An export as stored; instants are ISO text. Counts come from its partitions. */
export interface ExportRow {
  exportId: string;
  tenantId: string;
  destinationId: string;
  /** The project; null for all experiments. */
  sessionId: string | null;
  startTime: string;
  endTime: string | null;
  intervalHours: number | null;
  filter: string | null;
  format: string;
  formatVersion: string;
  compression: CreateExport['compression'];
  exportFields: string[] | null;
  costType: CreateExport['cost_type'];
  lateData: CreateExport['late_data'];
  latePassOf: string | null;
  /** Of a later pass: the watermark of the first one. */
  changedAfter: string | null;
  status: ExportStatus;
  sourceBulkExportId: string | null;
  error: string | null;
  errorCode: string | null;
  errorHint: string | null;
  /** Sealed, with the export that it was given to: a schedule's counts for its windows. */
  webhook: { sealed: string; exportId: string } | null;
  verifiedAt: string | null;
  createdAt: string;
  updatedAt: string;
  /** The watermark: what was received later is not in the export. */
  plannedAt: string | null;
  finishedAt: string | null;
  partitionsTotal: number;
  partitionsDone: number;
  partitionsRunning: number;
  /** Number of running partitions without a heartbeat for a minute. */
  partitionsStalled: number;
  /** The last sign of life of a running export. */
  heartbeatAt: string | null;
  isStalled: boolean;
  /** Since its turn came: how long it ran, and what it wrote in that time (a retried export has more). */
  elapsedMs: number;
  rowsWrittenNow: number;
  bytesWrittenNow: number;
  rowsTotal: number;
  rowsWritten: number;
  bytesWritten: number;
}

export interface NewExport extends Omit<CreateExport, 'webhook'> {
  exportId: string;
  /** Sealed. */
  webhook: string | null;
  status: 'Created' | 'IntervalScheduled';
}

/** A window of a schedule; `latePassOf` is the export that it passes over again. */
export interface SpawnWindow {
  start: string;
  end: string;
  latePassOf?: string;
}

export interface OpenExport {
  exportId: string;
  tenantId: string;
  isSchedule: boolean;
  status: ExportStatus;
}

/** A running partition beats every few seconds; without a sign of life for so long it is shown as stalled. */
export const STALLED = `r.status = 'Running' AND greatest(r.heartbeat_at, r.updated_at) < now() - interval '1 minute'`;
/** An export between partitions is looked at by its workflow at least this often. */
const QUIET_LIMIT = '6 minutes';

const COLUMNS = `
  e.export_id AS "exportId", e.tenant_id AS "tenantId", e.destination_id AS "destinationId",
  e.session_id AS "sessionId", ${isoText('e.start_time')} AS "startTime", ${isoText('e.end_time')} AS "endTime",
  e.interval_hours AS "intervalHours", e.filter, e.format, e.format_version AS "formatVersion", e.compression,
  e.export_fields AS "exportFields", e.cost_type AS "costType", e.late_data AS "lateData",
  e.late_pass_of AS "latePassOf", ${isoText('e.changed_after')} AS "changedAfter", e.status, e.source_bulk_export_id AS "sourceBulkExportId", e.error,
  e.error_code AS "errorCode", e.error_hint AS "errorHint", ${isoText('e.verified_at')} AS "verifiedAt",
  (SELECT json_build_object('sealed', w.webhook, 'exportId', w.export_id) FROM bulk_exports w
   WHERE w.tenant_id = e.tenant_id AND w.export_id IN (e.export_id, e.source_bulk_export_id) AND w.webhook IS NOT NULL
   LIMIT 1) AS webhook,
  ${isoText('e.created_at')} AS "createdAt", ${isoText('e.updated_at')} AS "updatedAt",
  ${isoText('e.planned_at')} AS "plannedAt", ${isoText('e.finished_at')} AS "finishedAt",
  p.total AS "partitionsTotal", p.done AS "partitionsDone", p.running AS "partitionsRunning",
  p.stalled AS "partitionsStalled", ${isoText("CASE WHEN e.status = 'Running' THEN greatest(e.heartbeat_at, p.beat) END")} AS "heartbeatAt",
  e.status = 'Running' AND CASE WHEN p.running > 0 THEN p.running = p.stalled
    ELSE greatest(e.updated_at, e.heartbeat_at, p.beat) < now() - interval '${QUIET_LIMIT}' END AS "isStalled",
  coalesce(extract(epoch FROM coalesce(e.finished_at, clock_timestamp()) - e.started_at) * 1000, 0)::float8 AS "elapsedMs",
  n.rows_now AS "rowsWrittenNow", n.bytes_now AS "bytesWrittenNow", p.rows_total AS "rowsTotal",
  p.rows_written AS "rowsWritten", p.bytes_written AS "bytesWritten"`;

const FROM = `
  FROM bulk_exports e
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS total, (count(*) FILTER (WHERE r.status = 'Completed'))::int AS done,
      (count(*) FILTER (WHERE r.status = 'Running'))::int AS running,
      (count(*) FILTER (WHERE ${STALLED}))::int AS stalled,
      max(greatest(r.heartbeat_at, r.updated_at)) AS beat,
      coalesce(sum(r.rows_seen), 0)::float8 AS rows_total,
      coalesce(sum(r.rows_written), 0)::float8 AS rows_written,
      coalesce(sum(r.bytes_written), 0)::float8 AS bytes_written
    FROM bulk_export_runs r WHERE r.tenant_id = e.tenant_id AND r.export_id = e.export_id
  ) p
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(f.rows), 0)::float8 AS rows_now, coalesce(sum(f.bytes), 0)::float8 AS bytes_now
    FROM bulk_export_runs r JOIN bulk_export_files f ON f.tenant_id = r.tenant_id AND f.export_run_id = r.export_run_id
    WHERE r.tenant_id = e.tenant_id AND r.export_id = e.export_id AND f.created_at >= e.started_at
  ) n`;

/** Called in the transaction that ends an export, with the export as it is now. */
export type OnEnd = (manager: EntityManager, row: ExportRow) => Promise<void>;

const TURN_LOCK = 'gantry-export-turn:';

/** The exports themselves. A status only changes from one that is named: nothing undoes an end. */
@Injectable()
export class ExportsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  async insert(tenantId: TenantId, manager: EntityManager, row: NewExport): Promise<void> {
    await manager.query(
      `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, end_time, interval_hours,
         filter, format, format_version, compression, export_fields, status, cost_type, late_data, webhook,
         all_experiments)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
      [
        tenantId,
        row.exportId,
        row.bulk_export_destination_id,
        row.session_id ?? null,
        row.start_time,
        row.end_time ?? null,
        row.interval_hours ?? null,
        row.filter ?? null,
        row.format,
        row.format_version,
        row.compression,
        row.export_fields ?? null,
        row.status,
        row.cost_type,
        row.late_data,
        row.webhook,
        row.all_experiments,
      ],
    );
  }

  async find(
    tenantId: TenantId,
    exportId: string,
    manager: EntityManager = this.database.manager,
  ): Promise<ExportRow | undefined> {
    const [row] = await manager.query<ExportRow[]>(
      `SELECT ${COLUMNS} ${FROM} WHERE e.tenant_id = $1 AND e.export_id = $2`,
      [tenantId, exportId],
    );
    return row;
  }

  list(
    tenantId: TenantId,
    { limit, offset, status, source_bulk_export_id: source }: ListExports,
  ): Promise<ExportRow[]> {
    return this.database.query<ExportRow[]>(
      `SELECT ${COLUMNS} ${FROM}
       WHERE e.tenant_id = $1 AND ($2::text IS NULL OR e.status = $2)
         AND ($3::uuid IS NULL OR e.source_bulk_export_id = $3)
       ORDER BY e.created_at DESC, e.export_id LIMIT $4 OFFSET $5`,
      [tenantId, status ?? null, source ?? null, limit ?? null, offset],
    );
  }

  /** Whether the tenant has the tracing project. */
  async hasProject(tenantId: TenantId, projectId: string): Promise<boolean> {
    const rows = await this.database.query<unknown[]>(
      `SELECT 1 FROM trace_projects WHERE tenant_id = $1 AND project_id = $2`,
      [tenantId, projectId],
    );
    return rows.length > 0;
  }

  /** Cancels an export that hasn't ended; resolves to whether it did. */
  async cancel(tenantId: TenantId, exportId: string, onEnd: OnEnd): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports SET status = 'Cancelled', finished_at = now(), updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2 AND status IN ('Created', 'IntervalScheduled', 'Running')
         RETURNING export_id`,
        [tenantId, exportId],
      );
      if (rows.length > 0) await this.ended(tenantId, exportId, manager, onEnd);
      return rows.length > 0;
    });
  }

  /**
   * Opens partitions of an export that failed or ran out of time, and the export with them: it waits for its turn again.
   * Resolves to the ids of the partitions that were opened.
   */
  async reopen(tenantId: TenantId, exportId: string, partitionId: string | null): Promise<string[]> {
    return this.database.transaction(async (manager) => {
      const [held] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports SET status = 'Created', error = NULL, error_code = NULL, error_hint = NULL,
           finished_at = NULL, started_at = NULL, workflow_seen_at = NULL, updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2 AND status IN ('Failed', 'TimedOut') AND (planned_at IS NULL OR EXISTS (
           SELECT FROM bulk_export_runs r WHERE r.tenant_id = $1 AND r.export_id = $2 AND r.status <> 'Completed'
             AND ($3::uuid IS NULL OR r.export_run_id = $3)))
         RETURNING export_id`,
        [tenantId, exportId, partitionId],
      );
      if (held.length === 0) return [];
      const [rows] = await manager.query<[{ partitionId: string }[], number]>(
        `UPDATE bulk_export_runs SET status = 'Created', retry_base = retry_number, finished_at = NULL,
           error_code = NULL, error_hint = NULL, updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2 AND status <> 'Completed' AND ($3::uuid IS NULL OR export_run_id = $3)
         RETURNING export_run_id AS "partitionId"`,
        [tenantId, exportId, partitionId],
      );
      return rows.map((row) => row.partitionId);
    });
  }

  /** A sign of life of an export's own work: planning and finishing. */
  async beat(tenantId: TenantId, exportId: string): Promise<void> {
    await this.database.query(`UPDATE bulk_exports SET heartbeat_at = now() WHERE tenant_id = $1 AND export_id = $2`, [
      tenantId,
      exportId,
    ]);
  }

  async markVerified(tenantId: TenantId, exportId: string): Promise<void> {
    await this.database.query(`UPDATE bulk_exports SET verified_at = now() WHERE tenant_id = $1 AND export_id = $2`, [
      tenantId,
      exportId,
    ]);
  }

  /** Keeps code and hint of what an export is about to fail with; the sentence comes with its end. */
  async noteFailure(
    tenantId: TenantId,
    exportId: string,
    { code, hint }: { code: string; hint: string },
  ): Promise<void> {
    await this.database.query(
      `UPDATE bulk_exports SET error_code = $3, error_hint = $4 WHERE tenant_id = $1 AND export_id = $2`,
      [tenantId, exportId, code, hint],
    );
  }

  /**
   * Lets the export run when fewer than `limit` of the tenant's run or are before it in the queue.
   * An export that runs already keeps its turn and its time.
   */
  async takeTurn(
    tenantId: TenantId,
    exportId: string,
    limit: number,
  ): Promise<{ status: ExportStatus; elapsedMs: number } | undefined> {
    return this.database.transaction(async (transaction) => {
      await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`${TURN_LOCK}${tenantId}`]);
      await transaction.query(
        `UPDATE bulk_exports e SET status = 'Running', started_at = now(), updated_at = now()
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND e.status = 'Created' AND $3 > (
           SELECT count(*) FROM bulk_exports other
           WHERE other.tenant_id = $1 AND other.export_id <> $2 AND (other.status = 'Running'
             OR (other.status = 'Created' AND (other.created_at, other.export_id) < (e.created_at, e.export_id))))`,
        [tenantId, exportId, limit],
      );
      const [row] = await transaction.query<{ status: ExportStatus; elapsedMs: number }[]>(
        `SELECT status, coalesce(extract(epoch FROM clock_timestamp() - started_at) * 1000, 0)::float8 AS "elapsedMs"
         FROM bulk_exports WHERE tenant_id = $1 AND export_id = $2`,
        [tenantId, exportId],
      );
      return row;
    });
  }

  /** The tenant's exports that wait, first come first, as many as may run at once. */
  async waiting(tenantId: TenantId, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ export_id: string }[]>(
      `SELECT export_id FROM bulk_exports WHERE tenant_id = $1 AND status = 'Created'
       ORDER BY created_at, export_id LIMIT $2`,
      [tenantId, limit],
    );
    return rows.map((row) => row.export_id);
  }

  /**
   * Ends an export that hasn't ended, and with it the partitions that are open. An export that was cancelled meanwhile
   * stays cancelled, and so do its open partitions. One that fails without words of its own has those of its first
   * partition that failed.
   */
  async end(
    tenantId: TenantId,
    exportId: string,
    ending: 'Failed' | 'Cancelled' | 'TimedOut',
    message: string | undefined,
    onEnd: OnEnd,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports e SET status = $3, finished_at = now(), updated_at = now(),
           error = coalesce($4, first.error), error_code = coalesce(e.error_code, first.error_code),
           error_hint = coalesce(e.error_hint, first.error_hint)
         FROM (SELECT 1) AS one LEFT JOIN LATERAL (
           SELECT r.day::text || ': ' || (r.errors ->> ('retry_' || greatest(r.retry_number - 1, 0))) AS error, r.error_code,
             r.error_hint
           FROM bulk_export_runs r
           WHERE r.tenant_id = $1 AND r.export_id = $2 AND r.status = 'Failed' AND $3 = 'Failed'
           ORDER BY r.day LIMIT 1
         ) AS first ON true
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND e.status IN ('Created', 'IntervalScheduled', 'Running')
         RETURNING e.export_id`,
        [tenantId, exportId, ending, message ?? null],
      );
      await manager.query(
        `UPDATE bulk_export_runs r SET finished_at = now(), updated_at = now(),
           status = CASE WHEN e.status IN ('Cancelled', 'TimedOut') THEN e.status ELSE 'Cancelled' END
         FROM bulk_exports e
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND e.status NOT IN ('Created', 'IntervalScheduled', 'Running')
           AND r.tenant_id = $1 AND r.export_id = $2 AND r.status IN ('Created', 'Running')`,
        [tenantId, exportId],
      );
      if (rows.length > 0) await this.ended(tenantId, exportId, manager, onEnd);
    });
  }

  /**
   * Completes a running export. `publish` is called while the row is held, so that a cancellation comes either before
   * it, and nothing is published, or after it, and the export is over. Resolves to whether it was completed.
   */
  async complete(tenantId: TenantId, exportId: string, publish: () => Promise<void>, onEnd: OnEnd): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const rows = await transaction.query<unknown[]>(
        `SELECT 1 FROM bulk_exports WHERE tenant_id = $1 AND export_id = $2 AND status = 'Running' FOR UPDATE`,
        [tenantId, exportId],
      );
      if (rows.length === 0) return false;
      await publish();
      await transaction.query(
        `UPDATE bulk_exports SET status = 'Completed', finished_at = clock_timestamp(), updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2`,
        [tenantId, exportId],
      );
      await this.ended(tenantId, exportId, transaction, onEnd);
      return true;
    });
  }

  private async ended(tenantId: TenantId, exportId: string, manager: EntityManager, onEnd: OnEnd): Promise<void> {
    const row = await this.find(tenantId, exportId, manager);
    if (row) await onEnd(manager, row);
  }

  /**
   * What a schedule exports next, and in how many milliseconds; undefined when the schedule ended. Windows tile: each
   * begins where the last spawned one ended. Where late data is exported again, a window has its second pass so long
   * after the end of the first one; for a first pass that hasn't ended that is a guess, and `spawn` looks again.
   */
  async nextWindow(
    tenantId: TenantId,
    exportId: string,
    delaySeconds: number,
    latePassSeconds: number,
  ): Promise<(SpawnWindow & { inMs: number }) | undefined> {
    const [row] = await this.database.query<{ start: string; end: string; latePassOf: string | null; inMs: number }[]>(
      `WITH schedule AS (
         SELECT e.start_time, e.late_data, make_interval(hours => e.interval_hours) AS length,
           (SELECT max(spawned.end_time) FROM bulk_exports spawned
            WHERE spawned.tenant_id = $1 AND spawned.source_bulk_export_id = $2) AS spawned_until
         FROM bulk_exports e WHERE e.tenant_id = $1 AND e.export_id = $2 AND e.status = 'IntervalScheduled'
       ), windows AS (
         SELECT coalesce(spawned_until, start_time) AS start, coalesce(spawned_until, start_time) + length AS end,
           NULL::uuid AS late_pass_of,
           coalesce(spawned_until, start_time) + length + make_interval(secs => $3) AS due
         FROM schedule
         UNION ALL
         SELECT first.start_time, first.end_time, first.export_id, coalesce(
             CASE WHEN first.status = 'Completed' THEN first.finished_at END, clock_timestamp())
           + make_interval(secs => $4)
         FROM schedule JOIN bulk_exports first ON schedule.late_data = 'reexport'
         WHERE first.tenant_id = $1 AND first.source_bulk_export_id = $2 AND first.late_pass_of IS NULL
           AND first.status IN ('Created', 'Running', 'Completed')
           AND NOT EXISTS (
             SELECT FROM bulk_exports pass WHERE pass.tenant_id = $1 AND pass.late_pass_of = first.export_id)
       )
       SELECT ${isoText('w.start')} AS start, ${isoText('w.end')} AS end, w.late_pass_of AS "latePassOf",
         greatest(0, ceil(extract(epoch FROM w.due - clock_timestamp()) * 1000))::float8 AS "inMs"
       FROM windows w ORDER BY w.due, w.late_pass_of NULLS FIRST LIMIT 1`,
      [tenantId, exportId, delaySeconds, latePassSeconds],
    );
    if (!row) return undefined;
    const { latePassOf, ...window } = row;
    return { ...window, ...(latePassOf && { latePassOf }) };
  }

  /** The export of a schedule's window, made by the first call; undefined when the schedule has ended. */
  async spawn(
    tenantId: TenantId,
    sourceId: string,
    window: SpawnWindow,
    exportId: string,
  ): Promise<string | undefined> {
    await this.database.query(
      `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, end_time, filter, format,
         format_version, compression, export_fields, cost_type, status, source_bulk_export_id, all_experiments)
       SELECT tenant_id, $3, destination_id, session_id, $4, $5, filter, format, format_version, compression,
         export_fields, cost_type, 'Created', export_id, all_experiments
       FROM bulk_exports WHERE tenant_id = $1 AND export_id = $2 AND status = 'IntervalScheduled'
       FOR UPDATE
       ON CONFLICT (tenant_id, source_bulk_export_id, start_time)
         WHERE source_bulk_export_id IS NOT NULL AND late_pass_of IS NULL DO NOTHING`,
      [tenantId, sourceId, exportId, window.start, window.end],
    );
    const [row] = await this.database.query<{ exportId: string }[]>(
      `SELECT export_id AS "exportId" FROM bulk_exports
       WHERE tenant_id = $1 AND source_bulk_export_id = $2 AND start_time = $3 AND late_pass_of IS NULL`,
      [tenantId, sourceId, window.start],
    );
    return row?.exportId;
  }

  /**
   * The later pass over a window, made by the first call: what changed after the first one's watermark. Undefined when
   * the schedule has ended, or the first one hasn't been complete for so long.
   */
  async spawnLatePass(
    tenantId: TenantId,
    sourceId: string,
    latePassOf: string,
    exportId: string,
    latePassSeconds: number,
  ): Promise<string | undefined> {
    await this.database.query(
      `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, end_time, filter, format,
         format_version, compression, export_fields, cost_type, status, source_bulk_export_id, late_pass_of, changed_after,
         all_experiments)
       SELECT first.tenant_id, $3, first.destination_id, first.session_id, first.start_time, first.end_time, first.filter,
         first.format, first.format_version, first.compression, first.export_fields, first.cost_type, 'Created',
         first.source_bulk_export_id, first.export_id, first.planned_at, first.all_experiments
       FROM bulk_exports first
       JOIN bulk_exports source ON source.tenant_id = first.tenant_id AND source.export_id = first.source_bulk_export_id
       WHERE first.tenant_id = $1 AND first.source_bulk_export_id = $2 AND first.export_id = $4
         AND source.status = 'IntervalScheduled' AND first.status = 'Completed'
         AND first.finished_at + make_interval(secs => $5) <= clock_timestamp()
       ON CONFLICT (tenant_id, late_pass_of) WHERE late_pass_of IS NOT NULL DO NOTHING`,
      [tenantId, sourceId, exportId, latePassOf, latePassSeconds],
    );
    const [row] = await this.database.query<{ exportId: string }[]>(
      `SELECT export_id AS "exportId" FROM bulk_exports WHERE tenant_id = $1 AND late_pass_of = $2`,
      [tenantId, latePassOf],
    );
    return row?.exportId;
  }

  async markSeen(tenantId: TenantId, exportId: string): Promise<void> {
    await this.database.query(
      `UPDATE bulk_exports SET workflow_seen_at = now() WHERE tenant_id = $1 AND export_id = $2`,
      [tenantId, exportId],
    );
  }

  /**
   * For the sweep, across tenants: exports without an end whose workflow wasn't started, or wasn't looked at for a while.
   */
  unseen(startedBeforeSeconds: number, seenBeforeSeconds: number, limit: number): Promise<OpenExport[]> {
    return this.database.query<OpenExport[]>(
      `SELECT export_id AS "exportId", tenant_id AS "tenantId", interval_hours IS NOT NULL AS "isSchedule", status
       FROM bulk_exports
       WHERE status IN ('Created', 'IntervalScheduled', 'Running')
         AND ((workflow_seen_at IS NULL AND created_at < now() - make_interval(secs => $1))
           OR workflow_seen_at < now() - make_interval(secs => $2))
       ORDER BY workflow_seen_at NULLS FIRST LIMIT $3`,
      [startedBeforeSeconds, seenBeforeSeconds, limit],
    );
  }

  /** Finds exports of all tenants that were cancelled but still have open partitions, for the sweep. */
  halfCancelled(sinceSeconds: number, limit: number): Promise<OpenExport[]> {
    return this.database.query<OpenExport[]>(
      `SELECT DISTINCT e.export_id AS "exportId", e.tenant_id AS "tenantId", false AS "isSchedule", e.status
       FROM bulk_export_runs r JOIN bulk_exports e ON e.tenant_id = r.tenant_id AND e.export_id = r.export_id
       WHERE r.status IN ('Created', 'Running') AND e.status = 'Cancelled'
         AND e.finished_at < now() - make_interval(secs => $1)
       LIMIT $2`,
      [sinceSeconds, limit],
    );
  }
}
