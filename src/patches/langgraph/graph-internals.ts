/**
 * @library @langchain/langgraph 1.7.3
 * @patch Reads `builder.branches` of a compiled graph, the names of the channels that hold the next nodes, the writes that hold
 * answers to interrupts and those of a task that has ended, passes and reads `__pregel_…` keys in `configurable`, and marks an
 * error by `is_bubble_up`, as the library marks interrupts.
 * @why The saver of a run has to reach nested graphs, and the library says nowhere which nodes a checkpoint waits at, once one of
 * them is no longer in the graph, nor which interrupts have been answered, nor that a task has ended which changed no state. An
 * error that hands a run back must neither end the other tasks of its step nor be retried.
 * @upstream None known.
 * @remove When `getState` names missing nodes, answered interrupts and ended tasks, and `stream` takes a checkpointer.
 */
import { START } from '@langchain/langgraph';
import { type Checkpoint, type CheckpointTuple, ERROR, INTERRUPT, RESUME } from '@langchain/langgraph-checkpoint';

/** Key of `configurable` with the saver of a run, which nested graphs use as well. */
export const CHECKPOINTER = '__pregel_checkpointer';

/** Key of `configurable` by which LangGraph refuses an answer to a question that isn't open; otherwise it ignores such an answer. */
export const STRICT_RESUME = '__pregel_strict_resume';

/** Key of `configurable` with the id of the task that runs a nested graph. */
export const TASK = '__pregel_task_id';

/** Mark of an error that lets the other tasks of a step end, and is neither retried nor given to an error handler. */
export const BUBBLES_UP = 'is_bubble_up';

/** Channels in which the library keeps who is next: an edge's target, a join of several, and what a Send addresses. */
const EDGE = /^branch:to:(.+)$/;
const JOIN = /^join:(.+):([^:]+)$/;
const SENDS = '__pregel_tasks';

/** Channels of what happens to a task before its end. All others are written at its end, also if it changes no state. */
const BEFORE_THE_END = [ERROR, '__error_source_node__', INTERRUPT, RESUME];

/** Task under which the library stores an answer that names no interrupt. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/** Whether a compiled graph runs nothing of its own between the input and its first nodes, such as a choice of them. */
export function beginsWithItsInput(graph: { nodes: object }): boolean {
  const { builder } = graph as { nodes: object; builder?: { branches?: Record<string, object> } };
  return START in graph.nodes && Object.keys(builder?.branches?.[START] ?? {}).length === 0;
}

/** Names of the nodes that a checkpoint waits at, whether the graph has them or not. */
export function nextNodes({ channel_values: values }: Pick<Checkpoint, 'channel_values'>): string[] {
  return Object.entries(values).flatMap(([channel, value]) => {
    const [, edge] = EDGE.exec(channel) ?? [];
    if (edge !== undefined) return [edge];
    const [, starts, end] = JOIN.exec(channel) ?? [];
    // A join fires when each of its starts has come.
    if (starts !== undefined) return Array.isArray(value) && value.length === starts.split('+').length ? [end] : [];
    if (channel === SENDS && Array.isArray(value)) {
      return (value as { node?: unknown }[]).flatMap(({ node }) => (typeof node === 'string' ? [node] : []));
    }
    return [];
  });
}

/** Whether an answer to an interrupt of the task is stored: under the id of the interrupt, of the task, or of none. */
export function isAnswered(
  task: { id: string; interrupts: { id?: string }[] },
  { pendingWrites = [] }: Pick<CheckpointTuple, 'pendingWrites'>,
): boolean {
  const names = new Set([NO_TASK, task.id, ...task.interrupts.map(({ id }) => id)]);
  return task.interrupts.length > 0 && pendingWrites.some(([id, channel]) => channel === RESUME && names.has(id));
}

/** Ids of the tasks of a checkpoint that have ended. */
export function endedTasks({ pendingWrites = [] }: Pick<CheckpointTuple, 'pendingWrites'>): string[] {
  return pendingWrites.filter(([, channel]) => !BEFORE_THE_END.includes(channel)).map(([task]) => task);
}
