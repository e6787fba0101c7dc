import { z } from 'zod';
import { EXPORT_STATUSES, PARTITION_STATUSES } from '../../database/export-status';

const time = z.iso.datetime({ offset: true });
const count = z.int().nonnegative();

export const exportProgressSchema = z
  .object({
    partitions_total: count,
    partitions_done: count,
    partitions_running: count,
    partitions_stalled: count.describe('Running partitions without a heartbeat for a minute'),
    is_stalled: z.boolean().describe('Whether the export is running without a heartbeat of a worker'),
    heartbeat_at: time.nullable().describe('The last heartbeat of a running export'),
    rows_per_second: z
      .number()
      .nullable()
      .describe("Average since the export's turn came; null before the first file, as are bytes_per_second"),
    bytes_per_second: z.number().nullable(),
    seconds_left: z.number().nullable().describe('Remaining time at that rate; null when it is unknown'),
    rows_total: count,
    rows_written: count,
    bytes_written: count,
  })
  .meta({ id: 'BulkExportProgress' });
export type ExportProgress = z.output<typeof exportProgressSchema>;

export const bulkExportSchema = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    bulk_export_destination_id: z.guid(),
    session_id: z.guid().nullable().describe('Null for an export of all experiments'),
    all_experiments: z.boolean(),
    start_time: time,
    end_time: time.nullable(),
    filter: z.string().nullable(),
    format: z.string(),
    format_version: z.string(),
    compression: z.string(),
    export_fields: z.array(z.string()).nullable(),
    interval_hours: z.int().nullable(),
    cost_type: z.string(),
    late_data: z.string(),
    status: z.enum(EXPORT_STATUSES),
    error: z.string().nullable().describe('Why the export failed'),
    error_code: z.string().nullable().describe('The same for programs'),
    error_hint: z.string().nullable().describe('What to do about it'),
    source_bulk_export_id: z.guid().nullable(),
    late_pass_of: z.guid().nullable().describe('The export whose window this one passes over again, for late data'),
    created_at: time,
    updated_at: time,
    finished_at: time.nullable(),
    verified_at: time.nullable().describe('When the bucket was last found to hold what was written'),
    progress: exportProgressSchema,
  })
  .meta({ id: 'BulkExport' });
export type BulkExport = z.output<typeof bulkExportSchema>;
export const bulkExportListSchema = z.array(bulkExportSchema);

export const bulkExportRunSchema = z
  .object({
    id: z.guid(),
    bulk_export_id: z.guid(),
    session_id: z.guid(),
    status: z.enum(PARTITION_STATUSES),
    retry_number: count,
    errors: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Errors of the failed attempts, as retry_0, retry_1 and so on'),
    error_code: z.string().nullable().describe('Of the last failure, unless the partition is complete'),
    error_hint: z.string().nullable(),
    is_stalled: z.boolean().describe('Whether the partition is running without a heartbeat for a minute'),
    heartbeat_at: time.nullable(),
    rows_written: count,
    created_at: time,
    updated_at: time,
    finished_at: time.nullable(),
    start_time: time.describe('Start of the partition, inclusive'),
    end_time: time.describe('Its end, exclusive'),
    metadata: z.object({
      prefix: z.string(),
      start_time: time,
      end_time: time,
      result: z.object({
        rows_total: count,
        rows_written: count,
        bytes_written: count,
        exported_files: z.array(z.string()),
        export_path: z.string(),
        export_url: z
          .string()
          .describe('The same place as a URL, with the external endpoint if the destination has one'),
        latest_cursor: z.string().nullable(),
        verified: z
          .boolean()
          .nullable()
          .describe('Whether the files were read back and compared; null until the partition is complete'),
      }),
    }),
  })
  .meta({ id: 'BulkExportRun' });
export type BulkExportRun = z.output<typeof bulkExportRunSchema>;
export const bulkExportRunListSchema = z.array(bulkExportRunSchema);

const problemSchema = z.object({
  path: z.string().describe('Bucket first'),
  problem: z.string().describe('Continues the path as a sentence: `is not in the bucket`'),
});
export type VerificationProblem = z.output<typeof problemSchema>;

export const exportVerificationSchema = z
  .object({
    export_id: z.guid(),
    verified: z.boolean(),
    checksums: z.boolean().describe('Whether all bytes were read'),
    files: count,
    rows: count,
    bytes: count,
    problems: z.array(problemSchema),
  })
  .meta({ id: 'BulkExportVerification' });
export type ExportVerification = z.output<typeof exportVerificationSchema>;

const rowKey = z.object({ start_time: time, id: z.string() });

export const exportManifestSchema = z
  .object({
    version: z.number(),
    export_id: z.guid(),
    tenant_id: z.string(),
    session_id: z.guid().nullable(),
    all_experiments: z.boolean().optional(),
    start_time: time,
    end_time: time.nullable(),
    received_until: time.nullable().describe('Rows that were received later are not in the export'),
    filter: z.string().nullable(),
    format: z.string(),
    format_version: z.string(),
    compression: z.string(),
    cost_type: z.string(),
    late_pass: z.object({ of: z.guid(), changed_after: time.nullable() }).nullable(),
    schema: z.array(z.object({ name: z.string(), type: z.string() })),
    sizes_verified: z.boolean(),
    row_counts_verified: z.boolean(),
    not_verified: z.array(z.string()),
    leftover_files: z
      .array(z.string())
      .describe('Files of earlier attempts that may be in the folders of days, since deleting them is not permitted'),
    rows: count,
    bytes: count,
    partitions: z.array(
      z.object({
        session_id: z.guid().optional(),
        day: z.string(),
        start_time: time,
        end_time: time,
        rows_in_source: count.nullable(),
        rows: count,
        verified: z.boolean(),
        bytes: count,
        files: z.array(
          z.object({
            path: z.string().describe('Bucket first'),
            rows: count,
            bytes: count,
            md5: z.string(),
            first: rowKey,
            last: rowKey,
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'BulkExportManifest' });
export type ExportManifest = z.output<typeof exportManifestSchema>;

/** Event of the stream of an export's progress. */
export type ExportProgressEvent = Pick<
  BulkExport,
  'id' | 'status' | 'error' | 'error_code' | 'error_hint' | 'finished_at' | 'progress'
>;
