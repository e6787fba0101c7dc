import { Injectable } from '@nestjs/common';
import { ApplicationFailure, cancellationSignal } from '@temporalio/activity';
import { DeliveryExecutor } from '../src/webhooks/delivery-executor';
import { WEBHOOKS_QUEUE } from '../workflows/contracts/queues';
import {
  AttemptDeliveryInput,
  AttemptDeliveryResult,
  WebhookActivities,
} from '../workflows/contracts/webhook.contract';
import { Activities, type ActivityProvider } from './activities';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 3_000;

@Injectable()
@Activities([WEBHOOKS_QUEUE])
export class WebhookActivityProvider implements ActivityProvider {
  constructor(private readonly executor: DeliveryExecutor) {}

  activities(): WebhookActivities {
    return {
      attemptDelivery: (input) => this.attemptDelivery(input),
      cancelDelivery: ({ deliveryId }) => this.executor.cancel(deliveryId),
    };
  }

  private async attemptDelivery({ deliveryId, attempt }: AttemptDeliveryInput): Promise<AttemptDeliveryResult> {
    const signal = cancellationSignal();
    try {
      return await whileBeating(HEARTBEAT_MS, () => this.executor.attemptDelivery(deliveryId, attempt, signal));
    } catch (error) {
      // A worker that stops hands the attempt to another one; only a request of the workflow is a cancellation.
      if (signal.aborted && signal.reason instanceof Error && signal.reason.message === 'WORKER_SHUTDOWN') {
        throw ApplicationFailure.retryable('The worker was stopped during the attempt', 'WorkerShutdown');
      }
      throw error;
    }
  }
}
