import type { StateSnapshot } from '@langchain/langgraph';
import { type CheckpointTuple, RESUME } from '@langchain/langgraph-checkpoint';
import type { RunCheckpointSaver } from './run-checkpoint-saver';
import { interruptsByTask } from './thread-state';

/** A question of a version of the library before 0.4, which names it only by the path of nested graphs to its task. */
interface Unnamed {
  id?: undefined;
  /** Each but the last is a part of the namespace of the graph that asks; the last ends with the id of the task. */
  ns?: string[];
}

type Question = { id: string } | Unnamed;

/** The place of an answer: the checkpoint, and the run that brings it. */
interface Answering {
  /** State of the checkpoint that the run starts from. */
  snapshot: StateSnapshot;
  saver: RunCheckpointSaver;
  runId: string;
}

/**
 * An answer that most versions of the library take for none (`false`, `0`, `""`, null), as they take it: addressed to each
 * open question. It is never an empty map, nor one of other keys: the library would give that to a node as its answer.
 * @returns what to resume with; undefined if nothing is left to say, and the run resumes without input
 */
export async function addressed(answer: unknown, { snapshot, saver, runId }: Answering): Promise<unknown> {
  const open = Object.values(interruptsByTask(snapshot, saver.ended)).flat() as Question[];
  if (open.length === 0) return answer ?? undefined;
  const ids = open.flatMap(({ id }) => id ?? []);
  if (ids.length === open.length) return Object.fromEntries(ids.map((id) => [id, answer]));
  await storeAnswers(open as Unnamed[], answer, { snapshot, saver, runId });
  return undefined;
}

/**
 * Stores the answer with the tasks that ask. A command of these versions can't: it reaches no task of a nested graph, and
 * spoils the earlier answers of one that asks again.
 */
async function storeAnswers(open: Unnamed[], answer: unknown, { snapshot, saver, runId }: Answering): Promise<void> {
  const root = await saver.getTuple(snapshot.config);
  // An earlier attempt at the run has stored them: a second copy would answer the next question.
  if (!root || root.pendingWrites?.some(([id]) => id === runId)) return;
  const answers: Parameters<RunCheckpointSaver['putWrites']>[] = [[root.config, [[RESUME, [answer]]], runId]];
  for (const { ns } of open) {
    if (!ns) continue;
    const checkpoint_ns = ns.slice(0, -1).join('|');
    const { thread_id } = root.config.configurable as { thread_id: string };
    const asking = checkpoint_ns ? await saver.getTuple({ configurable: { thread_id, checkpoint_ns } }) : root;
    const taskId = ns.at(-1)!.split(':').at(-1)!;
    if (asking) answers.push([asking.config, [[RESUME, [...answersOf(asking, taskId), answer]]], taskId]);
  }
  await saver.putAllWrites(answers);
}

/** The answers that a task has had. */
function answersOf({ pendingWrites = [] }: CheckpointTuple, taskId: string): unknown[] {
  return pendingWrites
    .filter(([id, channel]) => id === taskId && channel === RESUME)
    .flatMap(([, , answers]) => answers);
}
