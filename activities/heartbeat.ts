import { Context } from '@temporalio/activity';

/**
 * Runs work while heartbeats show Temporal, independently of the work, that the process is alive.
 * @param everyMs a third of the workflow's heartbeat timeout at the most: one may be late
 * @param details read at each heartbeat, shown in Temporal UI, and passed to the next attempt
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
