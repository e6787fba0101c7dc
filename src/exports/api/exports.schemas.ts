import { z } from 'zod';
import { EXPORT_STATUSES } from '../../database/export-status';
import { uuid } from '../../http/uuid';
import { FilterError } from '../../traces/filter/filter-error';
import { parseFilter } from '../../traces/filter/filter-parser';
import { toInstant } from '../../traces/instant';
import { EXPORT_FIELDS } from '../parquet/export-columns';

const instant = z.string().transform((value, context) => {
  const read = toInstant(value);
  if (read) return read;
  context.addIssue({ code: 'custom', message: 'must be an ISO 8601 timestamp' });
  return z.NEVER;
});

/** Expression in the filter language of traces; an error names its position. */
const filter = z
  .string()
  .min(1)
  .superRefine((value, context) => {
    try {
      parseFilter(value);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  });

export const createExportSchema = z
  .strictObject({
    bulk_export_destination_id: uuid,
    session_id: uuid.nullish(),
    /** Exports all projects that have a dataset when the export runs, instead of one. */
    all_experiments: z.boolean().default(false),
    start_time: instant,
    end_time: instant.optional(),
    filter: filter.optional(),
    format: z.literal('Parquet').default('Parquet'),
    format_version: z.enum(['v1', 'v2_beta']).default('v2_beta'),
    compression: z.enum(['none', 'gzip', 'snappy', 'zstandard']).default('zstandard'),
    export_fields: z
      .array(z.string())
      .min(1)
      .max(EXPORT_FIELDS.length)
      .superRefine((fields, context) => {
        const known = new Set(EXPORT_FIELDS);
        fields.forEach((field, index) => {
          if (!known.has(field)) {
            context.addIssue({
              code: 'custom',
              path: [index],
              message: `unknown field ${JSON.stringify(field)}; fields are ${EXPORT_FIELDS.join(', ')}`,
            });
          }
        });
        if (new Set(fields).size < fields.length) context.addIssue({ code: 'custom', message: 'names a field twice' });
      })
      .optional(),
    interval_hours: z.int().min(1).max(168).optional(),
    /** How costs are written: `decimal` is DECIMAL(38, 12). */
    cost_type: z.enum(['double', 'decimal']).default('double'),
    /**
     * Treatment of late rows in a scheduled export: `reexport` adds a later pass over each window, for rows that arrived or
     * changed since.
     */
    late_data: z.enum(['ignore', 'reexport']).default('ignore'),
    /** Notified when the export ends, under the policy for webhooks of runs; of a schedule, for each of its windows. */
    webhook: z.string().min(1).max(65_536).optional(),
  })
  .superRefine((body, context) => {
    const { start_time: start, end_time: end, interval_hours: interval } = body;
    if ((body.session_id != null) === body.all_experiments) {
      context.addIssue({
        code: 'custom',
        path: ['session_id'],
        message: 'give either a project or all_experiments, one of them',
      });
    }
    if (interval !== undefined && end !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['end_time'],
        message: 'must be omitted for a scheduled export (interval_hours is given)',
      });
    } else if (interval === undefined && end === undefined) {
      context.addIssue({ code: 'custom', path: ['end_time'], message: 'is required for a one-off export' });
    }
    if (interval === undefined && body.late_data === 'reexport') {
      context.addIssue({
        code: 'custom',
        path: ['late_data'],
        message: '`reexport` is for scheduled exports (interval_hours is missing)',
      });
    }
    // Instants are normalized so that their text sorts by time.
    if (end !== undefined && !(start < end)) {
      context.addIssue({ code: 'custom', path: ['end_time'], message: 'must be after start_time' });
    }
    const days = end === undefined ? 0 : (Date.parse(end) - Date.parse(start)) / 86_400_000;
    if (days > MAX_DAYS) {
      context.addIssue({
        code: 'custom',
        path: ['end_time'],
        message: `must be at most ${MAX_DAYS} days after start_time`,
      });
    }
  });

/** Ten years: each UTC day of the window is an export run. */
const MAX_DAYS = 3_660;

export const cancelExportSchema = z.strictObject({ status: z.literal('Cancelled').default('Cancelled') });

export const exportParamsSchema = z.object({ export_id: uuid });
export const exportRunParamsSchema = z.object({ export_id: uuid, run_id: uuid });

const page = {
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  offset: z.coerce.number().int().min(0).default(0),
};

export const listExportsSchema = z.object({
  ...page,
  status: z.enum(EXPORT_STATUSES).optional(),
  source_bulk_export_id: uuid.optional(),
});
export const listExportRunsSchema = z.object(page);
export const listSpawnedRunsSchema = z.object({ ...page, source_bulk_export_id: uuid });

export const verifyExportSchema = z
  .strictObject({
    /** Reads every byte back and compares the MD5s, not only the footers. */
    checksums: z.boolean().default(false),
  })
  .prefault({});

export type CreateExport = z.output<typeof createExportSchema>;
export type CancelExport = z.output<typeof cancelExportSchema>;
export type ListExports = z.output<typeof listExportsSchema>;
export type ListExportRuns = z.output<typeof listExportRunsSchema>;
export type ListSpawnedRuns = z.output<typeof listSpawnedRunsSchema>;
export type VerifyExport = z.output<typeof verifyExportSchema>;
