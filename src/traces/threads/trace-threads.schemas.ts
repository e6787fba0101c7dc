import { z } from 'zod';
import { fieldNames, pageV2Shape } from '../query/trace-query.schemas';
import { instantSchema, queryList } from '../trace-wire';

const filter = z.string().optional();

const windowShape = {
  project_id: z.guid(),
  min_start_time: instantSchema.optional(),
  /** Exclusive. */
  max_start_time: instantSchema.optional(),
};
/** Conditions on a trace that the thread must contain: on its root run, or on any run of it. */
const threadFilterShape = { filter, trace_filter: filter, tree_filter: filter, thread_filter: filter };

export const queryThreadsSchema = z.object({ ...windowShape, ...threadFilterShape, ...pageV2Shape });
export type QueryThreads = z.output<typeof queryThreadsSchema>;

/** Width of the time slots of statistics. */
const strideSchema = z.object({
  unit: z.enum(['SECOND', 'MINUTE', 'HOUR', 'DAY']),
  value: z.int().min(1).max(1_000_000),
});
export type Stride = z.output<typeof strideSchema>;

export const threadsStatsSchema = z.object({
  ...windowShape,
  ...threadFilterShape,
  select: fieldNames.min(1),
  stride: strideSchema.optional(),
});
export type ThreadsStatsQuery = z.output<typeof threadsStatsSchema>;

export const threadParamsSchema = z.object({ thread_id: z.string().min(1) });

const names = queryList(z.string().toLowerCase());

export const threadStatsSchema = z.object({
  session_id: z.guid(),
  selects: names.pipe(z.array(z.string()).min(1)),
  filter,
});
export type ThreadStatsQuery = z.output<typeof threadStatsSchema>;

export const threadTracesSchema = z.object({
  project_id: z.guid(),
  filter,
  trace_filter: filter,
  tree_filter: filter,
  selects: names,
  page_size: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().optional(),
});
export type ThreadTracesQuery = z.output<typeof threadTracesSchema>;

/** The first version: groups of runs, of which threads are the only kind. */
export const groupRunsSchema = z.object({
  session_id: z.guid(),
  group_by: z.literal('conversation'),
  filter: z.string().nullish(),
  start_time: instantSchema.nullish(),
  end_time: instantSchema.nullish(),
  offset: z.int().min(0).max(2_147_483_647).default(0),
  limit: z.int().min(1).max(100).default(10),
});
export type GroupRuns = z.output<typeof groupRunsSchema>;
