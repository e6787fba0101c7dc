import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../../api/client';
import { findStatus } from '../../api/thread-status';
import { messagesOf } from '../../ui/chat-messages';
import { type Question, questionsOf } from '../../ui/questions';

const PAGE_SIZE = 200;
/** Messages before a question that are shown with it. */
const SHOWN_MESSAGES = 6;

export interface Waiting {
  threadId: string;
  assistantId: string | undefined;
  graphId: string | undefined;
  since: string;
  questions: Question[];
}

// Without the values, which may be large: the list is read every few seconds.
const searchInterrupted = (offset: number) =>
  answerOf(
    api.POST('/threads/search', {
      body: {
        status: 'interrupted',
        limit: PAGE_SIZE,
        offset,
        sort_by: 'state_updated_at',
        sort_order: 'asc',
        select: ['thread_id', 'updated_at', 'state_updated_at', 'metadata', 'interrupts'],
      },
    }),
  );

/** Threads that wait for a person, oldest first. */
export async function findWaiting(): Promise<Waiting[]> {
  const threads = await searchInterrupted(0);
  for (let count = threads.length; count === PAGE_SIZE;) {
    const page = await searchInterrupted(threads.length);
    threads.push(...page);
    count = page.length;
  }
  return threads.flatMap((thread): Waiting[] => {
    const questions = questionsOf(thread.interrupts);
    if (questions.length === 0) return [];
    const { assistant_id, graph_id } = (thread.metadata ?? {}) as { assistant_id?: string; graph_id?: string };
    return [
      {
        threadId: thread.thread_id!,
        assistantId: assistant_id,
        graphId: graph_id,
        since: thread.state_updated_at ?? thread.updated_at!,
        questions,
      },
    ];
  });
}

/** The questions that a thread asks now. */
export const questionsNow = async (threadId: string): Promise<Question[]> =>
  questionsOf((await findStatus(threadId))?.interrupts);

/** The last messages of a thread that waits, read once for each of its states; none where its values are no conversation. */
export const messagesQuery = ({ threadId, since }: Waiting) =>
  queryOptions({
    queryKey: ['messages of waiting', threadId, since],
    queryFn: async () => {
      const { values } = await answerOf(api.GET('/threads/{thread_id}', { params: { path: { thread_id: threadId } } }));
      return messagesOf(values)?.slice(-SHOWN_MESSAGES) ?? [];
    },
    staleTime: Infinity,
  });
