import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type OpenExportStatus, openExportSql } from '../database/export-status';
import { acrossTenants } from '../database/request-scope';
import { inFlightSql } from '../database/run-status';

/** Waiting work and work in flight of the whole deployment, across tenants. Ages are in seconds. */
export interface Backlog {
  runs: { pending: number; scheduled: number; running: number };
  queue: { maxAge: number; medianAge: number; unblockedMaxAge: number };
  webhooks: { pending: number; overdue: number };
  /** How long the most overdue tick has been due. */
  crons: { overdue: number };
  exports: Record<OpenExportStatus, number>;
}

interface Row {
  pending: number;
  scheduled: number;
  running: number;
  max_age: number;
  median_age: number;
  unblocked_max_age: number;
  webhooks_pending: number;
  webhooks_overdue: number;
  crons_overdue: number;
  exports: Partial<Backlog['exports']>;
}

/** Each part reads the partial index of what is open, so the cost grows with the backlog and not with the history. */
const BACKLOG = `
  SELECT * FROM (
    SELECT count(*) FILTER (WHERE is_due)::int AS pending,
      count(*) FILTER (WHERE status = 'pending' AND NOT is_due)::int AS scheduled,
      count(*) FILTER (WHERE status = 'running')::int AS running,
      coalesce(max(age) FILTER (WHERE is_due), 0)::float8 AS max_age,
      coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FILTER (WHERE is_due), 0)::float8 AS median_age,
      coalesce(max(age) FILTER (WHERE is_due AND NOT is_blocked), 0)::float8 AS unblocked_max_age
    FROM (
      SELECT status, status = 'pending' AND scheduled_at <= now() AS is_due,
        extract(epoch FROM now() - scheduled_at) AS age,
        bool_or(status = 'running') OVER (PARTITION BY tenant_id, thread_id) AS is_blocked
      FROM runs WHERE ${inFlightSql()}
    ) AS in_flight
  ) AS runs, (
    SELECT count(*)::int AS webhooks_pending,
      greatest(0, coalesce(extract(epoch FROM now() - min(coalesce(next_attempt_at, created_at))), 0))::float8
        AS webhooks_overdue
    FROM webhook_deliveries WHERE status = 'pending'
  ) AS webhooks, (
    SELECT greatest(0, coalesce(extract(epoch FROM now() - min(next_run_at)), 0))::float8 AS crons_overdue
    FROM crons WHERE enabled AND deleted_at IS NULL
  ) AS crons, (
    SELECT coalesce(jsonb_object_agg(status, n), '{}') AS exports FROM (
      SELECT status, count(*) AS n FROM bulk_exports
      WHERE ${openExportSql()} GROUP BY status
    ) AS open_exports
  ) AS exports`;

@Injectable()
export class BacklogRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async readBacklog(): Promise<Backlog> {
    const [row]: Row[] = await acrossTenants(() => this.database.query(BACKLOG));
    return {
      runs: { pending: row.pending, scheduled: row.scheduled, running: row.running },
      queue: { maxAge: row.max_age, medianAge: row.median_age, unblockedMaxAge: row.unblocked_max_age },
      webhooks: { pending: row.webhooks_pending, overdue: row.webhooks_overdue },
      crons: { overdue: row.crons_overdue },
      exports: { Created: 0, IntervalScheduled: 0, Running: 0, ...row.exports },
    };
  }
}
