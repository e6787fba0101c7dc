import { answerOf, api } from './client';

/** Status of a thread, without its values; null for one that is deleted. */
export async function findStatus(threadId: string): Promise<string | null> {
  const body = { ids: [threadId], select: ['status' as const] };
  const [found] = await answerOf(api.POST('/threads/search', { body }));
  return found?.status ?? null;
}
