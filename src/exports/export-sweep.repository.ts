import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type ExportStatus, openExportSql, openPartitionSql } from '../database/export-status';

export interface OpenExport {
  exportId: string;
  tenantId: string;
  isSchedule: boolean;
  status: ExportStatus;
}

/** Queries of the sweep, across tenants. */
@Injectable()
export class ExportSweepRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * Finds exports of all tenants that have not ended and whose workflow wasn't started, or wasn't checked for a while.
   */
  unseen(startedBeforeSeconds: number, seenBeforeSeconds: number, limit: number): Promise<OpenExport[]> {
    return this.database.query<OpenExport[]>(
      `SELECT export_id AS "exportId", tenant_id AS "tenantId", interval_hours IS NOT NULL AS "isSchedule", status
       FROM bulk_exports
       WHERE ${openExportSql()}
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
       WHERE ${openPartitionSql('r')} AND e.status = 'Cancelled'
         AND e.finished_at < now() - make_interval(secs => $1)
       LIMIT $2`,
      [sinceSeconds, limit],
    );
  }
}
