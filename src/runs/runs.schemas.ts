import { z } from 'zod';
import { configSchema, contextSchema, jsonObject, metadataSchema } from '../runnable-config/runnable-config.schemas';
import { STREAM_MODES } from '../graphs/host/protocol';
import { queryFlag, queryInteger, queryList } from '../http/query';
import { commandSchema } from '../threads/command.schema';
import { checkpointSchema } from '../threads/threads.schemas';
import { RUN_STATUSES } from './run.entity';

const uuid = z.guid('must be a UUID');
export const threadParam = z.object({ thread_id: uuid });
export const runParam = z.object({ run_id: uuid });
export const threadRunParam = z.object({ thread_id: uuid, run_id: uuid });

const streamMode = z.enum(STREAM_MODES);
const nodes = z.union([z.literal('*'), z.array(z.string())]);
/** What every call that creates a run takes. */
const runFields = {
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  command: commandSchema.optional(),
  checkpoint: checkpointSchema.optional(),
  checkpoint_id: uuid.optional(),
  metadata: metadataSchema.optional(),
  config: configSchema.optional(),
  context: contextSchema.optional(),
  webhook: z.string().min(1).max(65_536).optional(),
  interrupt_before: nodes.optional(),
  interrupt_after: nodes.optional(),
  stream_mode: z
    .union([streamMode, z.array(streamMode)])
    .transform((modes) => (Array.isArray(modes) ? modes : [modes]))
    .prefault('values'),
  stream_subgraphs: z.boolean().default(false),
  stream_resumable: z.boolean().default(false),
  feedback_keys: z.array(z.string()).optional(),
  langsmith_tracer: z
    .object({ project_name: z.string().min(1).max(255).optional(), example_id: uuid.optional() })
    .optional(),
  multitask_strategy: z.enum(['reject', 'rollback', 'interrupt', 'enqueue']).default('enqueue'),
  if_not_exists: z.enum(['create', 'reject']).default('reject'),
  after_seconds: z.number().max(31_536_000).default(0),
  durability: z.enum(['sync', 'async', 'exit']).optional(),
  checkpoint_during: z.boolean().optional(),
  on_disconnect: z.enum(['cancel', 'continue']).default('continue'),
  on_completion: z.enum(['delete', 'keep']).default('delete'),
};

export const createRunSchema = z.object(runFields);
export type CreateRun = z.infer<typeof createRunSchema>;

export const createBatchSchema = z.array(createRunSchema).min(1);
export type CreateBatch = z.infer<typeof createBatchSchema>;

export const runSchema = z
  .object({
    run_id: z.guid(),
    thread_id: z.guid(),
    assistant_id: z.guid(),
    created_at: z.string(),
    updated_at: z.string(),
    status: z.enum(RUN_STATUSES),
    metadata: jsonObject,
    kwargs: jsonObject,
    multitask_strategy: z.string(),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof runSchema>;

/** The graph's output; `__interrupt__` when it waits for somebody, `__error__` alone when it failed. */
export const runResultSchema = z
  .looseObject({
    __interrupt__: z.array(z.unknown()).optional(),
    __error__: z.object({ error: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'RunResult' });

export const listRunsQuery = z.object({
  limit: queryInteger({ min: 1, max: 1000, default: 10 }),
  offset: queryInteger({ min: 0, default: 0 }),
  status: z.string().optional(),
  select: queryList(z.enum(Object.keys(runSchema.shape) as [string, ...string[]])),
});
export type ListRuns = z.infer<typeof listRunsQuery>;

export const cancelQuery = z.object({
  wait: queryFlag,
  action: z.enum(['interrupt', 'rollback']).default('interrupt'),
});
export type CancelQuery = z.infer<typeof cancelQuery>;

export const cancelManyQuery = z.object({ action: z.enum(['interrupt', 'rollback']).default('interrupt') });

/** Either every run in a state, or some runs of one thread. */
export const cancelManySchema = z.union([
  z.strictObject({ status: z.enum(['pending', 'running', 'all']) }),
  z.strictObject({ thread_id: uuid, run_ids: z.array(uuid).min(1) }),
]);
export type CancelMany = z.infer<typeof cancelManySchema>;

export const joinQuery = z.object({ cancel_on_disconnect: queryFlag });

export const THREAD_STREAM_MODES = ['lifecycle', 'run_modes', 'state_update'] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];
const threadStreamModes = queryList(z.enum(THREAD_STREAM_MODES), ',');
/** Clients of one language write `stream_mode`, the reference has `stream_modes`. */
export const threadStreamQuery = z.object({ stream_modes: threadStreamModes, stream_mode: threadStreamModes });

export const joinStreamQuery = z.object({
  cancel_on_disconnect: queryFlag,
  stream_mode: queryList(streamMode),
});
