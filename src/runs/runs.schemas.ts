import { z } from 'zod';
import { configSchema, contextSchema, jsonObject, metadataSchema } from '../runnable-config/runnable-config.schemas';
import { nullAsAbsent } from '../runnable-config/reserved-keys';
import { isJsonObject } from '../database/json';
import { IN_FLIGHT_STATUSES, RUN_STATUSES } from '../database/run-status';
import { STREAM_MODES } from '../graphs/host/protocol';
import { queryFlag, queryInteger, queryList } from '../http/query';
import { uuid } from '../http/uuid';
import { commandSchema } from '../threads/command.schema';
import { checkpointSchema } from '../threads/threads.schemas';

export const threadParam = z.object({ thread_id: uuid });
export const runParam = z.object({ run_id: uuid });
export const threadRunParam = z.object({ thread_id: uuid, run_id: uuid });

const streamMode = z.enum(STREAM_MODES);
const nodes = z.union([z.literal('*'), z.array(z.string())]);
/** Body of every request that creates a run. */
const runFields = {
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  command: commandSchema.optional(),
  strict_resume: z.boolean().optional().describe('An answer to an interrupt that does not wait fails the run'),
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
  langsmith_tracer: nullAsAbsent(
    z.object({ project_name: z.string().min(1).max(255).optional(), example_id: uuid.optional() }),
  ).optional(),
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

/** Only in batches, the JavaScript client sends its own names of the options: `streamMode`. */
function inEitherCase(run: unknown): unknown {
  if (!isJsonObject(run)) return run;
  const fields = Object.entries(run).map(([name, value]): [string, unknown] => {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [snake in runFields && !(snake in run) ? snake : name, value];
  });
  return Object.fromEntries(fields);
}

export const createBatchSchema = z.array(z.preprocess(inEitherCase, createRunSchema)).min(1);
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
    cancel_reason: z.string().nullable().describe('null: it was not cancelled'),
    langsmith_session_name: z.string().nullable().describe('Tracing project of its trace. null: it is not traced'),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof runSchema>;

/** The graph's output; `__interrupt__` when it waits for an answer, `__error__` alone when it failed. */
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

export const cancelQuery = z
  .object({
    wait: queryFlag,
    action: z.enum(['interrupt', 'rollback']).default('interrupt'),
    reason: z.enum(['taken']).optional().describe('`taken`: the input was absorbed by another run'),
  })
  .refine(({ action, reason }) => reason === undefined || action === 'interrupt', {
    path: ['reason'],
    message: 'is for the action `interrupt` only',
  });
export type CancelQuery = z.infer<typeof cancelQuery>;

export const cancelManyQuery = z.object({ action: z.enum(['interrupt', 'rollback']).default('interrupt') });

/** Either every run in a state, or some runs of one thread. */
export const cancelManySchema = z.union([
  z.strictObject({ status: z.enum([...IN_FLIGHT_STATUSES, 'all']) }),
  z.strictObject({ thread_id: uuid, run_ids: z.array(uuid).min(1) }),
]);
export type CancelMany = z.infer<typeof cancelManySchema>;

export const joinQuery = z.object({ cancel_on_disconnect: queryFlag });

export const THREAD_STREAM_MODES = ['lifecycle', 'run_modes', 'state_update'] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];
const threadStreamModes = queryList(z.enum(THREAD_STREAM_MODES), ',');
/** Clients of one language write `stream_mode`, the reference has `stream_modes`. */
export const threadStreamQuery = z.object({ stream_modes: threadStreamModes, stream_mode: threadStreamModes });

const namespaces = queryList(z.string()).describe(
  'Namespaces of graphs, "" for the root: their events and those of graphs in them, without the subagents that they start',
);
export const streamQuery = z.object({ namespace: namespaces });
export type StreamQuery = z.infer<typeof streamQuery>;

export const joinStreamQuery = streamQuery.extend({
  cancel_on_disconnect: queryFlag,
  stream_mode: queryList(streamMode),
  checkpoint_id: uuid
    .optional()
    .describe('Only events after this checkpoint of the run; Last-Event-ID wins, unless it is -1'),
});
export type JoinStreamQuery = z.infer<typeof joinStreamQuery>;
