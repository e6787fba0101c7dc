/** LangGraph's own modes; `messages` of the API is derived from its tuples and values, `events` is another method. */
export type LibraryMode = 'values' | 'updates' | 'messages' | 'custom' | 'debug' | 'tasks' | 'checkpoints' | 'tools';

/** A chunk of the library's stream. */
export type Chunk = [namespace: string[], mode: LibraryMode, data: unknown];

/** A chunk of the library's stream, with the id of the task or checkpoint whose commit it reports, if any. */
export interface ChunkWithFact {
  chunk: Chunk;
  fact?: string;
}

/**
 * Finds the checkpoint or task of `values` and `updates`, which they don't contain: the library sends the checkpoint right
 * after its `values`, and the task's end right after its `updates`. After the last `values` of a nested graph without a saver
 * it sends no checkpoint; then the end of the task that ran the graph follows.
 */
export class ChunkFacts {
  /** Held chunks by namespace: nested graphs that run beside each other emit in between. */
  private readonly held = new Map<string, Chunk>();

  /** Returns the chunks that can be emitted now: none yet, this one, or also the one that was held back for it. */
  *next(chunk: Chunk): Generator<ChunkWithFact> {
    const [path, mode, data] = chunk;
    const namespace = path.join('|');
    const held = this.held.get(namespace);
    this.held.delete(namespace);
    if (mode === 'tasks' && isTaskEnd(data)) yield* this.within([...path, `${data.name}:${data.id}`].join('|'));
    if (held) yield withFact(held, factAfter(held, chunk));
    if (mode === 'values' || (mode === 'updates' && isComputed(data))) this.held.set(namespace, chunk);
    else yield withFact(chunk, mode === 'tasks' && isTaskEnd(data) ? data.id : undefined);
  }

  /** Returns the chunks that are held back of the graphs within a task. */
  private *within(task: string): Generator<ChunkWithFact> {
    for (const [namespace, chunk] of this.held) {
      if (namespace !== task && !namespace.startsWith(`${task}|`)) continue;
      this.held.delete(namespace);
      yield { chunk };
    }
  }

  /** Returns the chunks that are still held back when the stream has ended or failed. */
  *rest(): Generator<ChunkWithFact> {
    for (const chunk of this.held.values()) yield { chunk };
    this.held.clear();
  }
}

function withFact(chunk: Chunk, fact: string | undefined): ChunkWithFact {
  return fact === undefined ? { chunk } : { chunk, fact };
}

function factAfter([, earlier]: Chunk, [, mode, data]: Chunk): string | undefined {
  if (earlier === 'values') return mode === 'checkpoints' ? checkpointId(data) : undefined;
  return mode === 'tasks' && isTaskEnd(data) ? data.id : undefined;
}

function checkpointId(checkpoint: unknown): string | undefined {
  return (checkpoint as { config?: { configurable?: { checkpoint_id?: string } } }).config?.configurable?.checkpoint_id;
}

function isTaskEnd(data: unknown): data is { id: string; name: string } {
  return typeof data === 'object' && data !== null && 'result' in data && 'id' in data;
}

/** Except for an update that asks a human, or one computed by an earlier attempt: no end of a task follows these. */
function isComputed(data: unknown): boolean {
  return typeof data === 'object' && data !== null && !('__interrupt__' in data) && !('__metadata__' in data);
}
