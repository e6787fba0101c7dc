import type { OpenDestination } from '../destinations/destinations.service';
import { exportColumns } from '../parquet/export-columns';
import { objectPath } from '../destinations/export-layout';
import { filesByPartition, type PartFile, type PartitionRow } from '../partitions/partition-row';
import type { ExportRow } from '../export-row';
import { leftoversOf } from './leftover-files';

/** The data that a consumer needs to check an export. It contains no time of writing, so a repetition writes the same bytes. */
export function exportManifest(
  row: ExportRow,
  partitions: PartitionRow[],
  files: PartFile[],
  { place, store: { permissions } }: OpenDestination,
): string {
  const byPartition = filesByPartition(files);
  const isVerified = partitions.every(({ verified }) => verified === true);
  const manifest = {
    version: 1,
    export_id: row.exportId,
    tenant_id: row.tenantId,
    session_id: row.sessionId,
    ...(row.sessionId === null && { all_experiments: true }),
    start_time: row.startTime,
    end_time: row.endTime,
    /** Rows that were received later are not in the export. */
    received_until: row.plannedAt,
    filter: row.filter,
    format: row.format,
    format_version: row.formatVersion,
    compression: row.compression,
    cost_type: row.costType,
    /** Set on a later pass, which has the rows that arrived or changed since; by id, they replace those of the first pass. */
    late_pass: row.latePassOf && { of: row.latePassOf, changed_after: row.changedAfter },
    schema: exportColumns(row).map(({ name, type }) => ({ name, type })),
    sizes_verified: isVerified,
    row_counts_verified: isVerified,
    not_verified: isVerified
      ? []
      : [`sizes and row counts of the files: the credentials may not read (${permissions.read} is not permitted)`],
    leftover_files: [...leftoversOf(place, row.tenantId, partitions, files).values()]
      .flat()
      .map((key) => objectPath(place, key)),
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    partitions: partitions.map((partition) => ({
      ...(row.sessionId === null && { session_id: partition.sessionId }),
      day: partition.day,
      start_time: partition.startTime,
      end_time: partition.endTime,
      rows_in_source: partition.rowsSeen,
      rows: partition.rowsWritten,
      verified: partition.verified === true,
      bytes: partition.bytesWritten,
      files: (byPartition.get(partition.partitionId) ?? []).map((file) => ({
        path: objectPath(place, file.objectKey),
        rows: file.rows,
        bytes: file.bytes,
        md5: file.md5,
        first: { start_time: file.firstKey.startTime, id: file.firstKey.runId },
        last: { start_time: file.lastKey.startTime, id: file.lastKey.runId },
      })),
    })),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
