import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { WebhookActivities, WebhookDeliveryInput, WebhookDeliveryResult } from './contracts/webhook.contract';

// An attempt ends by its own clocks within 65 s (60 s is the most that may be configured, and a wait for the host's turn comes
// before it). The heartbeat is what notices a dead worker: the attempt is then made again 10 s later. The activity fails only
// if the database or the worker does, so it is repeated for as long as that takes.
const { attemptDelivery } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

// One conditional update, safe to repeat.
const { cancelDelivery } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * A webhook delivery, from its first attempt to the receiver's 2xx or the end of the schedule.
 *
 * 1. Each attempt is one activity, which also writes the log and the delivery's end: the workflow has nothing to add. 2. The
 * service decides how long to wait: the schedule is configuration, and Retry-After comes from the receiver. 3. A host that is
 * at its limit costs no attempt: the delivery steps aside, so that it holds no worker's slot meanwhile. 4. Cancelled by an
 * operator, it ends as `cancelled`.
 */
export async function webhookDeliveryWorkflow(input: WebhookDeliveryInput): Promise<WebhookDeliveryResult> {
  const { deliveryId } = input;
  let attempt = input.attempt ?? 1;
  try {
    for (;;) {
      const result = await attemptDelivery({ deliveryId, attempt });
      if (result.outcome === 'busy') {
        setCurrentDetails(`Attempt ${attempt} waits for its turn at the host`);
        await sleep(result.retryInMs);
      } else if (result.outcome === 'retry') {
        setCurrentDetails(
          `Attempt ${attempt} failed; the next one comes ${Math.round(result.retryInMs / 1000)} s later`,
        );
        await sleep(result.retryInMs);
        attempt += 1;
      } else {
        return { outcome: result.outcome, attempts: attempt };
      }
      if (workflowInfo().continueAsNewSuggested) {
        return await continueAsNew<typeof webhookDeliveryWorkflow>({ deliveryId, attempt });
      }
    }
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => cancelDelivery({ deliveryId }));
    throw error;
  }
}
