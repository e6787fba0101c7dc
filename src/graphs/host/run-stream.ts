import type { RunnableConfig } from '@langchain/core/runnables';
import type { StreamEvent } from '@langchain/core/tracers/log_stream';
import type { BaseMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChunkFacts, type Chunk, type ChunkWithFact, type LibraryMode } from './chunk-facts';
import { publicChunk, publicEvent } from './checkpoint-event';
import type { AnyGraph } from './graph-loader';
import { unwrapDebug, withoutTaskModes } from './debug-modes';
import { ContentBlocks } from './content-blocks';
import { type LeftGraphs, taskOfMetadata } from './left-graphs';
import { hasContentBlocks, hasTaskModes } from './library-versions';
import { CONTENT_BLOCKS, type RunEventMessage, type RunKwargs, type StreamMode } from './protocol';
import { StreamTransformers } from './stream-transformers';
import type { UntrackedOutput } from './untracked-output';
import { toWireJson } from './wire-json';

/** The modes to request from the library, so that the client's modes can be emitted. */
function libraryModes(asked: StreamMode[], needsValues: boolean): LibraryMode[] {
  // The tasks show which node the run is at.
  const modes = new Set<LibraryMode>(['tasks']);
  if (needsValues) modes.add('values');
  for (const mode of asked) {
    if (mode === 'messages-tuple') modes.add('messages');
    else if (mode === 'messages') modes.add('messages').add('values');
    else if (mode !== 'events') modes.add(mode);
  }
  // They show which checkpoint the values are of.
  if (modes.has('values')) modes.add('checkpoints');
  return [...modes];
}

/** Output of a node before its end. */
const WORK_IN_PROGRESS: ReadonlySet<LibraryMode> = new Set(['messages', 'custom', 'tools']);

export type StreamConfig = RunnableConfig & Record<string, unknown>;

/** Position of the reader of a graph's stream. */
export class StreamProgress {
  private isWaiting = false;

  /** A stream's chunks; `untilRead` resolves while none is queued there. */
  async *read<T>(stream: AsyncIterable<T>): AsyncGenerator<T> {
    this.isWaiting = true;
    try {
      for await (const chunk of stream) {
        this.isWaiting = false;
        yield chunk;
        this.isWaiting = true;
      }
    } finally {
      // A writer must not wait for a reader that has left.
      this.isWaiting = true;
    }
  }

  async untilRead(): Promise<void> {
    // A reader that still waits after a turn of the event loop has found the queue empty.
    do await new Promise((resolve) => setImmediate(resolve));
    while (!this.isWaiting);
  }
}

export interface StreamRequest {
  kwargs: RunKwargs;
  /** The graph's. */
  file: string;
}

export interface StreamControl {
  /** Called for each node that begins. */
  onNode: (node: string) => void;
  progress: StreamProgress;
  /** Resolves when all writes of the graph so far are committed. */
  written: () => Promise<void>;
  /** The nested graphs that are left to the next attempt, with the nodes that they run in. */
  left: LeftGraphs;
  /** Untracked output of the graph; undefined if it has none. */
  untracked: UntrackedOutput | undefined;
}

/**
 * Runs the graph, calling `onNode` for each node that it begins, and yields its events as the API names them: `values`,
 * `updates|node:task` for a subgraph's, and so on.
 * @see https://docs.langchain.com/langsmith/streaming for the modes
 */
export async function* streamRun(
  graph: AnyGraph,
  input: unknown,
  config: StreamConfig,
  { kwargs, file }: StreamRequest,
  { onNode, progress, written, left, untracked }: StreamControl,
): AsyncGenerator<RunEventMessage> {
  const asked = new Set(kwargs.stream_mode);
  const modes = libraryModes(kwargs.stream_mode, untracked !== undefined);
  const wanted = new Set(modes);
  const isOlder = !hasTaskModes(file);
  const options = {
    ...config,
    streamMode: isOlder ? withoutTaskModes(modes) : modes,
    subgraphs: true,
    // Of the library's own event stream: tokens come as content blocks, and each state after an event with its checkpoint.
    ...(kwargs.event_protocol && { version: 'v3' }),
  };
  const messages = new MessageAssembler();
  const facts = new ChunkFacts();
  const blocks = kwargs.event_protocol && !hasContentBlocks(file) ? new ContentBlocks() : undefined;
  function* name(chunks: Iterable<ChunkWithFact>): Generator<RunEventMessage> {
    for (const each of chunks) {
      if (left.owns(each)) continue;
      const { chunk, fact } = each;
      for (const message of translateChunk(chunk, asked, kwargs, messages, onNode)) {
        yield fact === undefined ? message : { ...message, fact };
      }
    }
  }
  async function translate(chunk: Chunk): Promise<Iterable<RunEventMessage>> {
    if (chunk[1] === 'values' && chunk[0].length === 0) untracked?.note(chunk[2]);
    // Tokens and custom events come before their node's end; all other events report an end, which has to be committed first.
    if (!WORK_IN_PROGRESS.has(chunk[1])) await written();
    const chunks = isOlder ? [...unwrapDebug(chunk, wanted)] : [chunk];
    const inBlocks = blocks ? chunks.flatMap((each) => [...blocks.next(each)]) : chunks;
    const emitted = inBlocks.flatMap((each) => [...facts.next(each)]);
    return name(kwargs.event_protocol ? checkpointFirst(emitted) : emitted);
  }

  // Only the event protocol has channels for what they emit.
  const transformers = kwargs.event_protocol && (await StreamTransformers.of(graph, file, config.signal));
  try {
    if (transformers) {
      for await (const chunk of progress.read<unknown>(await graph.stream(input, options))) {
        for (const each of await transformers.apply(chunk as Chunk)) yield* await translate(each);
      }
      for (const each of await transformers.end()) yield* await translate(each);
    } else if (!asked.has('events')) {
      for await (const chunk of progress.read<unknown>(await graph.stream(input, options))) {
        yield* await translate(chunk as Chunk);
      }
    } else {
      const events = graph.streamEvents(input, { ...options, version: 'v2' });
      for await (const event of progress.read(events)) {
        const isRoot = event.event === 'on_chain_stream' && event.run_id === config.runId;
        if (isRoot) yield* await translate(event.data.chunk as Chunk);
        if (event.event.endsWith('_end')) await written();
        // What the graph itself streams are the other modes, with internals of the library.
        const isLeft = left.hasInTask(taskOfMetadata(event.metadata));
        if (!isRoot && !isLeft && !event.tags?.includes('langsmith:hidden')) yield eventOf(event);
      }
    }
  } catch (error) {
    // What is held back of a run that is handed back follows from the next attempt.
    if (!left.handedBack) yield* name(facts.rest());
    throw error;
  }
  if (blocks) yield* name([...blocks.rest()].map((chunk) => ({ chunk })));
  yield* name(facts.rest());
}

function eventOf(event: StreamEvent): RunEventMessage {
  const piece: unknown = event.event.endsWith('_stream') ? event.data.chunk : undefined;
  return { event: 'events', data: toWireJson(publicEvent(event), piece) };
}

function* translateChunk(
  [namespace, mode, data]: Chunk,
  asked: Set<StreamMode>,
  kwargs: RunKwargs,
  messages: MessageAssembler,
  onNode: (node: string) => void,
): Generator<RunEventMessage> {
  const isRoot = namespace.length === 0;
  const nameOf = (name: string): string => (isRoot ? name : `${name}|${namespace.join('|')}`);
  if (kwargs.event_protocol && mode === 'messages') {
    yield { event: nameOf(CONTENT_BLOCKS), data: toWireJson(contentBlockEvent(data)) };
    return;
  }
  if (kwargs.event_protocol && mode === 'checkpoints') {
    yield { event: nameOf(mode), data: JSON.stringify(inShort(data as WholeCheckpoint)) };
    return;
  }
  // Output of a nested graph before the end of its nodes belongs to the answer; its states and updates are internal.
  if (!isRoot && !kwargs.stream_subgraphs && !WORK_IN_PROGRESS.has(mode)) return;
  if (mode === 'messages') {
    const [message, metadata] = data as [BaseMessage, Record<string, unknown>];
    if (asked.has('messages-tuple')) {
      const name = !isRoot && kwargs.stream_subgraphs ? `messages|${namespace.join('|')}` : 'messages';
      yield { event: name, data: messageFrame(message, metadata) };
    }
    if (asked.has('messages') && isPiece(metadata)) yield* messages.piece(message, metadata);
    return;
  }
  if (mode === 'tasks' && isRoot && isTaskStart(data)) onNode(data.name);
  if (asked.has(mode)) {
    const event = kwargs.stream_subgraphs ? nameOf(mode) : mode;
    yield { event, data: toWireJson(publicChunk(mode, data)) };
  }
  if (mode === 'values' && isRoot && asked.has('messages')) yield* messages.state(data);
}

/** JSON of the metadata of messages: the library emits the same object with each token of a message. */
const metadataJson = new WeakMap<object, string>();

function messageFrame(message: BaseMessage, metadata: Record<string, unknown>): string {
  let json = metadataJson.get(metadata);
  if (json === undefined) {
    json = toWireJson(metadata);
    metadataJson.set(metadata, json);
  }
  return `[${toWireJson(message, isPiece(metadata) ? message : undefined)},${json}]`;
}

/**
 * Whether a message of the mode `messages` is one of the pieces in which a model answers. The library also emits, under the
 * node's own name and without anything about a model, the messages that a node returns and that it has not seen yet.
 */
function isPiece({ ls_model_type: model, name, langgraph_node: node }: Record<string, unknown>): boolean {
  return model !== undefined || name !== node;
}

/** Metadata of a message in the event protocol: only the node and the run, since they come with every token. */
function contentBlockEvent(chunk: unknown): { node?: unknown; data: object } {
  const [event, { langgraph_node: node, run_id }] = chunk as [object, Record<string, unknown>];
  return { ...(node !== undefined && { node }), data: { ...event, ...(run_id !== undefined && { run_id }) } };
}

/** The event protocol emits a checkpoint before the state that is in it; the library emits it after. */
function checkpointFirst(chunks: ChunkWithFact[]): ChunkWithFact[] {
  const [first, second] = chunks;
  return second && first.chunk[1] === 'values' && second.chunk[1] === 'checkpoints' ? [second, first] : chunks;
}

interface WholeCheckpoint {
  config?: RunnableConfig;
  parentConfig?: RunnableConfig;
  metadata?: { step?: number; source?: string };
}

/** The data needed to go back to a checkpoint, without its state. */
function inShort({ config, parentConfig, metadata }: WholeCheckpoint): object {
  const parent: unknown = parentConfig?.configurable?.checkpoint_id;
  return {
    id: config?.configurable?.checkpoint_id as unknown,
    ...(parent !== undefined && { parent_id: parent }),
    step: metadata?.step,
    source: metadata?.source,
  };
}

function isTaskStart(data: unknown): data is { name: string } {
  return typeof data === 'object' && data !== null && 'triggers' in data && 'name' in data;
}

/** Builds whole messages from streamed pieces: `messages/partial` carries all of the text so far. */
class MessageAssembler {
  private readonly partial = new Map<string, AIMessageChunk>();
  private readonly complete = new Set<string>();
  private readonly announced = new Set<string>();

  *piece(message: BaseMessage, metadata: Record<string, unknown>): Generator<RunEventMessage> {
    const { id } = message;
    if (!id || !('concat' in message)) return;
    if (!this.announced.has(id)) {
      this.announced.add(id);
      yield { event: 'messages/metadata', data: toWireJson({ [id]: { metadata } }) };
    }
    const before = this.partial.get(id);
    const whole = before ? before.concat(message as AIMessageChunk) : (message as AIMessageChunk);
    this.partial.set(id, whole);
    yield { event: 'messages/partial', data: toWireJson([whole]) };
  }

  *state(values: unknown): Generator<RunEventMessage> {
    if (typeof values !== 'object' || values === null || !('messages' in values)) return;
    const list: unknown[] = Array.isArray(values.messages) ? values.messages : [values.messages];
    const fresh = list.filter((message): message is BaseMessage => {
      const id = (message as BaseMessage | undefined)?.id;
      return typeof id === 'string' && !this.complete.has(id);
    });
    if (fresh.length === 0) return;
    for (const { id } of fresh) this.complete.add(id!);
    yield { event: 'messages/complete', data: toWireJson(fresh) };
  }
}
