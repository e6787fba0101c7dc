import type { StateSnapshot } from '@langchain/langgraph';
import { checkpointOf } from './checkpoint-reference';
import { describeThrown } from './thrown-values';
import type { FinalState } from './protocol';
import { toWireJson } from './wire-json';

interface Interrupt {
  id?: string;
  value?: unknown;
}

/** Ids of the tasks that have ended, as the saver that a snapshot was read with knows them. */
export type EndedTasks = Pick<ReadonlySet<string>, 'has'>;

/**
 * The tasks that wait for an answer. The library lists the questions of parallel tasks until the last of them is answered. The
 * results of those that are don't distinguish them: a task that changes no state has none, as one that asks a second time.
 */
const askingTasks = ({ tasks }: StateSnapshot, ended: EndedTasks): StateSnapshot['tasks'] =>
  tasks.filter(({ id, interrupts }) => interrupts.length > 0 && !ended.has(id));

/** The interrupts that a thread waits at: task id → what each asks. */
export function interruptsByTask(snapshot: StateSnapshot, ended: EndedTasks): Record<string, Interrupt[]> {
  return Object.fromEntries(askingTasks(snapshot, ended).map((task) => [task.id, task.interrupts as Interrupt[]]));
}

/**
 * The nodes that a thread waits at. A node that asks a second time is one of them, though the library doesn't name it in
 * `next`: it takes the first answer, which is stored with the task, for the node's result.
 * @see https://github.com/langchain-ai/langgraph/issues/6956
 */
export function waitingNodes(snapshot: StateSnapshot, ended: EndedTasks): string[] {
  const asking = askingTasks(snapshot, ended).map(({ name }) => name);
  return [...new Set([...snapshot.next, ...asking])];
}

/** The part of a state that the thread's row stores. */
export function toFinalState(snapshot: StateSnapshot, ended: EndedTasks): FinalState {
  return {
    values: toWireJson(snapshot.values),
    next: waitingNodes(snapshot, ended),
    interrupts: toWireJson(interruptsByTask(snapshot, ended)),
  };
}

/** The questions of a state: those that are open, or in the history, once the whole step has ended, those that it asked. */
function questionsOf(snapshot: StateSnapshot, ended: EndedTasks): unknown[] {
  const isOver = snapshot.tasks.every(({ id }) => ended.has(id));
  return (isOver ? snapshot.tasks : askingTasks(snapshot, ended)).flatMap((task) => task.interrupts);
}

function isSnapshot(state: unknown): state is StateSnapshot {
  return typeof state === 'object' && state !== null && 'tasks' in state && 'values' in state;
}

/** A state as the API shows it. */
export function toThreadState(snapshot: StateSnapshot, ended: EndedTasks): Record<string, unknown> {
  const checkpoint = checkpointOf(snapshot.config);
  const parent = checkpointOf(snapshot.parentConfig);
  return {
    values: snapshot.values ?? {},
    next: snapshot.next,
    tasks: snapshot.tasks.map((task) => ({
      id: task.id,
      name: task.name,
      path: task.path ?? [],
      error: task.error === undefined ? null : describeThrown(task.error).message,
      interrupts: task.interrupts,
      // A nested graph is a pointer to its own state, or that state when it was asked for.
      checkpoint: task.state !== undefined && !isSnapshot(task.state) ? (task.state.configurable ?? null) : null,
      state: isSnapshot(task.state) ? toThreadState(task.state, ended) : null,
      result: task.result ?? null,
    })),
    metadata: snapshot.metadata ?? {},
    created_at: snapshot.createdAt ?? null,
    checkpoint,
    parent_checkpoint: parent,
    interrupts: questionsOf(snapshot, ended),
    checkpoint_id: checkpoint?.checkpoint_id ?? null,
    parent_checkpoint_id: parent?.checkpoint_id ?? null,
  };
}
