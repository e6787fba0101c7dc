import { answerOf, api } from './client';

interface ThreadStatus {
  status: string;
  /** Questions of the thread, by the tasks that ask. */
  interrupts: Record<string, unknown[]> | undefined;
}

/** Status of a thread, without its values; null for one that is deleted. */
export async function findStatus(threadId: string): Promise<ThreadStatus | null> {
  const body = { ids: [threadId], select: ['status' as const, 'interrupts' as const] };
  const [found] = await answerOf(api.POST('/threads/search', { body }));
  return found?.status ? { status: found.status, interrupts: found.interrupts } : null;
}
