import { z } from 'zod';
import { isJsonObject } from '../database/json';

/**
 * Keys that the server itself passes to graph code. A client that could set them could act as the server, or as another user.
 */
const RESERVED_CONFIGURABLE = new Set([
  'langgraph_auth_user',
  'langgraph_auth_user_id',
  'langgraph_auth_permissions',
  'langgraph_request_id',
  '__langsmith_project__',
  '__langsmith_example_id__',
  '__request_start_time_ms__',
  '__after_seconds__',
  '__otel_traceparent__',
  '__otel_tracestate__',
  '__dd_trace_headers__',
  '__context_provided__',
]);

/** The library's own: a checkpointer, a resume map, a scratchpad. */
const LIBRARY_PREFIX = '__pregel_';

/** Keys that the server sets on runs and checkpoints, and by which it finds them. */
const RESERVED_METADATA = new Set(['thread_id', 'assistant_id', 'run_id', 'cron_id', 'counters_since_delta_snapshot']);

type Json = Record<string, unknown>;

const without = (object: Json, isLeftOut: (key: string, value: unknown) => boolean): Json =>
  Object.fromEntries(Object.entries(object).filter(([key, value]) => !isLeftOut(key, value)));

/** `configurable` and `context` without reserved keys. */
export const withoutReservedKeys = (object: Json): Json =>
  without(object, (key) => RESERVED_CONFIGURABLE.has(key) || key.startsWith(LIBRARY_PREFIX));

/** Metadata without the keys that the server stamps; `kept` are left. */
export const withoutReservedMetadata = (object: Json, kept: string[] = []): Json =>
  without(object, (key) => RESERVED_METADATA.has(key) && !kept.includes(key));

/** A null in an object of optional fields is the same as absence: clients of either language write it. */
export function nullAsAbsent<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (isJsonObject(value) ? without(value, (_, field) => field === null) : value), schema);
}
