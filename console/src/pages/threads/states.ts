import type { ThreadState } from '@langchain/langgraph-sdk';
import { queryOptions } from '@tanstack/react-query';
import { sendJson } from '../../api/json';

/** Fields of a state that the list of checkpoints needs. The values, which are most of it, are read for those that are shown. */
export const FIELDS = ['next', 'tasks', 'metadata', 'created_at', 'checkpoint', 'parent_checkpoint'] as const;

/** A state of a thread or of a nested graph, at one of its checkpoints. */
export type State = Pick<ThreadState, (typeof FIELDS)[number]>;

export const idOf = (state: State): string => state.checkpoint.checkpoint_id ?? '';

interface StepMetadata {
  step?: number;
  source?: string;
  run_id?: string;
}

export const metadataOf = ({ metadata }: State): StepMetadata => (metadata ?? {}) as StepMetadata;

/** The values of a state; null without one. */
export const valuesQuery = (threadId: string, state: State | undefined) =>
  queryOptions({
    queryKey: ['values of state', threadId, state?.checkpoint],
    // A checkpoint never changes.
    staleTime: Infinity,
    queryFn: async () => {
      if (!state) return null;
      const body = { checkpoint: state.checkpoint, select: ['values'] };
      const path = `/threads/${threadId}/state/checkpoint`;
      return (await sendJson<{ values?: unknown }>('POST', path, body)).values ?? null;
    },
  });
