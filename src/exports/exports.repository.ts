import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { Page } from '../http/pagination';
import { type ExportStatus, openExportSql, openPartitionSql } from '../database/export-status';
import type { ListExports } from './api/exports.schemas';
import { HALF_PUBLISHED } from './export-failure';
import { EXPORT_COLUMNS, EXPORT_SOURCE, ExportRow, NewExport } from './export-row';

/** Called in the transaction that ends an export, with the export as it is now. */
export type OnEnd = (manager: EntityManager, row: ExportRow) => Promise<void>;

const TURN_LOCK = 'gantry-export-turn:';

/** Exports as records. Every change of a status names the expected one, so an end is never undone. */
@Injectable()
export class ExportsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  async insertExport(tenantId: TenantId, manager: EntityManager, row: NewExport): Promise<void> {
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

  async findExport(
    tenantId: TenantId,
    exportId: string,
    manager: EntityManager = this.database.manager,
  ): Promise<ExportRow | undefined> {
    const [row] = await manager.query<ExportRow[]>(
      `SELECT ${EXPORT_COLUMNS} ${EXPORT_SOURCE} WHERE e.tenant_id = $1 AND e.export_id = $2`,
      [tenantId, exportId],
    );
    return row;
  }

  async listExports(
    tenantId: TenantId,
    { limit, offset, status, source_bulk_export_id: source }: ListExports,
  ): Promise<Page<ExportRow>> {
    const matching = `e.tenant_id = $1 AND ($2::text IS NULL OR e.status = $2)
      AND ($3::uuid IS NULL OR e.source_bulk_export_id = $3)`;
    const filter = [tenantId, status ?? null, source ?? null];
    const [items, [{ total }]] = await Promise.all([
      this.database.query<ExportRow[]>(
        `SELECT ${EXPORT_COLUMNS} ${EXPORT_SOURCE} WHERE ${matching}
         ORDER BY e.created_at DESC, e.export_id LIMIT $4 OFFSET $5`,
        [...filter, limit ?? null, offset],
      ),
      this.database.query<[{ total: number }]>(
        `SELECT count(*)::int AS total FROM bulk_exports e WHERE ${matching}`,
        filter,
      ),
    ]);
    return { items, total };
  }

  /** Whether the tenant has the tracing project. */
  async hasProject(tenantId: TenantId, projectId: string): Promise<boolean> {
    const rows = await this.database.query<unknown[]>(
      `SELECT 1 FROM trace_projects WHERE tenant_id = $1 AND project_id = $2`,
      [tenantId, projectId],
    );
    return rows.length > 0;
  }

  /** Cancels an export that hasn't ended and isn't being published; resolves to whether it did. */
  async cancelExport(tenantId: TenantId, exportId: string, onEnd: OnEnd): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports SET status = 'Cancelled', finished_at = now(), updated_at = now(),
           error_code = NULL, error_hint = NULL
         WHERE tenant_id = $1 AND export_id = $2 AND ${openExportSql()} AND publishing_at IS NULL
         RETURNING export_id`,
        [tenantId, exportId],
      );
      if (rows.length > 0) await this.ended(tenantId, exportId, manager, onEnd);
      return rows.length > 0;
    });
  }

  /**
   * Reopens partitions of an export that failed or timed out, and the export with them: it waits for its turn again. An export of
   * which all partitions are complete has only its last files to write.
   * @returns false if nothing was reopened: the export has another status, or the partition is complete
   */
  async reopenExport(tenantId: TenantId, exportId: string, partitionId: string | null): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const [held] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports SET status = 'Created', error = NULL, error_code = NULL, error_hint = NULL,
           finished_at = NULL, started_at = NULL, workflow_seen_at = NULL, updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2 AND status IN ('Failed', 'TimedOut') AND ($3::uuid IS NULL OR EXISTS (
           SELECT FROM bulk_export_runs r
           WHERE r.tenant_id = $1 AND r.export_id = $2 AND r.status <> 'Completed' AND r.export_run_id = $3))
         RETURNING export_id`,
        [tenantId, exportId, partitionId],
      );
      if (held.length === 0) return false;
      await manager.query(
        `UPDATE bulk_export_runs SET status = 'Created', retry_base = retry_number, finished_at = NULL,
           error_code = NULL, error_hint = NULL, updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2 AND status <> 'Completed' AND ($3::uuid IS NULL OR export_run_id = $3)`,
        [tenantId, exportId, partitionId],
      );
      return true;
    });
  }

  /** Records a heartbeat of the export's own work: planning and finishing. */
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

  /** Stores code and hint of what keeps a running export from its end; the sentence is written when it fails. */
  async noteFailure(
    tenantId: TenantId,
    exportId: string,
    { code, hint }: { code: string; hint: string },
  ): Promise<void> {
    await this.database.query(
      `UPDATE bulk_exports SET error_code = $3, error_hint = $4
       WHERE tenant_id = $1 AND export_id = $2 AND status = 'Running'`,
      [tenantId, exportId, code, hint],
    );
  }

  /**
   * Lets the export run if fewer than `limit` exports of the tenant run or are ahead of it in the queue. A running export keeps
   * its turn and its time; one that is being published gets all of it again, since it can't time out any more. When it
   * is retried, it doesn't wait: it has two small files to write, and can't be cancelled in the meantime.
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
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND e.status = 'Created' AND (e.publishing_at IS NOT NULL OR $3 > (
           SELECT count(*) FROM bulk_exports other
           WHERE other.tenant_id = $1 AND other.export_id <> $2 AND (other.status = 'Running'
             OR (other.status = 'Created' AND (other.created_at, other.export_id) < (e.created_at, e.export_id)))))`,
        [tenantId, exportId, limit],
      );
      const [row] = await transaction.query<{ status: ExportStatus; elapsedMs: number }[]>(
        `SELECT status, CASE WHEN publishing_at IS NULL
           THEN coalesce(extract(epoch FROM clock_timestamp() - started_at) * 1000, 0) ELSE 0 END::float8 AS "elapsedMs"
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
   * Ends an export that hasn't ended, and with it the partitions that are open. One that is being published can only fail: with
   * another ending it stays open, and the sweep continues it. An export that was cancelled meanwhile stays cancelled, and so do its
   * open partitions. An export that fails without its own message gets that of its first failed partition. If it was
   * being published, its message ends with {@link HALF_PUBLISHED}, whatever made it fail.
   */
  async endExport(
    tenantId: TenantId,
    exportId: string,
    ending: 'Failed' | 'Cancelled' | 'TimedOut',
    message: string | undefined,
    onEnd: OnEnd,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports e SET status = $3, finished_at = now(), updated_at = now(),
           error = CASE WHEN e.publishing_at IS NULL OR strpos(coalesce($4::text, first.error, ''), $5::text) > 0
             THEN coalesce($4::text, first.error) ELSE concat_ws('; ', coalesce($4::text, first.error), $5::text) END,
           error_code = CASE WHEN $3 = 'Failed' THEN coalesce(e.error_code, first.error_code) END,
           error_hint = CASE WHEN $3 = 'Failed' THEN coalesce(e.error_hint, first.error_hint) END
         FROM (SELECT 1) AS one LEFT JOIN LATERAL (
           SELECT r.day::text || ': ' || (r.errors ->> ('retry_' || greatest(r.retry_number - 1, 0))) AS error, r.error_code,
             r.error_hint
           FROM bulk_export_runs r
           WHERE r.tenant_id = $1 AND r.export_id = $2 AND r.status = 'Failed' AND $3 = 'Failed'
           ORDER BY r.day LIMIT 1
         ) AS first ON true
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND ${openExportSql('e')} AND (e.publishing_at IS NULL OR $3 = 'Failed')
         RETURNING e.export_id`,
        [tenantId, exportId, ending, message ?? null, HALF_PUBLISHED],
      );
      await manager.query(
        `UPDATE bulk_export_runs r SET finished_at = now(), updated_at = now(),
           status = CASE WHEN e.status IN ('Cancelled', 'TimedOut') THEN e.status ELSE 'Cancelled' END
         FROM bulk_exports e
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND NOT ${openExportSql('e')}
           AND r.tenant_id = $1 AND r.export_id = $2 AND ${openPartitionSql('r')}`,
        [tenantId, exportId],
      );
      if (rows.length > 0) await this.ended(tenantId, exportId, manager, onEnd);
    });
  }

  /**
   * Records that `_SUCCESS` may be in the bucket from now on. Such an export can still be completed or fail, but neither be
   * cancelled nor time out. Resolves to false when it isn't running any more.
   */
  async beginPublishing(tenantId: TenantId, exportId: string): Promise<boolean> {
    const [rows] = await this.database.query<[unknown[], number]>(
      `UPDATE bulk_exports SET publishing_at = coalesce(publishing_at, now())
       WHERE tenant_id = $1 AND export_id = $2 AND status = 'Running' RETURNING export_id`,
      [tenantId, exportId],
    );
    return rows.length > 0;
  }

  /** Completes a running export; resolves to whether it did. */
  async completeExport(tenantId: TenantId, exportId: string, onEnd: OnEnd): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(
        `UPDATE bulk_exports SET status = 'Completed', finished_at = clock_timestamp(), updated_at = now(),
           error_code = NULL, error_hint = NULL
         WHERE tenant_id = $1 AND export_id = $2 AND status = 'Running' RETURNING export_id`,
        [tenantId, exportId],
      );
      if (rows.length > 0) await this.ended(tenantId, exportId, manager, onEnd);
      return rows.length > 0;
    });
  }

  private async ended(tenantId: TenantId, exportId: string, manager: EntityManager, onEnd: OnEnd): Promise<void> {
    const row = await this.findExport(tenantId, exportId, manager);
    if (row) await onEnd(manager, row);
  }

  /** Records that the export has a workflow now, so that the sweep checks it again only later. */
  async markSeen(tenantId: TenantId, exportId: string): Promise<void> {
    await this.database.query(
      `UPDATE bulk_exports SET workflow_seen_at = now() WHERE tenant_id = $1 AND export_id = $2`,
      [tenantId, exportId],
    );
  }
}
