import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { openPartitionSql } from '../../database/export-status';
import { storableText } from '../../database/storable-text';
import type { FailureWords } from '../export-failure';
import { FILE_COLUMNS, PARTITION_COLUMNS, type PartFile, type PartitionRow } from './partition-row';
import type { DayCount, Watermark } from './row-selection';

/** The partitions of exports and the files they wrote. */
@Injectable()
export class PartitionsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * Creates a partition for each UTC day in the export's window, once. A day without rows is complete from the start; with all
   * experiments, only days with rows get a partition. `watermark` is stored with them.
   */
  async plan(tenantId: TenantId, exportId: string, watermark: Watermark, counts: DayCount[]): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const [rows] = await transaction.query<[unknown[], number]>(
        `UPDATE bulk_exports SET planned_at = $3, has_unseen_writers = NOT $4::boolean, updated_at = now()
         WHERE tenant_id = $1 AND export_id = $2 AND planned_at IS NULL AND status = 'Running' RETURNING export_id`,
        [tenantId, exportId, watermark.at, watermark.isSettled],
      );
      if (rows.length === 0) return;
      // 24 hours and not a day: a session's time zone must not make days of 23 hours.
      await transaction.query(
        `INSERT INTO bulk_export_runs
           (tenant_id, export_run_id, export_id, session_id, day, start_time, end_time, status, rows_planned, rows_seen, source_seen,
            started_at, finished_at, verified)
         SELECT e.tenant_id, gen_random_uuid(), e.export_id, 
           CASE WHEN e.session_id IS NULL THEN c.session_id END, (d.day AT TIME ZONE 'UTC')::date,
           greatest(d.day, e.start_time), least(d.day + interval '24 hours', e.end_time),
           CASE WHEN c.rows IS NULL THEN 'Completed' ELSE 'Created' END, coalesce(c.rows, 0), coalesce(c.rows, 0), c.source_rows,
           CASE WHEN c.rows IS NULL THEN now() END, CASE WHEN c.rows IS NULL THEN now() END, c.rows IS NULL OR NULL
         FROM bulk_exports e
         CROSS JOIN LATERAL generate_series(
           date_trunc('day', e.start_time, 'UTC'), e.end_time - interval '1 microsecond', interval '24 hours') AS d(day)
         LEFT JOIN unnest($3::date[], $4::bigint[], $5::bigint[], $6::uuid[]) AS c(day, rows, source_rows, session_id)
           ON c.day = (d.day AT TIME ZONE 'UTC')::date
         WHERE e.tenant_id = $1 AND e.export_id = $2 AND (e.session_id IS NOT NULL OR c.session_id IS NOT NULL)`,
        [
          ...[tenantId, exportId, counts.map(({ day }) => day), counts.map(({ rows: count }) => count)],
          ...[counts.map(({ sourceRows }) => sourceRows), counts.map(({ sessionId }) => sessionId)],
        ],
      );
    });
  }

  async findPartition(tenantId: TenantId, exportId: string, partitionId: string): Promise<PartitionRow | undefined> {
    const [row] = await this.database.query<PartitionRow[]>(
      `SELECT ${PARTITION_COLUMNS} FROM bulk_export_runs r WHERE r.tenant_id = $1 AND r.export_id = $2 AND r.export_run_id = $3`,
      [tenantId, exportId, partitionId],
    );
    return row;
  }

  listPartitions(tenantId: TenantId, exportId: string, limit: number | null, offset: number): Promise<PartitionRow[]> {
    return this.database.query<PartitionRow[]>(
      `SELECT ${PARTITION_COLUMNS} FROM bulk_export_runs r WHERE r.tenant_id = $1 AND r.export_id = $2
       ORDER BY r.day, r.session_id LIMIT $3 OFFSET $4`,
      [tenantId, exportId, limit, offset],
    );
  }

  async countPartitions(tenantId: TenantId, exportId: string): Promise<number> {
    const [{ total }] = await this.database.query<[{ total: number }]>(
      `SELECT count(*)::int AS total FROM bulk_export_runs WHERE tenant_id = $1 AND export_id = $2`,
      [tenantId, exportId],
    );
    return total;
  }

  /** The partitions of all exports that a schedule spawned. */
  listSpawned(tenantId: TenantId, sourceId: string, limit: number | null, offset: number): Promise<PartitionRow[]> {
    return this.database.query<PartitionRow[]>(
      `SELECT ${PARTITION_COLUMNS} FROM bulk_export_runs r
       JOIN bulk_exports e ON e.tenant_id = r.tenant_id AND e.export_id = r.export_id
       WHERE r.tenant_id = $1 AND e.source_bulk_export_id = $2
       ORDER BY r.start_time, r.export_run_id LIMIT $3 OFFSET $4`,
      [tenantId, sourceId, limit, offset],
    );
  }

  async countSpawned(tenantId: TenantId, sourceId: string): Promise<number> {
    const [{ total }] = await this.database.query<[{ total: number }]>(
      `SELECT count(*)::int AS total FROM bulk_export_runs r
       JOIN bulk_exports e ON e.tenant_id = r.tenant_id AND e.export_id = r.export_id
       WHERE r.tenant_id = $1 AND e.source_bulk_export_id = $2`,
      [tenantId, sourceId],
    );
    return total;
  }

  /** The next partitions. An export of all experiments has a partition for each project and `day`. */
  listOpenPartitions(
    tenantId: TenantId,
    exportId: string,
    limit: number,
  ): Promise<{ partitionId: string; day: string }[]> {
    return this.database.query<{ partitionId: string; day: string }[]>(
      `SELECT r.export_run_id AS "partitionId", r.day::text || coalesce('-' || r.session_id, '') AS day
       FROM bulk_export_runs r
       WHERE r.tenant_id = $1 AND r.export_id = $2 AND ${openPartitionSql('r')}
       ORDER BY r.day, r.session_id LIMIT $3`,
      [tenantId, exportId, limit],
    );
  }

  /** Claims the partition for an attempt with a new fencing token; undefined if it or its export has ended. */
  async beginPartition(tenantId: TenantId, partitionId: string): Promise<PartitionRow | undefined> {
    const [[row]] = await this.database.query<[PartitionRow[], number]>(
      `UPDATE bulk_export_runs r SET status = 'Running', attempt = r.attempt + 1, updated_at = now(),
         started_at = coalesce(r.started_at, now())
       FROM bulk_exports e
       WHERE r.tenant_id = $1 AND r.export_run_id = $2 AND ${openPartitionSql('r')}
         AND e.tenant_id = r.tenant_id AND e.export_id = r.export_id AND e.status = 'Running'
       RETURNING ${PARTITION_COLUMNS}`,
      [tenantId, partitionId],
    );
    return row;
  }

  files(tenantId: TenantId, partitionId: string): Promise<PartFile[]> {
    return this.database.query<PartFile[]>(
      `SELECT ${FILE_COLUMNS} FROM bulk_export_files f WHERE f.tenant_id = $1 AND f.export_run_id = $2 ORDER BY f.part`,
      [tenantId, partitionId],
    );
  }

  /** The files of an export's partitions, by day and part. */
  filesOf(tenantId: TenantId, exportId: string): Promise<PartFile[]> {
    return this.database.query<PartFile[]>(
      `SELECT ${FILE_COLUMNS} FROM bulk_export_files f
       JOIN bulk_export_runs r ON r.tenant_id = f.tenant_id AND r.export_run_id = f.export_run_id
       WHERE r.tenant_id = $1 AND r.export_id = $2 ORDER BY r.day, r.session_id, f.part`,
      [tenantId, exportId],
    );
  }

  /** The files of several partitions, for a listing. */
  filesIn(tenantId: TenantId, partitionIds: string[]): Promise<PartFile[]> {
    return this.database.query<PartFile[]>(
      `SELECT ${FILE_COLUMNS} FROM bulk_export_files f
       WHERE f.tenant_id = $1 AND f.export_run_id = ANY ($2::uuid[]) ORDER BY f.export_run_id, f.part`,
      [tenantId, partitionIds],
    );
  }

  /**
   * Records that the upload of a part begins: from now on a file of it may be in the store. Resolves to false when the attempt has lost
   * the partition.
   */
  async beginFile(tenantId: TenantId, partitionId: string, attempt: number, part: number): Promise<boolean> {
    const [rows] = await this.database.query<[unknown[], number]>(
      `UPDATE bulk_export_runs SET parts_begun = greatest(parts_begun, $4::integer + 1)
       WHERE tenant_id = $1 AND export_run_id = $2 AND attempt = $3 AND status = 'Running' RETURNING export_run_id`,
      [tenantId, partitionId, attempt, part],
    );
    return rows.length > 0;
  }

  /** Records a file that the store has acknowledged; resolves to false when the attempt has lost the partition. */
  async addFile(tenantId: TenantId, attempt: number, file: PartFile): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      if (!(await this.isHeld(transaction, tenantId, file.partitionId, attempt))) return false;
      await transaction.query(
        `INSERT INTO bulk_export_files (tenant_id, export_run_id, part, object_key, rows, bytes, md5,
           first_start_time, first_run_id, last_start_time, last_run_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          tenantId,
          file.partitionId,
          file.part,
          file.objectKey,
          file.rows,
          file.bytes,
          file.md5,
          file.firstKey.startTime,
          file.firstKey.runId,
          file.lastKey.startTime,
          file.lastKey.runId,
        ],
      );
      // Only a part that no attempt has written before is progress: one that is written again may be so for ever.
      await transaction.query(
        `UPDATE bulk_export_runs SET rows_written = rows_written + $3, bytes_written = bytes_written + $4, updated_at = now(),
           retry_base = CASE WHEN parts_written <= $5 THEN retry_number ELSE retry_base END,
           parts_written = greatest(parts_written, $5::integer + 1)
         WHERE tenant_id = $1 AND export_run_id = $2`,
        [tenantId, file.partitionId, file.rows, file.bytes, file.part],
      );
      return true;
    });
  }

  /** Forgets the files from `part` on, since those in the store differ from what was written. They stay there until they are replaced. */
  async dropFiles(tenantId: TenantId, partitionId: string, attempt: number, part: number): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if (!(await this.isHeld(transaction, tenantId, partitionId, attempt))) return;
      // An earlier release may have begun these files, which counted none.
      await transaction.query(
        `WITH dropped AS (
           DELETE FROM bulk_export_files WHERE tenant_id = $1 AND export_run_id = $2 AND part >= $3 RETURNING part)
         UPDATE bulk_export_runs SET parts_begun = greatest(parts_begun, (SELECT max(part) + 1 FROM dropped))
         WHERE tenant_id = $1 AND export_run_id = $2`,
        [tenantId, partitionId, part],
      );
      await transaction.query(
        `UPDATE bulk_export_runs r SET updated_at = now(), (rows_written, bytes_written) = (
           SELECT coalesce(sum(f.rows), 0), coalesce(sum(f.bytes), 0) FROM bulk_export_files f
           WHERE f.tenant_id = $1 AND f.export_run_id = $2)
         WHERE r.tenant_id = $1 AND r.export_run_id = $2`,
        [tenantId, partitionId],
      );
    });
  }

  /** Forgets the files that were begun beyond those of these partitions, since they are in the store no more. */
  async forgetLeftovers(tenantId: TenantId, partitionIds: string[]): Promise<void> {
    await this.database.query(
      `UPDATE bulk_export_runs r SET parts_begun = (
         SELECT count(*) FROM bulk_export_files f WHERE f.tenant_id = $1 AND f.export_run_id = r.export_run_id)
       WHERE r.tenant_id = $1 AND r.export_run_id = ANY ($2::uuid[])`,
      [tenantId, partitionIds],
    );
  }

  /**
   * Records how many rows the attempt that owns the partition has counted in the source, without the filter.
   * @param isSelection whether the partition exports all of them
   */
  async sawRows(
    tenantId: TenantId,
    partitionId: string,
    attempt: number,
    sourceRows: number,
    isSelection: boolean,
  ): Promise<void> {
    await this.database.query(
      `UPDATE bulk_export_runs SET source_seen = greatest(source_seen, $4),
         rows_seen = CASE WHEN $5 THEN greatest(rows_seen, $4) ELSE rows_seen END
       WHERE tenant_id = $1 AND export_run_id = $2 AND attempt = $3`,
      [tenantId, partitionId, attempt, sourceRows, isSelection],
    );
  }

  /** Completes the partition for the attempt that owns it. */
  async completePartition(
    tenantId: TenantId,
    partitionId: string,
    attempt: number,
    verified: boolean,
  ): Promise<boolean> {
    const [rows] = await this.database.query<[unknown[], number]>(
      `UPDATE bulk_export_runs SET status = 'Completed', verified = $4, error_code = NULL, error_hint = NULL, finished_at = now(), updated_at = now()
       WHERE tenant_id = $1 AND export_run_id = $2 AND attempt = $3 AND status = 'Running' RETURNING export_run_id`,
      [tenantId, partitionId, attempt, verified],
    );
    return rows.length > 0;
  }

  /** Records a heartbeat of the attempt that owns the partition. */
  async beat(tenantId: TenantId, partitionId: string, attempt: number): Promise<void> {
    await this.database.query(
      `UPDATE bulk_export_runs SET heartbeat_at = now() WHERE tenant_id = $1 AND export_run_id = $2 AND attempt = $3`,
      [tenantId, partitionId, attempt],
    );
  }

  /** Records the error of an attempt; resolves to the number of failures since the partition was opened or has got a further file. */
  async addError(
    tenantId: TenantId,
    partitionId: string,
    message: string,
    { code, hint }: FailureWords,
  ): Promise<number> {
    const [[row]] = await this.database.query<[{ failures: number }[], number]>(
      `UPDATE bulk_export_runs r SET retry_number = retry_number + 1, updated_at = now(), error_code = $4, error_hint = $5,
         errors = coalesce(errors, '{}') || jsonb_build_object('retry_' || retry_number, $3::text)
       WHERE tenant_id = $1 AND export_run_id = $2
       RETURNING retry_number - retry_base AS failures`,
      [tenantId, partitionId, storableText(message), code, hint],
    );
    return row?.failures ?? 0;
  }

  async failPartition(tenantId: TenantId, partitionId: string, message: string): Promise<void> {
    await this.database.query(
      `UPDATE bulk_export_runs SET status = 'Failed', finished_at = now(), updated_at = now(),
         errors = coalesce(errors, jsonb_build_object('retry_0', $3::text))
       WHERE tenant_id = $1 AND export_run_id = $2 AND ${openPartitionSql()}`,
      [tenantId, partitionId, storableText(message)],
    );
  }

  /** Locks the partition, and resolves to whether the attempt still owns it. */
  private async isHeld(
    manager: EntityManager,
    tenantId: TenantId,
    partitionId: string,
    attempt: number,
  ): Promise<boolean> {
    const rows = await manager.query<unknown[]>(
      `SELECT 1 FROM bulk_export_runs
       WHERE tenant_id = $1 AND export_run_id = $2 AND attempt = $3 AND status = 'Running' FOR UPDATE`,
      [tenantId, partitionId, attempt],
    );
    return rows.length > 0;
  }
}
