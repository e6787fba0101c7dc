import { proxyActivities, sleep } from '@temporalio/workflow';
import { WebhookActivities, WebhookDeliveryInput, WebhookDeliveryResult } from './contracts/webhook.contract';

const { attemptDelivery, giveUpDelivery } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

const DELAYS_MS = [1_000, 5_000, 300_000];

export async function webhookDeliveryWorkflow(input: WebhookDeliveryInput): Promise<WebhookDeliveryResult> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await attemptDelivery({ ...input, attempt });
    if (result.outcome === 'delivered') return { outcome: 'delivered', attempts: attempt };
    const delay = DELAYS_MS[attempt - 1];
    if (result.outcome === 'stop' || delay === undefined) {
      await giveUpDelivery(input);
      return { outcome: 'failed', attempts: attempt };
    }
    await sleep(result.retryAfterMs ?? delay);
  }
}
