import type { PartitionStatus } from '../../database/export-status';
import { isoText, STALLED } from '../export-row';
import type { RowKey } from './row-selection';

/** A partition as stored; instants are ISO text. */
export interface PartitionRow {
  partitionId: string;
  exportId: string;
  sessionId: string;
  day: string;
  startTime: string;
  endTime: string;
  status: PartitionStatus;
  attempt: number;
  retryNumber: number;
  errors: Record<string, string> | null;
  rowsPlanned: number;
  rowsWritten: number;
  bytesWritten: number;
  /** The most rows of the selection that an attempt has counted in the source. */
  rowsSeen: number;
  /** The most rows that an attempt has counted without the filter; null when an earlier release planned the partition. */
  sourceSeen: number | null;
  /** Number of parts that an attempt has begun to write: files of them may be in the store. */
  partsBegun: number;
  /** Whether the files were read back; null until the partition is complete. */
  verified: boolean | null;
  errorCode: string | null;
  errorHint: string | null;
  heartbeatAt: string | null;
  isStalled: boolean;
  createdAt: string;
  updatedAt: string;
  finishedAt: string | null;
}

export interface PartFile {
  partitionId: string;
  part: number;
  objectKey: string;
  rows: number;
  bytes: number;
  md5: string;
  firstKey: RowKey;
  lastKey: RowKey;
}

/** The files of each partition, in the order in which they are given. */
export function filesByPartition(files: PartFile[]): Map<string, PartFile[]> {
  const byPartition = new Map<string, PartFile[]>();
  for (const file of files) {
    const known = byPartition.get(file.partitionId);
    if (known) known.push(file);
    else byPartition.set(file.partitionId, [file]);
  }
  return byPartition;
}

/** Columns of a PartitionRow, over `bulk_export_runs r`. */
export const PARTITION_COLUMNS = `
  r.export_run_id AS "partitionId", r.export_id AS "exportId", r.day::text AS day, coalesce(r.session_id, (
    SELECT one.session_id FROM bulk_exports one WHERE one.tenant_id = r.tenant_id AND one.export_id = r.export_id)) AS "sessionId",
  ${isoText('r.start_time')} AS "startTime", ${isoText('r.end_time')} AS "endTime", r.status, r.attempt,
  r.retry_number AS "retryNumber", r.errors, r.rows_planned::float8 AS "rowsPlanned",
  r.rows_written::float8 AS "rowsWritten", r.bytes_written::float8 AS "bytesWritten",
  r.rows_seen::float8 AS "rowsSeen", r.source_seen::float8 AS "sourceSeen", r.parts_begun AS "partsBegun", r.verified,
  r.error_code AS "errorCode", r.error_hint AS "errorHint",
  ${isoText('r.heartbeat_at')} AS "heartbeatAt", coalesce(${STALLED}, false) AS "isStalled",
  ${isoText('r.created_at')} AS "createdAt", ${isoText('r.updated_at')} AS "updatedAt",
  ${isoText('r.finished_at')} AS "finishedAt"`;

/** Columns of a PartFile, over `bulk_export_files f`. */
export const FILE_COLUMNS = `
  f.export_run_id AS "partitionId", f.part, f.object_key AS "objectKey", f.rows::float8 AS rows,
  f.bytes::float8 AS bytes, f.md5,
  json_build_object('startTime', ${isoText('f.first_start_time')}, 'runId', f.first_run_id) AS "firstKey",
  json_build_object('startTime', ${isoText('f.last_start_time')}, 'runId', f.last_run_id) AS "lastKey"`;
