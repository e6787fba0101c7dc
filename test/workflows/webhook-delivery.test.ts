import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { CancelledFailure, WorkflowFailedError } from '@temporalio/client';
import type {
  AttemptDeliveryInput,
  AttemptDeliveryResult,
  WebhookActivities,
} from '../../workflows/contracts/webhook.contract';
import { WEBHOOKS_QUEUE } from '../../workflows/contracts/queues';
import type { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery.workflow';
import { RetrySchedule } from '../../src/webhooks/retry-schedule';
import { loadConfig } from '../../src/config/config';
import { startTimeSkipping, type TimeSkipping } from '../support/time-skipping';
import { waitFor } from '../support/wait-for';

/** The schedule that a Gantry without settings has. */
const DELAYS = loadConfig({
  DATABASE_URL: 'postgres://localhost/x',
  TEMPORAL_ADDRESS: 'localhost:1',
  GANTRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
}).webhooks.delivery.retryDelaysMs;

describe('webhook delivery workflow', () => {
  let environment: TestWorkflowEnvironment;
  let workflowBundle: WorkflowBundleWithSourceMap;
  let stop: TimeSkipping['stop'] | undefined;

  beforeAll(async () => {
    ({ environment, workflowBundle, stop } = await startTimeSkipping(
      require.resolve('../../workflows/webhook-delivery.workflow'),
    ));
  });

  afterAll(() => stop?.());

  async function withWorker<T>(activities: Partial<WebhookActivities>, work: () => Promise<T>): Promise<T> {
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      taskQueue: WEBHOOKS_QUEUE,
      workflowBundle,
      activities,
    });
    return worker.runUntil(work);
  }

  const start = (deliveryId: string) =>
    environment.client.workflow.start<typeof webhookDeliveryWorkflow>('webhookDeliveryWorkflow', {
      workflowId: `webhook-${deliveryId}`,
      taskQueue: WEBHOOKS_QUEUE,
      args: [{ deliveryId }],
    });

  it('completes the whole schedule of more than a day before it gives up', async () => {
    const schedule = new RetrySchedule(DELAYS, () => 0);
    const attempts: { attempt: number; at: number }[] = [];
    const attemptDelivery = async ({ attempt }: AttemptDeliveryInput): Promise<AttemptDeliveryResult> => {
      attempts.push({ attempt, at: await environment.currentTimeMs() });
      return attempt < schedule.maxAttempts
        ? { outcome: 'retry', retryInMs: schedule.delayAfter(attempt) }
        : { outcome: 'failed' };
    };
    const result = await withWorker({ attemptDelivery }, async () => (await start('day')).result());
    expect(result).toEqual({ outcome: 'failed', attempts: 11 });
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const hours = ((attempts.at(-1)?.at ?? 0) - (attempts[0]?.at ?? 0)) / 3_600_000;
    expect(hours).toBeGreaterThan(25.5);
    expect(hours).toBeLessThan(26.5);
  });

  it('ends with the first success', async () => {
    const attemptDelivery = async ({ attempt }: AttemptDeliveryInput): Promise<AttemptDeliveryResult> =>
      attempt < 3 ? { outcome: 'retry', retryInMs: 36_000_000 } : { outcome: 'delivered' };
    const result = await withWorker({ attemptDelivery }, async () => (await start('success')).result());
    expect(result).toEqual({ outcome: 'delivered', attempts: 3 });
  });

  it('waits while the host is busy, without using up an attempt', async () => {
    const asked: number[] = [];
    const attemptDelivery = async ({ attempt }: AttemptDeliveryInput): Promise<AttemptDeliveryResult> => {
      asked.push(attempt);
      return asked.length <= 12 ? { outcome: 'busy', retryInMs: 300_000 } : { outcome: 'delivered' };
    };
    const result = await withWorker({ attemptDelivery }, async () => (await start('busy')).result());
    expect(result).toEqual({ outcome: 'delivered', attempts: 1 });
    expect(new Set(asked)).toEqual(new Set([1]));
  });

  it('repeats an attempt whose worker or database failed, under the same number', async () => {
    const asked: number[] = [];
    const attemptDelivery = async ({ attempt }: AttemptDeliveryInput): Promise<AttemptDeliveryResult> => {
      asked.push(attempt);
      if (asked.length < 4) throw new Error('The database is away');
      return { outcome: 'delivered' };
    };
    const result = await withWorker({ attemptDelivery }, async () => (await start('database')).result());
    expect(result).toEqual({ outcome: 'delivered', attempts: 1 });
    expect(asked).toEqual([1, 1, 1, 1]);
  });

  it('records the end of a delivery that an operator cancels between two attempts', async () => {
    const cancelled: string[] = [];
    const activities: WebhookActivities = {
      attemptDelivery: async () => ({ outcome: 'retry', retryInMs: 36_000_000 }),
      cancelDelivery: async ({ deliveryId }) => void cancelled.push(deliveryId),
    };
    const end = await withWorker(activities, async () => {
      const handle = await start('cancelled');
      // The server of these tests refuses to cancel an activity that has just ended, and the workflow hangs.
      await waitFor('the time until the second attempt', async () => {
        const { events } = await handle.fetchHistory();
        return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
      });
      await handle.cancel();
      return handle.result().catch((error: unknown) => error);
    });
    expect(end).toBeInstanceOf(WorkflowFailedError);
    expect((end as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    expect(cancelled).toEqual(['cancelled']);
  });
});
