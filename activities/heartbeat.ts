import { Context } from '@temporalio/activity';

/**
 * Works while heartbeats show Temporal, independently of the work, that the process lives.
 * @param everyMs a third of the workflow's heartbeat timeout at the most: one may be late
 * @param details shown in Temporal UI, and what the next attempt finds; asked at each beat
 */
export async function whileBeating<T>(everyMs: number, work: () => Promise<T>, details?: () => unknown): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(details?.()), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
