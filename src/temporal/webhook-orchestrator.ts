import { Injectable } from '@nestjs/common';
import { TypedSearchAttributes } from '@temporalio/common';
import { WEBHOOKS_QUEUE } from '../../workflows/contracts/queues';
import { runIdAttribute, tenantIdAttribute, threadIdAttribute } from '../../workflows/contracts/search-attributes';
import { webhookWorkflowId } from '../../workflows/contracts/webhook.contract';
import type { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery.workflow';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { TemporalClient } from './temporal-client';

export interface DeliveryReference {
  deliveryId: string;
  tenantId: string;
  runId: string | null;
  threadId: string | null;
  /** Whether the run's workflow starts it as its child when it learns of the run's end. */
  startedByWorkflow?: boolean;
}

/** Webhook deliveries as workflows: `webhook-<delivery_id>`, ids only. */
@Injectable()
export class WebhookOrchestrator {
  constructor(private readonly temporal: TemporalClient) {}

  /** Starts the delivery's workflow; resolves to false when it was started before. */
  async startDelivery({ deliveryId, tenantId, runId, threadId }: DeliveryReference): Promise<boolean> {
    return this.temporal.startOnce<typeof webhookDeliveryWorkflow>('webhookDeliveryWorkflow', {
      workflowId: webhookWorkflowId(deliveryId),
      taskQueue: WEBHOOKS_QUEUE,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [{ deliveryId }],
      typedSearchAttributes: new TypedSearchAttributes([
        { key: tenantIdAttribute, value: tenantId },
        ...(runId ? [{ key: runIdAttribute, value: runId }] : []),
        ...(threadId ? [{ key: threadIdAttribute, value: threadId }] : []),
      ]),
    });
  }

  /** Starts what a committed transaction stored. Never rejects: the sweep starts what can't be started now. */
  async startStored(deliveries: DeliveryReference[]): Promise<void> {
    await Promise.all(
      deliveries.map((delivery) =>
        startOrLeaveToSweep('Delivery', { delivery_id: delivery.deliveryId }, () => this.startDelivery(delivery)),
      ),
    );
  }

  /** Whether a workflow is running for the delivery. */
  isOpen(deliveryId: string): Promise<boolean> {
    return this.temporal.isOpen(webhookWorkflowId(deliveryId));
  }
}
