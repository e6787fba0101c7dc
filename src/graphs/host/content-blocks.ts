import type { AIMessageChunk, BaseMessage, UsageMetadata } from '@langchain/core/messages';
import type { Chunk } from './chunk-facts';

type ContentBlock = Record<string, unknown> & { type: string };
type Metadata = Record<string, unknown>;

/** A message whose pieces are still arriving. */
interface OpenMessage {
  namespace: string[];
  metadata: Metadata;
  /** Blocks by the provider's key; a block's number in the message is its position here. */
  blocks: Map<string, { index: number; block: ContentBlock }>;
  usage?: UsageMetadata;
}

/** Content parts that repeat `tool_call_chunks`. */
const TOOL_PARTS = new Set(['tool_use', 'input_json_delta', 'tool_call', 'tool_call_chunk']);

/**
 * Converts the mode `messages` of LangGraph before 1.3, which streams messages and pieces of messages, to message events of the
 * event protocol. Newer versions emit these events themselves.
 * @see convertChunksToEvents of @langchain/core, whose events these are
 */
export class ContentBlocks {
  private readonly open = new Map<string, OpenMessage>();

  /** Returns the chunk, or the events of its message; before the end of a task also the ends of its messages. */
  *next(chunk: Chunk): Generator<Chunk> {
    const [namespace, mode, data] = chunk;
    if (mode !== 'messages') {
      if (mode === 'tasks') yield* this.finish([...namespace, taskOf(data)].join('|'));
      yield chunk;
      return;
    }
    const [message, metadata] = data as [BaseMessage, Metadata];
    // As newer versions do: the tool's message is in the state that follows.
    if (message.getType() === 'tool') return;
    if ('concat' in message) yield* this.piece(namespace, message as AIMessageChunk, metadata);
    else yield* whole(namespace, message, metadata);
  }

  /** The ends of messages whose task has not ended, for example one that asks a person. */
  *rest(): Generator<Chunk> {
    for (const [key, message] of this.open) yield* this.close(key, message);
  }

  private *piece(namespace: string[], piece: AIMessageChunk, metadata: Metadata): Generator<Chunk> {
    const key = `${namespace.join('|')}#${piece.id}`;
    let message = this.open.get(key);
    if (!message) {
      // Clients distinguish messages of one node by the run of the model, which is not known here.
      message = { namespace, metadata: { ...metadata, run_id: piece.id }, blocks: new Map() };
      this.open.set(key, message);
      yield emit(message, { event: 'message-start', role: 'ai', id: piece.id });
    }
    for (const part of partsOf(piece)) yield* this.part(message, part);
    if (piece.usage_metadata) message.usage = addUsage(message.usage, piece.usage_metadata);
  }

  private *part(message: OpenMessage, { name, block }: { name: string; block: ContentBlock }): Generator<Chunk> {
    const known = message.blocks.get(name);
    if (!known) {
      const index = message.blocks.size;
      message.blocks.set(name, { index, block });
      yield emit(message, { event: 'content-block-start', index, content: emptied(block) });
      const delta = deltaOf(block);
      if (delta) yield emit(message, { event: 'content-block-delta', index, delta });
      return;
    }
    const { index } = known;
    known.block = joined(known.block, block);
    const delta = deltaOf(block) ?? (GROWING.has(block.type) ? undefined : { type: 'block-delta', fields: block });
    if (delta) yield emit(message, { event: 'content-block-delta', index, delta });
  }

  private *finish(task: string): Generator<Chunk> {
    for (const [key, message] of this.open) {
      if (message.namespace.join('|') === task) yield* this.close(key, message);
    }
  }

  private *close(key: string, message: OpenMessage): Generator<Chunk> {
    this.open.delete(key);
    for (const { index, block } of message.blocks.values()) {
      yield emit(message, { event: 'content-block-finish', index, content: finished(block) });
    }
    yield emit(message, { event: 'message-finish', reason: 'stop', ...(message.usage && { usage: message.usage }) });
  }
}

/** Fields to which pieces append and types of their deltas, by the block's type. */
const GROWING = new Map<string, [field: string, delta: string]>([
  ['text', ['text', 'text-delta']],
  ['reasoning', ['reasoning', 'reasoning-delta']],
  ['tool_call_chunk', ['args', 'tool-call-delta']],
]);

function emit({ namespace, metadata }: Pick<OpenMessage, 'namespace' | 'metadata'>, event: object): Chunk {
  return [namespace, 'messages', [event, metadata]];
}

/** `node:id` of a task that has ended; the empty text for one that begins. */
function taskOf(data: unknown): string {
  const { name, id } = data as { name?: string; id?: string };
  return typeof data === 'object' && data !== null && ('result' in data || 'error' in data) ? `${name}:${id}` : '';
}

function* partsOf(piece: AIMessageChunk): Generator<{ name: string; block: ContentBlock }> {
  const { content, tool_call_chunks: calls = [] } = piece;
  if (typeof content === 'string') {
    if (content !== '') yield { name: 'text', block: { type: 'text', text: content } };
  } else {
    for (const part of content as ContentBlock[]) {
      if (TOOL_PARTS.has(part.type)) continue;
      const block = inProtocol(part);
      yield { name: `${block.type} ${typeof part.index === 'number' ? part.index : textOf(part.index)}`, block };
    }
  }
  for (const { index, id, name, args = '' } of calls) {
    const block = { type: 'tool_call_chunk', ...(id && { id }), ...(name && { name }), args };
    yield { name: `call ${index ?? id}`, block };
  }
}

/** A provider's block of a model's reasoning, with the protocol's name. */
function inProtocol(part: ContentBlock): ContentBlock {
  if (part.type !== 'thinking') return part;
  const { thinking = '', ...rest } = part;
  return { ...rest, type: 'reasoning', reasoning: thinking };
}

function emptied(block: ContentBlock): ContentBlock {
  const field = GROWING.get(block.type)?.[0];
  return field === undefined ? block : { ...block, [field]: '' };
}

function deltaOf(block: ContentBlock): object | undefined {
  const [field, type] = GROWING.get(block.type) ?? [];
  if (field === undefined || !block[field]) return undefined;
  return { type, [field]: block[field] };
}

function joined(before: ContentBlock, next: ContentBlock): ContentBlock {
  const field = GROWING.get(before.type)?.[0];
  if (field === undefined) return { ...before, ...next };
  return { ...before, ...next, [field]: textOf(before[field]) + textOf(next[field]) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function finished(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool_call_chunk') return block;
  const { id, name, args } = block;
  try {
    return { type: 'tool_call', id, name, args: JSON.parse(textOf(args) || '{}') as unknown };
  } catch {
    const error = 'Failed to parse tool call arguments as JSON';
    return { type: 'invalid_tool_call', id, name, args, error };
  }
}

function addUsage(before: UsageMetadata | undefined, next: UsageMetadata): UsageMetadata {
  if (!before) return next;
  return {
    ...before,
    ...next,
    input_tokens: before.input_tokens + next.input_tokens,
    output_tokens: before.output_tokens + next.output_tokens,
    total_tokens: before.total_tokens + next.total_tokens,
  };
}

/** A message that was not streamed. */
function* whole(namespace: string[], message: BaseMessage, metadata: Metadata): Generator<Chunk> {
  const source = { namespace, metadata: { ...metadata, run_id: message.id } };
  const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  yield emit(source, { event: 'message-start', role: message.getType(), id: message.id });
  const blocks = (parts as ContentBlock[]).map(inProtocol).filter((block) => block.text !== '');
  for (const [index, block] of blocks.entries()) {
    yield emit(source, { event: 'content-block-start', index, content: emptied(block) });
    const delta = deltaOf(block);
    if (delta) yield emit(source, { event: 'content-block-delta', index, delta });
    yield emit(source, { event: 'content-block-finish', index, content: block });
  }
  const { usage_metadata: usage } = message as { usage_metadata?: UsageMetadata };
  yield emit(source, { event: 'message-finish', reason: 'stop', ...(usage && { usage }) });
}
