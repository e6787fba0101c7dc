import type { ExportStatus } from '../database/export-status';
import type { CreateExport } from './api/exports.schemas';

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
  /** Watermark of the first pass, for a later pass. */
  changedAfter: string | null;
  status: ExportStatus;
  /** Whether `_SUCCESS` may be in the bucket. */
  isPublishing: boolean;
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
  /** Time since its turn came, and what it wrote in that time (a retried export has written more). */
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

/** A running partition sends a heartbeat every few seconds; without one for this long it is shown as stalled. */
export const STALLED = `r.status = 'Running' AND greatest(r.heartbeat_at, r.updated_at) < now() - interval '1 minute'`;
/** The workflow of an export between partitions checks it at least this often. */
const QUIET_LIMIT = '6 minutes';

/** Columns of an ExportRow, over `EXPORT_SOURCE`. */
export const EXPORT_COLUMNS = `
  e.export_id AS "exportId", e.tenant_id AS "tenantId", e.destination_id AS "destinationId",
  e.session_id AS "sessionId", ${isoText('e.start_time')} AS "startTime", ${isoText('e.end_time')} AS "endTime",
  e.interval_hours AS "intervalHours", e.filter, e.format, e.format_version AS "formatVersion", e.compression,
  e.export_fields AS "exportFields", e.cost_type AS "costType", e.late_data AS "lateData",
  e.late_pass_of AS "latePassOf", ${isoText('e.changed_after')} AS "changedAfter", e.status,
  e.publishing_at IS NOT NULL AS "isPublishing", e.source_bulk_export_id AS "sourceBulkExportId", e.error,
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

/** An export `e` with the sums of its partitions `p` and of the part files `n` that it wrote since its turn came. */
export const EXPORT_SOURCE = `
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
