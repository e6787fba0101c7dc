import { z } from 'zod';
import { instantSchema, queryBoolean, queryList } from '../trace-wire';

/** Filters are checked where they are compiled, so that the error has the position. */
const filter = z.string();
const ids = z.array(z.guid());

const runFilterShape = {
  id: ids.optional(),
  session: ids.optional(),
  trace: z.guid().optional(),
  parent_run: z.guid().optional(),
  run_type: z.string().optional(),
  // The JavaScript client sends the one that it is given.
  reference_example: z.union([ids, z.guid().transform((id) => [id])]).optional(),
  execution_order: z.literal(1).optional(),
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
  error: z.boolean().optional(),
  is_root: z.boolean().optional(),
  query: z.string().optional(),
  search_filter: z.string().optional(),
  filter: filter.optional(),
  trace_filter: filter.optional(),
  tree_filter: filter.optional(),
};

/** Maximum of a page: clients send their user's limit unchanged, and count themselves. */
const PAGE_V1 = 100;
const PAGE_V2 = 1000;

export const queryRunsSchema = z.object({
  ...runFilterShape,
  cursor: z.string().optional(),
  limit: z
    .int()
    .min(1)
    .default(PAGE_V1)
    .transform((limit) => Math.min(limit, PAGE_V1)),
  select: z.array(z.string()).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
});
export type QueryRuns = z.output<typeof queryRunsSchema>;

const groupBy = z.object({
  attribute: z.enum(['name', 'run_type', 'tag', 'metadata']),
  path: z.string().optional(),
  max_groups: z.int().min(1).max(100).default(5),
});

export const runStatsSchema = z.object({
  ...runFilterShape,
  group_by: groupBy.optional(),
  select: z.array(z.string()).optional(),
});
export type RunStatsQuery = z.output<typeof runStatsSchema>;
export type RunFilter = Pick<RunStatsQuery, keyof typeof runFilterShape>;

export const validateQuerySchema = z.object({
  filter: filter.optional(),
  trace_filter: filter.optional(),
  tree_filter: filter.optional(),
});
export type ValidateQuery = z.output<typeof validateQuerySchema>;

export const deleteRunsSchema = z.object({ session_id: z.guid(), trace_ids: ids.min(1).max(1000) });
export type DeleteRuns = z.output<typeof deleteRunsSchema>;

export const readRunSchema = z.object({
  session_id: z.guid().optional(),
  start_time: instantSchema.optional(),
  exclude_serialized: queryBoolean.optional(),
});

/** Names of fields, which clients write in capitals. */
export const fieldNames = z.array(z.string().toLowerCase());

/** Pagination of queries of the second version, and their options that are not supported. */
export const pageV2Shape = {
  page_size: z.int().min(1).max(PAGE_V2).default(100),
  cursor: z.string().optional(),
  ai_search: z.string().optional(),
  sem_filter: z.string().optional(),
};
const feedbackWindowShape = {
  min_feedback_modified_at: instantSchema.optional(),
  max_feedback_modified_at: instantSchema.optional(),
};

export const queryRunsV2Schema = z.object({
  project_ids: ids.optional(),
  reference_dataset_id: z.guid().optional(),
  min_start_time: instantSchema.optional(),
  max_start_time: instantSchema.optional(),
  ids: ids.optional(),
  trace_id: z.guid().optional(),
  is_root: z.boolean().optional(),
  has_error: z.boolean().optional(),
  run_type: z.string().optional(),
  reference_examples: ids.optional(),
  filter: filter.optional(),
  trace_filter: filter.optional(),
  tree_filter: filter.optional(),
  selects: fieldNames.default(['id']),
  /** Whether tokens and costs of a run include those of all runs under it. */
  include_subtree_usage: z.boolean().default(false),
  sort_order: z.enum(['ASC', 'DESC']).default('DESC'),
  ...feedbackWindowShape,
  ...pageV2Shape,
});
export type QueryRunsV2 = z.output<typeof queryRunsV2Schema>;

export const readRunV2Schema = z.object({
  project_id: z.guid(),
  start_time: instantSchema.optional(),
  selects: queryList(z.string().toLowerCase()),
});
export type ReadRunV2 = z.output<typeof readRunV2Schema>;

export const traceRunsV2Schema = z.object({
  project_id: z.guid(),
  filter: filter.optional(),
  min_start_time: instantSchema.optional(),
  max_start_time: instantSchema.optional(),
  selects: queryList(z.string().toLowerCase()),
});
export type TraceRunsV2 = z.output<typeof traceRunsV2Schema>;

export const queryTracesSchema = z.object({
  project_id: z.guid(),
  min_start_time: instantSchema.optional(),
  /** Exclusive. */
  max_start_time: instantSchema.optional(),
  trace_ids: ids.max(PAGE_V2).optional(),
  trace_filter: filter.optional(),
  tree_filter: filter.optional(),
  selects: fieldNames.default(['id']),
  ...feedbackWindowShape,
  ...pageV2Shape,
});
export type QueryTraces = z.output<typeof queryTracesSchema>;

export const traceParamsSchema = z.object({ trace_id: z.guid() });

export const attachmentParamsSchema = z.object({ tenant_id: z.guid(), run_id: z.guid(), name: z.string().min(1) });
export const attachmentQuerySchema = z.object({ expires: z.coerce.number().int(), signature: z.string() });
