import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { AppConfig } from '../config/config';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { DeliveriesRepository, DeliveryKey } from './deliveries.repository';

const BATCH = 200;
const AT_ONCE = 10;
const CHECK_AGAIN_MS = 60_000;

/** Starts deliveries that no process started, ends those whose workflow an operator ended, and deletes old ones. */
@Injectable()
@Sweeps(100)
export class DeliverySweep implements Sweep {
  readonly name = 'webhook-deliveries';

  constructor(
    private readonly config: AppConfig,
    private readonly deliveries: DeliveriesRepository,
    private readonly orchestrator: WebhookOrchestrator,
  ) {}

  async sweep(): Promise<void> {
    const due = await this.deliveries.due(BATCH);
    await pLimit(AT_ONCE).map(due, (delivery) => this.ensureWorkflow(delivery));
    await this.deliveries.deleteFinishedBefore(new Date(Date.now() - this.config.webhooks.delivery.retentionMs), BATCH);
  }

  private async ensureWorkflow(delivery: DeliveryKey): Promise<void> {
    const { tenantId, deliveryId } = delivery;
    // Most of these only wait for their turn, so one query is enough for them. The second one is for a workflow that was
    // started between the first and the start.
    const isRunning =
      (await this.orchestrator.isOpen(deliveryId)) ||
      (await this.orchestrator.startDelivery(delivery)) ||
      (await this.orchestrator.isOpen(deliveryId));
    if (isRunning) {
      await this.deliveries.checkAgain(tenantId, deliveryId, new Date(Date.now() + CHECK_AGAIN_MS));
    } else {
      await this.deliveries.endDelivery(tenantId, deliveryId, 'failed', 'Its workflow was ended in Temporal');
    }
  }
}
