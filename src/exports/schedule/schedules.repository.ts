import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { isoText } from '../export-row';

/** A window of a schedule; `latePassOf` is the export that it passes over again. */
export interface SpawnWindow {
  start: string;
  end: string;
  latePassOf?: string;
}

/** The windows of schedules. A window is spawned once, however often it is asked for. */
@Injectable()
export class SchedulesRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * The next window of a schedule, and the milliseconds until it is due; undefined when the schedule has ended. Windows tile:
   * each begins where the last spawned one ended. Where late data is exported again, a window has its second pass so long after
   * the end of the first one; for a first pass that hasn't ended that is a guess, and `spawn` looks again.
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
   * the schedule has ended, or the first one hasn't been complete for so long. All of it, if the first one couldn't wait for all rows
   * from before its watermark.
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
         first.source_bulk_export_id, first.export_id,
         CASE WHEN first.has_unseen_writers THEN timestamptz 'epoch' ELSE first.planned_at END, first.all_experiments
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
}
