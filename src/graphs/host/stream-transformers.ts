import {
  createGraphRunStream,
  type GraphRunStream,
  isNativeTransformer,
  type ProtocolEvent,
  type StreamTransformer,
} from '@langchain/langgraph';
import { aborted } from './aborted';
import type { Chunk } from './chunk-facts';
import { importForGraph } from './graph-library';
import type { AnyGraph } from './graph-loader';

/** The part of LangGraph that runs transformers. */
interface TransformerLibrary {
  createGraphRunStream: typeof createGraphRunStream;
  isNativeTransformer: typeof isNativeTransformer;
}

const OWN_LIBRARY: TransformerLibrary = { createGraphRunStream, isNativeTransformer };

/** How the library's event stream names what a transformer emits on a channel of its own. */
const EXTENSION = 'custom:';
/** The modes that are events of the protocol; others pass by the transformers. */
const TRANSFORMED = new Set(['values', 'updates', 'messages', 'tools', 'custom', 'tasks']);

/**
 * A graph's own stream transformers (`compile({ transformers })`, `createAgent({ streamTransformers })`), for one run. The
 * library runs them in `streamEvents` of version v3, whose events don't say which checkpoint they belong to; here they see
 * the same events, chunk by chunk.
 */
export class StreamTransformers {
  private readonly source = new ChunkSource();
  private readonly events: ProtocolEvent[] = [];
  /** Settles when the transformers have emitted everything; rejects if one of them throws. */
  private readonly ended: Promise<void>;
  private readonly aborted: Promise<void>;
  private failure: { error: unknown } | undefined;

  private constructor(library: TransformerLibrary, transformers: StreamTransformer[], signal: AbortSignal | undefined) {
    this.aborted = aborted(signal);
    const run = library.createGraphRunStream(
      this.source,
      transformers.map((transformer) => () => transformer),
    );
    this.ended = this.collect(run);
    this.ended.catch((error: unknown) => {
      this.failure = { error };
    });
  }

  /**
   * Undefined where no transformer has anything for clients: native ones serve callers in the same process.
   * @param file the graph's
   */
  static async of(
    graph: AnyGraph,
    file: string,
    signal: AbortSignal | undefined,
  ): Promise<StreamTransformers | undefined> {
    const { streamTransformers = [] } = graph as { streamTransformers?: (() => StreamTransformer)[] };
    if (streamTransformers.length === 0) return undefined;
    const library = (await importForGraph<TransformerLibrary>(graph, file, '@langchain/langgraph')) ?? OWN_LIBRARY;
    const transformers = streamTransformers.map((create) => create());
    return transformers.every((each) => library.isNativeTransformer(each))
      ? undefined
      : new StreamTransformers(library, transformers, signal);
  }

  /**
   * Returns the chunks for clients: those that the transformers emit, and this one unless a transformer drops it.
   * @throws the errors of transformers
   */
  async apply(chunk: Chunk): Promise<Chunk[]> {
    if (!TRANSFORMED.has(chunk[1])) return [chunk];
    await Promise.race([this.source.offer(chunk), this.ended, this.aborted]);
    // The reader of the events has its turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure) throw this.failure.error;
    return this.take(chunk);
  }

  /** Yields what the transformers emit at the end of the run, until the run is aborted. */
  async end(): Promise<Chunk[]> {
    this.source.end();
    await Promise.race([this.ended, this.aborted]);
    return this.take();
  }

  private take(chunk?: Chunk): Chunk[] {
    return this.events.splice(0).flatMap((event): Chunk[] => {
      const { method, params } = event as { method: string; params: { namespace: string[]; data: unknown } };
      if (method.startsWith(EXTENSION)) {
        const payload = { name: method.slice(EXTENSION.length), payload: params.data };
        return [[params.namespace, 'custom', payload]];
      }
      if (!chunk) return method === 'custom' ? [[params.namespace, 'custom', params.data]] : [];
      return method === chunk[1] ? [chunk] : [];
    });
  }

  private async collect(run: GraphRunStream): Promise<void> {
    for await (const event of run) this.events.push(event);
  }
}

/** Yields chunks one by one: the next one is requested when the last one has been processed. */
class ChunkSource implements AsyncIterable<Chunk> {
  private readonly queue: Chunk[] = [];
  private isOver = false;
  private wake: (() => void) | undefined;
  private done: (() => void) | undefined;

  /** Resolves when the reader has dealt with the chunk. */
  offer(chunk: Chunk): Promise<void> {
    this.queue.push(chunk);
    this.wake?.();
    return new Promise((resolve) => {
      this.done = resolve;
    });
  }

  end(): void {
    this.isOver = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Chunk> {
    for (;;) {
      const chunk = this.queue.shift();
      if (chunk) {
        yield chunk;
        this.done?.();
      } else if (this.isOver) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }
}
