import { z } from 'zod';
import { fieldNames } from '../query/trace-query.schemas';
import { instantSchema, queryList } from '../trace-wire';

/** Body of the first version. Clients propose a token; only the one in the answer is valid. */
export const shareRunV1Schema = z.object({ run_id: z.guid().optional(), share_token: z.string().optional() });

export const shareRunSchema = z.object({ session_id: z.guid(), trace_id: z.guid() });
export type ShareRun = z.output<typeof shareRunSchema>;

export const unshareTraceSchema = z.object({ session_id: z.guid() });
export type UnshareTrace = z.output<typeof unshareTraceSchema>;

export const threadShareSchema = z.object({ project_id: z.guid() });
export type ThreadShare = z.output<typeof threadShareSchema>;

export const sharedParamsSchema = z.object({ share_token: z.string() });
export const sharedRunParamsSchema = z.object({ share_token: z.string(), run_id: z.guid() });

/**
 * Fields of a run in a public link: what it did, and nothing about the tenant, its server, or the authors of feedback.
 */
const PUBLIC_FIELDS = [
  ...['id', 'name', 'run_type', 'status', 'start_time', 'end_time', 'latency_seconds', 'first_token_time', 'error'],
  ...['error_preview', 'extra', 'metadata', 'inputs', 'inputs_preview', 'outputs', 'outputs_preview', 'parent_run_id'],
  ...['parent_run_ids', 'project_id', 'trace_id', 'thread_id', 'dotted_order', 'is_root', 'reference_dataset_id'],
  ...['total_tokens', 'prompt_tokens', 'completion_tokens', 'total_cost', 'prompt_cost', 'completion_cost'],
  ...['prompt_token_details', 'completion_token_details', 'prompt_cost_details', 'completion_cost_details'],
  ...['price_model_id', 'tags', 'thread_evaluation_time', 'feedback_stats'],
];
const publicFields = fieldNames.refine((names) => names.every((name) => PUBLIC_FIELDS.includes(name)), {
  error: ({ input }) => {
    const unknown = (input as string[]).find((name) => !PUBLIC_FIELDS.includes(name)) ?? '';
    return `${unknown.toUpperCase()} is not a field of shared runs`;
  },
});

export const querySharedRunsSchema = z.object({ selects: publicFields.default(['id']) });
export type QuerySharedRuns = z.output<typeof querySharedRunsSchema>;

export const querySharedRunsV1Schema = z.object({ id: z.array(z.guid()).optional() });
export type QuerySharedRunsV1 = z.output<typeof querySharedRunsV1Schema>;

export const readSharedRunSchema = z.object({
  start_time: instantSchema.optional(),
  selects: queryList(z.string().toLowerCase()).pipe(publicFields.default(['id'])),
});
export type ReadSharedRun = z.output<typeof readSharedRunSchema>;
