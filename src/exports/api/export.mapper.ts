import type { PartFile, PartitionRow } from '../partitions/partition-row';
import type { ExportRow } from '../export-row';
import type { BulkExport, BulkExportRun, ExportProgress, ExportProgressEvent } from './export-responses.schemas';

/** Row → API. */
export function toBulkExport(row: ExportRow): BulkExport {
  return {
    id: row.exportId,
    tenant_id: row.tenantId,
    bulk_export_destination_id: row.destinationId,
    session_id: row.sessionId,
    all_experiments: row.sessionId === null,
    start_time: row.startTime,
    end_time: row.endTime,
    filter: row.filter,
    format: row.format,
    format_version: row.formatVersion,
    compression: row.compression,
    export_fields: row.exportFields,
    interval_hours: row.intervalHours,
    cost_type: row.costType,
    late_data: row.lateData,
    status: row.status,
    error: row.error,
    error_code: row.errorCode,
    error_hint: row.errorHint,
    source_bulk_export_id: row.sourceBulkExportId,
    late_pass_of: row.latePassOf,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    finished_at: row.finishedAt,
    verified_at: row.verifiedAt,
    progress: toProgress(row),
  };
}

/** The state of an export for the stream of its progress. */
export function toProgressEvent(row: ExportRow): ExportProgressEvent {
  const { id, status, error, error_code, error_hint, finished_at, progress } = toBulkExport(row);
  return { id, status, error, error_code, error_hint, finished_at, progress };
}

function toProgress(row: ExportRow): ExportProgress {
  const seconds = row.elapsedMs / 1_000;
  const hasRate = seconds > 0 && row.rowsWrittenNow > 0;
  const rowsPerSecond = hasRate ? row.rowsWrittenNow / seconds : null;
  const left = row.rowsTotal - row.rowsWritten;
  return {
    partitions_total: row.partitionsTotal,
    partitions_done: row.partitionsDone,
    partitions_running: row.partitionsRunning,
    partitions_stalled: row.partitionsStalled,
    is_stalled: row.isStalled ?? false,
    heartbeat_at: row.heartbeatAt,
    rows_per_second: rowsPerSecond && Math.round(rowsPerSecond * 10) / 10,
    bytes_per_second: hasRate ? Math.round(row.bytesWrittenNow / seconds) : null,
    seconds_left: row.status === 'Running' && rowsPerSecond ? Math.ceil(Math.max(0, left) / rowsPerSecond) : null,
    rows_total: row.rowsTotal,
    rows_written: row.rowsWritten,
    bytes_written: row.bytesWritten,
  };
}

/** Where the files of a partition are, as the API shows it. */
export interface ExportPlace {
  prefix: string;
  /** The path of an object: the bucket, then the key. */
  path: (key: string) => string;
  /** Its URL, with the external endpoint if the destination has one. */
  url: (key: string) => string;
  /** The key of the partition's folder. */
  folder: string;
}

/** Row and files → API. */
export function toBulkExportRun(row: PartitionRow, files: PartFile[], place: ExportPlace): BulkExportRun {
  const last = files.at(-1)?.lastKey;
  return {
    id: row.partitionId,
    bulk_export_id: row.exportId,
    session_id: row.sessionId,
    status: row.status,
    retry_number: row.retryNumber,
    errors: row.errors,
    error_code: row.errorCode,
    error_hint: row.errorHint,
    is_stalled: row.isStalled,
    heartbeat_at: row.heartbeatAt,
    rows_written: row.rowsWritten,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    finished_at: row.finishedAt,
    start_time: row.startTime,
    end_time: row.endTime,
    metadata: {
      prefix: place.prefix,
      start_time: row.startTime,
      end_time: row.endTime,
      result: {
        rows_total: row.rowsPlanned,
        rows_written: row.rowsWritten,
        bytes_written: row.bytesWritten,
        exported_files: files.map(({ objectKey }) => place.path(objectKey)),
        export_path: place.path(place.folder),
        export_url: place.url(place.folder),
        latest_cursor: last ? `${last.startTime},${last.runId}` : null,
        verified: row.verified,
      },
    },
  };
}
