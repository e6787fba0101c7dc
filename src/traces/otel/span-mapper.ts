import { isExactNumber, parseExactly, stringifyExactly } from '../../http/exact-json';
import { checkJson, TRACE_LIMITS } from '../../http/json-limits';
import { Instant, toInstant } from '../instant';
import type { Attributes, Span, SpanEvent } from './otlp-decoder';

/** The span's own key in the run's metadata: children that come later find the root by it. */
export const SPAN_ID_KEY = 'otel.span_id';

const asUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');

/** A span's id has 8 bytes and a run's 16: zeros in front. The root takes the trace's id, as a run's root does. */
export const spanRunId = (spanId: string): string => asUuid(spanId.padStart(32, '0'));

function instant(nanoseconds: bigint): Instant | undefined {
  const milliseconds = nanoseconds / 1_000_000n;
  const iso = toInstant(Number(milliseconds));
  return iso && ((iso.slice(0, -4) + String((nanoseconds / 1000n) % 1000n).padStart(3, '0') + 'Z') as Instant);
}

const RUN_TYPES = new Set(['tool', 'chain', 'llm', 'retriever', 'embedding', 'prompt', 'parser']);
/** Names of the kinds of runs in other conventions. */
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    chat: 'llm',
    completion: 'llm',
    text_completion: 'llm',
    generate_content: 'llm',
    embeddings: 'embedding',
    execute_tool: 'tool',
    rerank: 'llm',
    reranker: 'retriever',
    workflow: 'chain',
    task: 'chain',
    agent: 'chain',
    invoke_agent: 'chain',
  }),
);

/** Reads attributes and tracks which were read: the others are stored under `extra.otel`, so that nothing is lost. */
class Reader {
  readonly used = new Set<string>();

  constructor(readonly attributes: Attributes) {}

  get(...names: string[]): unknown {
    for (const name of names) {
      const value = this.attributes[name];
      if (value !== undefined && value !== null) {
        this.used.add(name);
        return value;
      }
    }
    return undefined;
  }

  text(...names: string[]): string | undefined {
    const value = this.get(...names);
    return value === undefined ? undefined : asText(value);
  }

  count(...names: string[]): number | undefined {
    const value = Number(this.get(...names));
    return Number.isFinite(value) ? value : undefined;
  }

  /** `prefix.rest` for each attribute under the prefix. */
  under(prefix: string): [string, unknown][] {
    return Object.entries(this.attributes)
      .filter(([name]) => name.startsWith(`${prefix}.`))
      .map(([name, value]) => {
        this.used.add(name);
        return [name.slice(prefix.length + 1), value];
      });
  }

  unused(): Attributes {
    return Object.fromEntries(Object.entries(this.attributes).filter(([name]) => !this.used.has(name)));
  }
}

/** Parses text that contains JSON, unless that would cost too much. */
function decoded(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    checkJson(value, TRACE_LIMITS);
    return parseExactly(value);
  } catch {
    return value;
  }
}

/** Numbers beyond 2^53 are objects as well, and lists are. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** A run's inputs and outputs are objects; other values get a key. */
function payload(value: unknown, name: string): Record<string, unknown> | undefined {
  if (value === undefined) return undefined;
  const content = decoded(value);
  if (Array.isArray(content)) return { messages: content };
  return isObject(content) ? content : { [name]: content };
}

/** `0.role`, `0.message.content`, `1.role`… as a list of messages. */
function indexed(entries: [string, unknown][]): Record<string, unknown>[] | undefined {
  const messages: Record<string, unknown>[] = [];
  for (const [path, value] of entries) {
    const [, index, field] = /^(\d{1,4})\.(?:message\.)?(.+)$/.exec(path) ?? [];
    if (index === undefined || field === undefined) continue;
    const message = (messages[Number(index)] ??= {});
    message[field] = value;
  }
  const found = messages.filter((message) => message !== undefined);
  return found.length > 0 ? found : undefined;
}

function messagesFrom(read: Reader, ...prefixes: string[]): Record<string, unknown> | undefined {
  for (const prefix of prefixes) {
    const messages = indexed(read.under(prefix));
    if (messages) return { messages };
  }
  return undefined;
}

const MESSAGE_EVENT = /^gen_ai\.(system|user|assistant|tool)\.message$/;

/** Instrumentations that log content put it into events. */
function payloadsFromEvents(events: SpanEvent[]): {
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
} {
  const prompt = events.find(({ name }) => name === 'gen_ai.content.prompt');
  const completion = events.find(({ name }) => name === 'gen_ai.content.completion');
  const messages = events.flatMap(({ name, attributes }) => {
    const [, role] = MESSAGE_EVENT.exec(name) ?? [];
    return role === undefined ? [] : [{ role, ...attributes }];
  });
  const choices = events.filter(({ name }) => name === 'gen_ai.choice').map(({ attributes }) => attributes);
  const inputs =
    payload(prompt?.attributes['gen_ai.prompt'], 'input') ?? (messages.length > 0 ? { messages } : undefined);
  const outputs =
    payload(completion?.attributes['gen_ai.completion'], 'output') ?? (choices.length > 0 ? { choices } : undefined);
  return { ...(inputs && { inputs }), ...(outputs && { outputs }) };
}

function documents(read: Reader): Record<string, unknown> | undefined {
  const found: Record<string, unknown>[] = [];
  for (const [path, value] of read.under('retrieval.documents')) {
    const [, index, field] = /^(\d{1,4})\.document\.(.+)$/.exec(path) ?? [];
    if (index === undefined || field === undefined) continue;
    (found[Number(index)] ??= {})[field === 'content' ? 'page_content' : field] = decoded(value);
  }
  return found.length > 0 ? { documents: found.filter((document) => document !== undefined) } : undefined;
}

const INVOCATION = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'encoding_formats',
];

function invocationParams(read: Reader): Record<string, unknown> {
  const known = decoded(read.get('llm.invocation_parameters'));
  const params: Record<string, unknown> = isObject(known) ? { ...known } : {};
  const model = read.text('gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name');
  if (model !== undefined) params.model = model;
  for (const name of INVOCATION) {
    const value = read.get(`gen_ai.request.${name}`);
    if (value !== undefined) params[name] = value;
  }
  const stop = read.get('gen_ai.request.stop_sequences');
  if (stop !== undefined) params.stop = stop;
  return params;
}

function usage(read: Reader): Record<string, unknown> | undefined {
  const given = decoded(read.get('langsmith.usage_metadata'));
  if (isObject(given)) return given;
  const input = read.count('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt');
  const output = read.count(
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
  );
  const total = read.count('gen_ai.usage.total_tokens', 'llm.usage.total_tokens', 'llm.token_count.total');
  if (input === undefined && output === undefined && total === undefined) return undefined;
  return {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(total !== undefined && { total_tokens: total }),
  };
}

function runType(read: Reader): string {
  const named = read.text('langsmith.span.kind', 'openinference.span.kind', 'traceloop.span.kind')?.toLowerCase();
  if (named !== undefined) return RUN_TYPES.has(named) ? named : (KINDS.get(named) ?? 'chain');
  const operation = read.text('gen_ai.operation.name', 'traceloop.llm.request.type')?.toLowerCase();
  if (operation !== undefined) return RUN_TYPES.has(operation) ? operation : (KINDS.get(operation) ?? 'chain');
  if (read.attributes['gen_ai.tool.name'] !== undefined || read.attributes['tool.name'] !== undefined) return 'tool';
  return read.attributes['gen_ai.request.model'] === undefined ? 'chain' : 'llm';
}

function metadata(read: Reader, span: Span): Record<string, unknown> {
  const given = decoded(read.get('metadata'));
  const provider = read.text('gen_ai.system', 'gen_ai.provider.name', 'llm.system', 'llm.provider');
  const model =
    read.attributes['gen_ai.response.model'] ??
    read.attributes['gen_ai.request.model'] ??
    read.attributes['llm.model_name'];
  const thread = read.text('session.id', 'gen_ai.conversation.id');
  return {
    ...(isObject(given) && given),
    ...Object.fromEntries(read.under('traceloop.association.properties')),
    ...Object.fromEntries(read.under('langsmith.metadata').map(([key, value]) => [key, decoded(value)])),
    ...(provider !== undefined && { ls_provider: provider }),
    ...(model !== undefined && { ls_model_name: model }),
    ...(thread !== undefined && { thread_id: thread }),
    [SPAN_ID_KEY]: span.spanId,
  };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : stringifyExactly(value));

function tagsOf(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const items: unknown[] = Array.isArray(value) ? value : asText(value).split(',');
  return items.map((tag) => asText(tag).trim()).filter((tag) => tag !== '');
}

function errorOf(span: Span): string | undefined {
  const exception = span.events.find(({ name }) => name === 'exception');
  if (exception) {
    const { attributes } = exception;
    const parts = [attributes['exception.type'], attributes['exception.message']].filter(Boolean).map(asText);
    const stack = attributes['exception.stacktrace'];
    return `${parts.join(': ') || 'exception'}${stack ? `\n\n${asText(stack)}` : ''}`;
  }
  return span.failed ? (span.statusMessage ?? 'error') : undefined;
}

/**
 * A finished span as the post of a run. `rootSpans` are the root spans of the traces that are known, by trace id: their
 * children's parent is the run with the trace's id.
 */
export function toRunBody(
  span: Span,
  rootSpans: ReadonlyMap<string, string>,
  project: string | undefined,
): Record<string, unknown> {
  const read = new Reader(span.attributes);
  const traceId = read.text('langsmith.trace.id') ?? asUuid(span.traceId);
  const isRoot = span.parentSpanId === undefined || read.get('langsmith.is_root') === true;
  const parentOf = (spanId: string): string => (rootSpans.get(span.traceId) === spanId ? traceId : spanRunId(spanId));
  const parentId =
    read.text('langsmith.span.parent_id') ??
    (isRoot || span.parentSpanId === undefined ? undefined : parentOf(span.parentSpanId));
  const events = payloadsFromEvents(span.events);
  const inputs =
    payload(
      read.get(
        'gen_ai.prompt',
        'gen_ai.input.messages',
        'traceloop.entity.input',
        'input.value',
        'prompt',
        'all_messages_events',
        'gen_ai.tool.call.arguments',
      ),
      'input',
    ) ??
    messagesFrom(read, 'gen_ai.prompt', 'llm.input_messages') ??
    events.inputs;
  const outputs =
    payload(
      read.get(
        'gen_ai.completion',
        'gen_ai.output.messages',
        'traceloop.entity.output',
        'output.value',
        'gen_ai.tool.call.result',
      ),
      'output',
    ) ??
    messagesFrom(read, 'gen_ai.completion', 'llm.output_messages') ??
    documents(read) ??
    events.outputs;
  const type = runType(read);
  const params = invocationParams(read);
  const tokens = usage(read);
  const meta = metadata(read, span);
  return {
    id: read.text('langsmith.span.id') ?? (isRoot ? traceId : spanRunId(span.spanId)),
    trace_id: traceId,
    ...(parentId !== undefined && { parent_run_id: parentId }),
    dotted_order: read.text('langsmith.span.dotted_order'),
    name: read.text('langsmith.trace.name', 'gen_ai.tool.name', 'tool.name', 'traceloop.entity.name') ?? span.name,
    run_type: type,
    start_time: instant(span.start),
    ...(span.end !== undefined && { end_time: instant(span.end) }),
    error: errorOf(span),
    inputs,
    outputs,
    tags: tagsOf(read.get('langsmith.span.tags', 'tag.tags')),
    reference_example_id: read.text('langsmith.reference_example_id'),
    session_id: read.text('langsmith.trace.session_id'),
    session_name: read.text('langsmith.trace.session_name') ?? project,
    events: span.events.map(({ name, time, attributes }) => ({ name, time: instant(time), kwargs: attributes })),
    extra: {
      metadata: { ...meta, ...(tokens && { usage_metadata: tokens }) },
      ...(Object.keys(params).length > 0 && { invocation_params: params }),
      otel: { attributes: read.unused(), resource: span.resource, ...(span.scope && { scope: span.scope }) },
    },
  };
}
