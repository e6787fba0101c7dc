import { BUBBLES_UP } from '../../patches/langgraph/graph-internals';
import type { ChunkWithFact, LibraryMode } from './chunk-facts';

/** Thrown after a written checkpoint, to stop a graph there: another worker runs the next step. */
export class HandedBack extends Error {
  readonly [BUBBLES_UP] = true;

  /** @param inDoubt whether it stopped inside a nested graph, whose siblings may have been running */
  constructor(readonly inDoubt: boolean) {
    super('The run was handed back at its checkpoint');
    this.name = 'HandedBack';
  }
}

/**
 * The nested graphs that a run has left at a checkpoint, to hand them to the next attempt. Their errors pass through code of
 * the user, which may catch them: what follows of the nodes that they run in is neither stored nor emitted.
 */
export class LeftGraphs {
  private readonly namespaces = new Set<string>();
  private readonly tasks = new Set<string>();
  /** Error of the first graph that was left. */
  handedBack: HandedBack | undefined;

  /**
   * @param namespace of the graph, with its tasks: `middle:<task>|1|deepest:<task>`
   * @param task that runs the graph; the namespace of a graph with a checkpointer of its own doesn't name it
   */
  add(namespace: string, task: string | undefined, handedBack: HandedBack): void {
    this.namespaces.add(namespace);
    for (const part of namespace.split('|')) this.tasks.add(part.slice(part.indexOf(':') + 1));
    if (task !== undefined) this.tasks.add(task);
    this.handedBack ??= handedBack;
  }

  has(namespace: string): boolean {
    return this.namespaces.has(namespace);
  }

  /** Whether a left graph runs in the task, or in a nested graph of it; never in a task that isn't known. */
  hasInTask(task: string | undefined): boolean {
    return task !== undefined && this.tasks.has(task);
  }

  /** Whether a left graph is nested in the graph of the namespace. */
  hasInside(namespace: string): boolean {
    return [...this.namespaces].some((left) => (namespace === '' ? left !== '' : left.startsWith(`${namespace}|`)));
  }

  /**
   * Whether a chunk of the run's stream belongs to the next attempt: the end or the output of a node in which a graph was left,
   * or a state or the questions of a graph around it.
   */
  owns({ chunk: [path, mode, data], fact }: ChunkWithFact): boolean {
    if (!this.handedBack) return false;
    if (isOfWholeStep(mode, data) && this.hasInside(path.join('|'))) return true;
    return this.hasInTask(fact ?? taskOf(mode, data));
  }
}

/** Whether a chunk is about all tasks of a step: a state, or their questions, which the next attempt asks again. */
function isOfWholeStep(mode: LibraryMode, data: unknown): boolean {
  if (mode === 'updates') return typeof data === 'object' && data !== null && '__interrupt__' in data;
  return (
    mode === 'values' ||
    mode === 'checkpoints' ||
    (mode === 'debug' && (data as { type: string }).type === 'checkpoint')
  );
}

/** The task whose output or end a chunk is, as far as the chunk names it. */
function taskOf(mode: LibraryMode, data: unknown): string | undefined {
  if (mode === 'messages') return taskOfMetadata((data as [unknown, object])[1]);
  return mode === 'debug' ? (data as { payload: { id?: string } }).payload.id : undefined;
}

/** The task that metadata of the library are about. */
export function taskOfMetadata(metadata: object): string | undefined {
  const { langgraph_checkpoint_ns: namespace } = metadata as { langgraph_checkpoint_ns?: string };
  return namespace?.slice(namespace.lastIndexOf(':') + 1);
}
