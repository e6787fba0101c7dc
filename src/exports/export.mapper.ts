import type { ExportFile, ExportRunRow } from './export-runs.repository';
import type { ExportRow } from './exports.repository';
import type { BulkExport, BulkExportRun } from './exports.schemas';

/** Row → API. */
export function toBulkExport(row: ExportRow): BulkExport {
  return {
    id: row.exportId,
    tenant_id: row.tenantId,
    bulk_export_destination_id: row.destinationId,
    session_id: row.sessionId,
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
    source_bulk_export_id: row.sourceBulkExportId,
    late_pass_of: row.latePassOf,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    finished_at: row.finishedAt,
    progress: {
      partitions_total: row.partitionsTotal,
      partitions_done: row.partitionsDone,
      rows_total: row.rowsTotal,
      rows_written: row.rowsWritten,
      bytes_written: row.bytesWritten,
    },
  };
}

/** Where the files of a partition are, as the API tells it. */
export interface ExportPlace {
  prefix: string;
  sessionId: string;
  /** The path of an object by its key: bucket first. */
  path: (key: string) => string;
  /** The key of the partition's folder. */
  folder: string;
}

/** Row and files → API. */
export function toBulkExportRun(row: ExportRunRow, files: ExportFile[], place: ExportPlace): BulkExportRun {
  const last = files.at(-1)?.lastKey;
  return {
    id: row.exportRunId,
    bulk_export_id: row.exportId,
    session_id: place.sessionId,
    status: row.status,
    retry_number: row.retryNumber,
    errors: row.errors,
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
        latest_cursor: last ? `${last.startTime},${last.runId}` : null,
        verified: row.verified,
      },
    },
  };
}
