import { Injectable } from '@nestjs/common';
import { ApplicationFailure, cancellationSignal } from '@temporalio/activity';
import { DeliveryExecutor } from '../src/webhooks/delivery-executor';
import {
  AttemptDeliveryInput,
  AttemptDeliveryResult,
  WebhookActivities,
} from '../workflows/contracts/webhook.contract';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 3_000;

@Injectable()
export class WebhookActivityProvider {
  constructor(private readonly attempts: DeliveryExecutor) {}

  activities(): WebhookActivities {
    return {
      attemptDelivery: (input) => this.attemptDelivery(input),
      cancelDelivery: ({ deliveryId }) => this.attempts.cancel(deliveryId),
    };
  }

  private async attemptDelivery({ deliveryId, attempt }: AttemptDeliveryInput): Promise<AttemptDeliveryResult> {
    const signal = cancellationSignal();
    try {
      return await whileBeating(HEARTBEAT_MS, () => this.attempts.attemptDelivery(deliveryId, attempt, signal));
    } catch (error) {
      // A worker that stops hands the attempt to another one; only a request of the workflow is a cancellation.
      if (signal.aborted && signal.reason instanceof Error && signal.reason.message === 'WORKER_SHUTDOWN') {
        throw ApplicationFailure.retryable('The worker was stopped during the attempt', 'WorkerShutdown');
      }
      throw error;
    }
  }
}
