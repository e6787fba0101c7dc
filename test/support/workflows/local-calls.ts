import { proxyLocalActivities } from '@temporalio/workflow';

/** Calls an activity of its own worker locally. */
export async function localCall(activity: string): Promise<string> {
  const local = proxyLocalActivities<Record<string, () => Promise<string>>>({ startToCloseTimeout: '10 seconds' });
  return local[activity]();
}
