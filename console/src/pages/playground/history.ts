import type { ThreadState } from '@langchain/langgraph-sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { sdk } from '../../api/sdk';
import type { ChatMessage } from '../../ui/chat-messages';
import { fieldsOf } from '../../ui/fields';

/** States that are read at a time, newest first. */
export const READ = 100;
const KEY = 'playground history';

type Values = Record<string, unknown>;
type States = ThreadState<Values>[];

interface History {
  data: States | undefined;
  error: unknown;
  isLoading: boolean;
  /** Reads it again. */
  mutate: (threadId?: string) => Promise<States>;
}

/** Excludes the history from what is read again: the end of a run reads it in any case. */
export const isOther = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => queryKey[0] !== KEY;

const historyQuery = (threadId: string | undefined) => ({
  queryKey: [KEY, threadId],
  // The SDK's client gives a request without a signal the answer to the same one that is in flight.
  queryFn: ({ signal }: { signal: AbortSignal }) => sdk.threads.getHistory<Values>(threadId!, { limit: READ, signal }),
});

/** The newest states of a thread as a query, so that they are read again like everything else once the connection is back. */
export function useHistory(threadId: string | undefined): History {
  const queries = useQueryClient();
  const { data, error, isLoading } = useQuery({
    ...historyQuery(threadId),
    enabled: threadId !== undefined,
    refetchOnWindowFocus: false,
  });
  return {
    data,
    error,
    isLoading,
    mutate: async (given = threadId) => {
      if (given === undefined) return [];
      const query = historyQuery(given);
      // An answer that was requested before the end of a run doesn't have it.
      await queries.cancelQueries({ queryKey: query.queryKey });
      return queries.fetchQuery({ ...query, staleTime: 0 });
    },
  };
}

type Checkpoint = ThreadState['checkpoint'];

function has({ values }: ThreadState, id: string): boolean {
  const { messages } = fieldsOf(values);
  return Array.isArray(messages) && messages.some((message) => fieldsOf(message).id === id);
}

/**
 * The checkpoint after which a message was sent: the one before the first state that has it.
 * @param known the first state that has it, of those that were read
 * @param oldest the oldest of them, where there are older ones
 */
export async function findOrigin(
  threadId: string,
  { id }: ChatMessage,
  known: ThreadState | undefined,
  oldest: ThreadState | undefined,
): Promise<Checkpoint | null | undefined> {
  if (id === undefined || (known && known !== oldest)) return known?.parent_checkpoint;
  for (let first = known, last = known; ;) {
    const before = last && { configurable: { checkpoint_id: last.checkpoint.checkpoint_id } };
    const page = await sdk.threads.getHistory<Values>(threadId, { limit: READ, before });
    const found = page.findLast((state) => has(state, id));
    first = found ?? first;
    // Where none of so many states has it, neither do older ones.
    if (!found || page.length < READ) return first?.parent_checkpoint;
    last = page.at(-1);
  }
}
