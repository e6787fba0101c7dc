import type { StateSnapshot } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { isAnswered } from '../../patches/langgraph/graph-internals';
import type { ExecuteRequest, GraphOutcome } from './protocol';
import { type EndedTasks, toFinalState } from './thread-state';
import { toWireJson } from './wire-json';

type Task = StateSnapshot['tasks'][number];

/**
 * The nodes that a lost attempt had begun and not ended, as far as the checkpoint that the run continues from shows. A node
 * that waits for an answer had begun if the answer is stored: the lost attempt brought it.
 */
export function unfinishedTasks({ tasks }: StateSnapshot, newest: CheckpointTuple, ended: EndedTasks): Task[] {
  return tasks.filter((task) => !ended.has(task.id) && (task.interrupts.length === 0 || isAnswered(task, newest)));
}

/**
 * Whether a run begins with the nodes that an earlier run's checkpoint waits at: then a lost attempt may have begun them
 * without leaving a checkpoint of its own.
 */
export function beginsWithWaitingNodes({ command, input }: ExecuteRequest['kwargs']): boolean {
  return command ? command.resume !== undefined : (input ?? null) === null;
}

/** Ends the run in front of the nodes in doubt: the thread waits for a person, and resumes with a run without input. */
export function stopBeforeUnknown(
  request: ExecuteRequest,
  snapshot: StateSnapshot,
  ended: EndedTasks,
  unknown: Task[],
): GraphOutcome {
  const questions = unknown.map((task) => {
    const value = {
      type: 'unknown_outcome',
      node: task.name,
      run_id: request.runId,
      attempt: request.attempt - 1,
      message: `A worker was lost while "${task.name}" ran: it may or may not have taken effect. Run without input to start it again.`,
    };
    return [task.id, [{ id: task.id, value }]];
  });
  const state = { ...toFinalState(snapshot, ended), interrupts: toWireJson(Object.fromEntries(questions)) };
  return { status: 'success', state };
}
