import { z } from 'zod';

/** Rows of a preview: each has up to thirty values of a thousand characters. */
const MAX_ROWS = 50;

export const previewQuerySchema = z.object({
  /** One of the run's `exported_files`; the first of them by default. */
  file: z.string().min(1).max(4096).optional(),
  /** Number of rows. */
  rows: z.coerce.number().int().min(1).max(MAX_ROWS).default(10),
});
export type PreviewQuery = z.output<typeof previewQuerySchema>;

const count = z.int().nonnegative();

export const exportPreviewSchema = z
  .object({
    file: z.string().describe('Bucket first'),
    bytes: count,
    rows_total: count.describe('Number of rows in the file'),
    row_groups: count,
    compression: z.string().nullable(),
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string().describe("The column's logical type, such as `STRING` or `TIMESTAMP(MICROS, UTC)`"),
        nullable: z.boolean(),
      }),
    ),
    rows: z
      .array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])))
      .describe(
        'The first rows. Texts above 1,000 characters end in an ellipsis; integers above 2^53 are text; decimals are rounded to doubles',
      ),
    columns_left_out: z.array(z.string()).describe('Columns that are too large for a preview: the rows lack them'),
  })
  .meta({ id: 'BulkExportPreview' });
export type ExportPreview = z.output<typeof exportPreviewSchema>;
