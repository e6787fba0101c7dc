import { proxyActivities } from '@temporalio/workflow';
import type { ThreadExpiryActivities, ThreadExpiryInput, ThreadExpiryResult } from './contracts/thread-expiry.contract';

// The heartbeat is what notices a dead worker; ten thousand long threads take as long as they take. The Schedule waits for
// the end of one search before it starts another.
const { expireThreads } = proxyActivities<ThreadExpiryActivities>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes' },
});

/** A search for threads on which nothing has happened for as long as they live; its result says what became of them. */
export async function threadExpiryWorkflow(input: ThreadExpiryInput): Promise<ThreadExpiryResult> {
  return expireThreads(input);
}
