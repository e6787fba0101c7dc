import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { CronActivities, CronWorkflowInput, FireCronResult } from './contracts/cron.contract';
import { scheduledStartAttribute } from './contracts/search-attributes';

// Transactions that are safe to repeat: started runs are in the rows. The heartbeat detects a dead worker; a thousand
// backfilled runs take half a minute, on a busy machine a few. Repeated for as long as the database is unavailable: meanwhile
// the Schedule keeps one more wake-up waiting, and the last of the missed ticks is run then.
const { fireCron } = proxyActivities<CronActivities>({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * A tick of a cron: the Schedule starts it with the tick's time, and it starts the cron's due runs.
 *
 * 1. The tick is a wake-up and not the truth: which runs are due is decided from the cron's row, when the activity runs.
 * 2. The runs are workflows of their own. It doesn't wait for their ends.
 */
export async function cronWorkflow({ cronId, tenantId, revision }: CronWorkflowInput): Promise<FireCronResult> {
  const scheduledAt = workflowInfo().typedSearchAttributes.get(scheduledStartAttribute);
  return fireCron({ cronId, tenantId, revision, ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }) });
}
