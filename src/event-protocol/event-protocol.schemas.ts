import { z } from 'zod';
import { uuid } from '../http/uuid';
import { configSchema, contextSchema, metadataSchema } from '../runnable-config/runnable-config.schemas';
import { commandSchema } from '../threads/command.schema';
import { CHANNELS } from './protocol-event';

export const threadParam = z.object({ thread_id: uuid });

const namespace = z.array(z.string());
const channel = z.string().regex(new RegExp(`^(${CHANNELS.join('|')}|custom:.+)$`, 's'), 'is not a channel');

export const eventStreamSchema = z.object({
  channels: z.array(channel).min(1),
  namespaces: z.array(namespace).optional(),
  depth: z.number().int().min(0).optional(),
  /** Events after this number. */
  since: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});
export type EventStreamRequest = z.infer<typeof eventStreamSchema>;

export const protocolCommandSchema = z.object({
  id: z.number().int().min(0),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});
export type ProtocolCommand = z.infer<typeof protocolCommandSchema>;

const STRATEGIES = ['reject', 'rollback', 'interrupt', 'enqueue'] as const;

/** `run.start`. The clients write their options in camel case here. */
export const runStartSchema = z.object({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  config: configSchema.optional(),
  context: contextSchema.optional(),
  metadata: metadataSchema.optional(),
  multitaskStrategy: z.enum(STRATEGIES).optional(),
  multitask_strategy: z.enum(STRATEGIES).optional(),
  langsmith_tracer: z.record(z.string(), z.unknown()).optional(),
  strict_resume: z.boolean().optional(),
});

const answer = z.object({ interrupt_id: z.string().min(1), response: z.unknown().optional() });
const alongside = {
  ...commandSchema.pick({ update: true, goto: true }).shape,
  config: configSchema.optional(),
  metadata: metadataSchema.optional(),
  strict_resume: z.boolean().optional(),
};

/** `input.respond`: one answer, or all of those that the graph waits for at once. */
export const inputRespondSchema = z.union([
  z.object({ responses: z.array(answer).min(1), ...alongside }),
  answer.extend(alongside),
]);

export const stateGetSchema = z.object({
  namespace: namespace.optional(),
  keys: z.array(z.string()).optional(),
});

export const listCheckpointsSchema = z.object({
  namespace: namespace.optional(),
  limit: z.number().int().min(1).max(1000).default(10),
  before: z.string().min(1).optional(),
});

/** `state.fork`: a run from an earlier checkpoint, with another input or none. */
export const stateForkSchema = z.object({
  checkpoint_id: z.string().min(1),
  input: z.unknown().optional(),
  config: configSchema.optional(),
});

/** `input.inject`: a message for the graph, whether it runs or not. */
export const inputInjectSchema = z.object({
  namespace: namespace.max(0, 'must be []: a message is for the whole graph').optional(),
  message: z.looseObject({ role: z.enum(['user', 'system']), content: z.string(), name: z.string().optional() }),
});

export const treeSchema = z.object({ run_id: uuid.optional() });

export const unsubscribeSchema = z.object({ subscription_id: z.string() });

export type ErrorCode =
  | 'invalid_argument'
  | 'unknown_command'
  | 'no_such_run'
  | 'no_such_subscription'
  | 'no_such_interrupt'
  | 'permission_denied'
  | 'not_supported'
  | 'unknown_error';

export interface CommandMeta {
  thread_id: string;
  /** Events up to this number were there before the command took effect. */
  applied_through_seq?: number;
}

export type CommandReply =
  | { type: 'success'; id: number; result: Record<string, unknown>; meta?: CommandMeta }
  | { type: 'error'; id: number | null; error: ErrorCode; message: string };

export const commandReplySchema = z
  .looseObject({
    type: z.enum(['success', 'error']),
    id: z.number().nullable(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.string().optional(),
    message: z.string().optional(),
  })
  .meta({ id: 'ProtocolReply' });
