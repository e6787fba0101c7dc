import { z } from 'zod';
import { jsonObject } from '../runnable-config/runnable-config.schemas';
import { nullAsAbsent, withoutReservedMetadata } from '../runnable-config/reserved-keys';
import { queryFlag, queryInteger, queryList } from '../http/query';
import { commandSchema } from './command.schema';
import { extractSchema } from './thread-extract';
import { threadTtlSchema, ttlStrategySchema } from '../config/thread-ttl';
import { pageSchema } from '../http/pagination';
import { uuid } from '../http/uuid';

export const threadIdParam = z.object({ thread_id: uuid });
export const threadCheckpointParam = z.object({
  thread_id: uuid,
  checkpoint_id: z.string().min(1),
});

const THREAD_FIELDS = [
  'thread_id',
  'created_at',
  'updated_at',
  'state_updated_at',
  'metadata',
  'config',
  'status',
  'values',
  'interrupts',
] as const;

export const threadStatusSchema = z.enum(['idle', 'busy', 'interrupted', 'error']);

export const threadSchema = z
  .object({
    thread_id: z.guid(),
    created_at: z.string(),
    updated_at: z.string(),
    state_updated_at: z.string(),
    metadata: jsonObject,
    status: threadStatusSchema,
    config: jsonObject,
    values: z.unknown().nullable(),
    interrupts: z.record(z.string(), z.array(z.unknown())),
    error: jsonObject.nullable(),
    ttl: z
      .object({ strategy: ttlStrategySchema, ttl_minutes: z.number(), expires_at: z.string() })
      .nullable()
      .optional()
      .describe('With `include=ttl`. null: the thread is kept'),
  })
  .meta({ id: 'Thread' });
export type Thread = z.infer<typeof threadSchema>;

/** The server's own stamps are left out, but a thread may be filed under an assistant before anything ran on it. */
const threadMetadata = jsonObject.transform((metadata) => withoutReservedMetadata(metadata, ['assistant_id']));

const stateValues = z.union([jsonObject, z.array(z.unknown())]);

/** States of a thread from elsewhere: each superstep is a checkpoint, each update what one of its nodes wrote. */
const superstepsSchema = z.array(
  z.object({
    updates: z
      .array(
        nullAsAbsent(
          z.object({ values: stateValues.optional(), command: commandSchema.optional(), as_node: z.string().min(1) }),
        ),
      )
      .min(1),
  }),
);
export type Supersteps = z.infer<typeof superstepsSchema>;

export const createThreadSchema = z.object({
  thread_id: uuid.optional(),
  metadata: threadMetadata.optional(),
  if_exists: z.enum(['raise', 'do_nothing']).default('raise'),
  supersteps: superstepsSchema.optional(),
  ttl: nullAsAbsent(threadTtlSchema).optional(),
});
export type CreateThread = z.infer<typeof createThreadSchema>;

/** `include=ttl`; the SDKs write the list with commas, or as JSON. */
export const getThreadQuery = z.object({
  include: queryList(z.string().trim(), ',').transform((list) => new Set(list)),
});

export const patchThreadSchema = z.object({
  metadata: threadMetadata.optional(),
  ttl: nullAsAbsent(threadTtlSchema).optional(),
});
export type PatchThread = z.infer<typeof patchThreadSchema>;

export const pruneThreadsSchema = z.object({
  thread_ids: z.array(uuid).max(1000),
  strategy: ttlStrategySchema.default('delete'),
});
export type PruneThreads = z.infer<typeof pruneThreadsSchema>;

export const prunedThreadsSchema = z
  .object({ pruned_count: z.number().int().describe('Without threads that do not exist or have a run in flight') })
  .meta({ id: 'PrunedThreads' });
export type PrunedThreads = z.infer<typeof prunedThreadsSchema>;

const threadFilter = {
  metadata: jsonObject.optional(),
  values: jsonObject.optional(),
  status: threadStatusSchema.optional(),
};
export const countThreadsSchema = z.object(threadFilter);
export type ThreadFilter = z.infer<typeof countThreadsSchema> & { ids?: string[] | undefined };

export const searchThreadsSchema = z.object({
  ...threadFilter,
  ids: z.array(uuid).optional(),
  ...pageSchema,
  sort_by: z.enum(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at']).default('updated_at'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
  select: z.array(z.enum([...THREAD_FIELDS, 'context'])).optional(),
  extract: extractSchema([...THREAD_FIELDS, 'error', 'ttl', 'extracted']).optional(),
});
export type SearchThreads = z.infer<typeof searchThreadsSchema>;

/** A checkpoint as this server writes it, with null for what is not known: clients send back what they were given. */
export const checkpointSchema = nullAsAbsent(
  z.object({
    thread_id: z.string().optional(),
    checkpoint_ns: z.string().optional(),
    checkpoint_id: z.string().optional(),
    checkpoint_map: jsonObject.optional(),
  }),
);

/** Additional values of each thread of a search, requested by `extract`. */
export const foundThreadSchema = threadSchema
  .partial()
  .extend({ context: z.unknown().optional().describe('Where it is selected'), extracted: jsonObject.optional() })
  .meta({ id: 'FoundThread' });
export type FoundThread = z.infer<typeof foundThreadSchema>;

/** Fields of a state, from which `select` chooses. */
const STATE_FIELDS = [
  ...['values', 'next', 'tasks', 'checkpoint', 'metadata', 'created_at', 'parent_checkpoint', 'interrupts'],
  ...['checkpoint_id', 'parent_checkpoint_id'],
];

const sizeSchema = { count: z.number().int(), bytes: z.number().int() };

/** Storage of a thread in the database. */
export const threadStorageSchema = z
  .object({
    thread_id: z.guid(),
    total_bytes: z.number().int(),
    checkpoints: z.object(sizeSchema),
    channel_values: z.object({
      ...sizeSchema,
      by_channel: z.record(z.string(), z.object({ versions: z.number().int(), bytes: z.number().int() })),
    }),
    pending_writes: z.object(sizeSchema),
  })
  .meta({ id: 'ThreadStorage' });
export type ThreadStorage = z.infer<typeof threadStorageSchema>;

const stateField = z
  .string()
  .regex(
    new RegExp(`^(${STATE_FIELDS.join('|')}|values\\..+)$`, 's'),
    `must be one of ${STATE_FIELDS.join(', ')}, values.<key>`,
  )
  .describe('A field of the state, or `values.<key>` for one of its values, of which the others are not read then');

export const stateQuery = z.object({ subgraphs: queryFlag, select: queryList(stateField) });
export type StateOptions = z.infer<typeof stateQuery>;

export const stateAtCheckpointSchema = z.object({
  checkpoint: checkpointSchema,
  select: z.array(stateField).optional(),
  subgraphs: z.union([z.boolean(), z.string().transform((value) => value.toLowerCase() === 'true')]).optional(),
});
export type StateAtCheckpoint = z.infer<typeof stateAtCheckpointSchema>;

export const updateStateSchema = z.object({
  values: stateValues.optional(),
  as_node: z.string().optional(),
  checkpoint: checkpointSchema.optional(),
  checkpoint_id: z.string().optional(),
});
export type UpdateState = z.infer<typeof updateStateSchema>;

/** A checkpoint to look before: its id, or an object that holds it in either way that clients write it. */
const beforeSchema = z
  .union([
    z.string(),
    z.looseObject({ checkpoint_id: z.string() }),
    z.looseObject({ configurable: z.looseObject({ checkpoint_id: z.string() }) }),
  ])
  .transform((before): string => {
    if (typeof before === 'string') return before;
    return 'configurable' in before
      ? (before.configurable as { checkpoint_id: string }).checkpoint_id
      : (before as { checkpoint_id: string }).checkpoint_id;
  });

export const historySchema = z.object({
  limit: z.number().int().min(1).max(1000).default(10),
  before: beforeSchema.optional(),
  metadata: jsonObject.optional(),
  checkpoint: checkpointSchema.optional(),
  select: z.array(stateField).optional(),
});
export type HistoryQuery = z.infer<typeof historySchema>;

export const historyQuery = z.object({
  limit: queryInteger({ min: 1, max: 1000, default: 10 }),
  before: z.string().optional(),
  select: queryList(stateField),
});

const checkpointPointer = jsonObject.nullable();

/** A state of a thread: the graph's values at a checkpoint, and what comes next. */
export const threadStateSchema = z
  .object({
    values: z.unknown(),
    next: z.array(z.string()),
    tasks: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        path: z.array(z.unknown()),
        error: z.string().nullable(),
        interrupts: z.array(z.unknown()),
        checkpoint: checkpointPointer,
        state: jsonObject.nullable(),
        result: z.unknown().nullable(),
      }),
    ),
    metadata: jsonObject,
    created_at: z.string().nullable(),
    checkpoint: checkpointPointer,
    parent_checkpoint: checkpointPointer,
    interrupts: z.array(z.unknown()),
    checkpoint_id: z.string().nullable(),
    parent_checkpoint_id: z.string().nullable(),
  })
  .meta({ id: 'ThreadState' });

/** Where a state update was written, in the three ways that clients read it. */
export const updatedStateSchema = z
  .object({ checkpoint: jsonObject, configurable: jsonObject, checkpoint_id: z.string() })
  .meta({ id: 'UpdatedState' });
export type UpdatedState = z.infer<typeof updatedStateSchema>;
