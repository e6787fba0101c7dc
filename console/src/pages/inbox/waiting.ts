import { answerOf, api } from '../../api/client';
import type { Question } from '../../ui/questions';

const PAGE_SIZE = 200;

export interface Waiting {
  threadId: string;
  assistantId: string | undefined;
  graphId: string | undefined;
  since: string;
  values: unknown;
  questions: Question[];
}

const searchInterrupted = (offset: number) =>
  answerOf(
    api.POST('/threads/search', {
      body: { status: 'interrupted', limit: PAGE_SIZE, offset, sort_by: 'state_updated_at', sort_order: 'asc' },
    }),
  );

/**
 * Threads that wait for a person, oldest first. A question that several tasks carry is one question. A thread whose run was
 * stopped in the middle has the same status, but asks nothing.
 */
export async function findWaiting(): Promise<Waiting[]> {
  const threads = await searchInterrupted(0);
  for (let count = threads.length; count === PAGE_SIZE;) {
    const page = await searchInterrupted(threads.length);
    threads.push(...page);
    count = page.length;
  }
  return threads.flatMap((thread): Waiting[] => {
    const asked = Object.values(thread.interrupts ?? {}).flat() as Question[];
    const questions = [...new Map(asked.map((each, index) => [each.id ?? index, each])).values()];
    if (questions.length === 0) return [];
    const { assistant_id, graph_id } = (thread.metadata ?? {}) as { assistant_id?: string; graph_id?: string };
    return [
      {
        threadId: thread.thread_id!,
        assistantId: assistant_id,
        graphId: graph_id,
        since: thread.state_updated_at ?? thread.updated_at!,
        values: thread.values,
        questions,
      },
    ];
  });
}
