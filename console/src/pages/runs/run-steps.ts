import { queryOptions } from '@tanstack/react-query';
import { sendJson } from '../../api/json';

/** Checkpoints that are read at a time. */
const PAGE_SIZE = 100;
const WATCH_MS = 1_000;

/** Fields of a checkpoint that an axis needs. The values, which are most of it, are read for a step that is opened. */
const FIELDS = ['next', 'tasks', 'metadata', 'created_at', 'checkpoint', 'parent_checkpoint'];

interface State {
  next: string[];
  tasks: { error?: string | null }[];
  metadata: { step?: number; run_id?: string; run_attempt?: number } | null;
  created_at: string | null;
  checkpoint: { checkpoint_id: string };
  parent_checkpoint: { checkpoint_id: string } | null;
}

/** One superstep of a run, from the checkpoint before it to its own. */
export interface Step {
  /** Checkpoint of the step. */
  id: string;
  /** Checkpoint before it, if there is one. */
  parent: string | undefined;
  number: number | undefined;
  /** Attempt at the run that made the step's checkpoint. */
  attempt: number;
  /** Nodes that wrote in this step. */
  nodes: string[];
  /** Nodes that were due after it: none at the end of the graph. */
  next: string[];
  /** Times in milliseconds since 1970. */
  from: number;
  to: number;
  error: string | undefined;
}

export interface RunSteps {
  /** Oldest first. */
  steps: Step[];
  /** Whether older ones are still being read. */
  isPartial: boolean;
  /** Checkpoints from which the steps are made, newest first. */
  states: State[];
}

const idOf = ({ checkpoint }: State): string => checkpoint.checkpoint_id;

/** Reads checkpoints of a run, newest first. */
const readStates = (threadId: string, runId: string, before: string | undefined): Promise<State[]> =>
  sendJson('POST', `/threads/${threadId}/history`, {
    limit: PAGE_SIZE,
    metadata: { run_id: runId },
    select: FIELDS,
    ...(before !== undefined && { before }),
  });

const readState = <Fields>(threadId: string, checkpointId: string, select: string[]): Promise<Fields> =>
  sendJson('POST', `/threads/${threadId}/state/checkpoint`, { checkpoint: { checkpoint_id: checkpointId }, select });

/** The checkpoint from which a run began, which an earlier run wrote, if there is one. */
const readOrigin = async (threadId: string, { parent_checkpoint: parent }: State): Promise<State[]> =>
  parent ? [await readState<State>(threadId, parent.checkpoint_id, FIELDS)] : [];

function toSteps(states: State[], runId: string, isPartial: boolean): RunSteps {
  const byId = new Map(states.map((state) => [idOf(state), state]));
  const steps = states
    .filter(({ metadata }) => metadata?.run_id === runId)
    .map((state): Step => {
      const parentId = state.parent_checkpoint?.checkpoint_id;
      const parent = parentId === undefined ? undefined : byId.get(parentId);
      const to = Date.parse(state.created_at ?? '');
      return {
        id: idOf(state),
        parent: parentId,
        number: state.metadata?.step,
        attempt: state.metadata?.run_attempt ?? 1,
        nodes: parent ? [...new Set(parent.next)] : [],
        next: state.next,
        from: parent ? Date.parse(parent.created_at ?? '') : to,
        to,
        error: state.tasks.map(({ error }) => error).find(Boolean) ?? undefined,
      };
    });
  return { steps: steps.toReversed(), isPartial, states };
}

/**
 * The steps of a run, of any number. The newest page is there first, and older ones follow; what is known is not read again.
 * The path through the graph and the axis of time need all of them, so they are not left for the scrolling to ask for.
 */
async function readSteps(
  { threadId, runId }: { threadId: string; runId: string },
  known: State[],
  report: (partial: RunSteps) => void,
  signal: AbortSignal,
): Promise<RunSteps> {
  const ids = new Set(known.map(idOf));
  const fresh: State[] = [];
  for (;;) {
    const page = await readStates(threadId, runId, fresh.length > 0 ? idOf(fresh.at(-1)!) : undefined);
    signal.throwIfAborted();
    fresh.push(...page);
    // Of a checkpoint that is known, its tasks may have failed since: the newest page is taken from the answer.
    if (page.some((state) => ids.has(idOf(state)))) {
      const renewed = new Set(fresh.map(idOf));
      return toSteps([...fresh, ...known.filter((state) => !renewed.has(idOf(state)))], runId, false);
    }
    if (page.length < PAGE_SIZE) break;
    report(toSteps(fresh, runId, true));
  }
  const origin = fresh.length > 0 ? await readOrigin(threadId, fresh.at(-1)!) : [];
  return toSteps([...fresh, ...origin], runId, false);
}

type Key = readonly ['steps', runId: string, isLive: boolean];

export const stepsQuery = (threadId: string | undefined, runId: string, isLive: boolean) => {
  const keyOf = (live: boolean): Key => ['steps', runId, live];
  return queryOptions<RunSteps, Error, RunSteps, Key>({
    queryKey: keyOf(isLive),
    enabled: threadId !== undefined,
    refetchInterval: isLive ? WATCH_MS : false,
    placeholderData: (before, query) => (query?.queryKey[1] === runId ? before : undefined),
    queryFn: ({ client, signal }) => {
      const seen = client.getQueryData<RunSteps>(keyOf(isLive)) ?? client.getQueryData<RunSteps>(keyOf(!isLive));
      const known = seen && !seen.isPartial ? seen.states : [];
      const report = (partial: RunSteps): void => void client.setQueryData(keyOf(isLive), partial);
      return readSteps({ threadId: threadId!, runId }, known, report, signal);
    },
  });
};

/** The values of a thread at a checkpoint; undefined without one. */
export const valuesQuery = (threadId: string, checkpointId: string | undefined) =>
  queryOptions({
    queryKey: ['values', threadId, checkpointId],
    // A checkpoint never changes.
    staleTime: Infinity,
    queryFn: async () => {
      if (checkpointId === undefined) return null;
      return (await readState<{ values?: unknown }>(threadId, checkpointId, ['values'])).values ?? null;
    },
  });
