import { Injectable } from '@nestjs/common';
import { TypedSearchAttributes } from '@temporalio/common';
import { WEBHOOKS_QUEUE } from '../../workflows/contracts/queues';
import { runIdAttribute, tenantIdAttribute, threadIdAttribute } from '../../workflows/contracts/search-attributes';
import { webhookWorkflowId } from '../../workflows/contracts/webhook.contract';
import type { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery.workflow';
import { TemporalClient } from './temporal-client';

export interface DeliveryReference {
  deliveryId: string;
  tenantId: string;
  runId: string | null;
  threadId: string | null;
}

/** Webhook deliveries as workflows: `webhook-<delivery_id>`, ids only. */
@Injectable()
export class WebhookOrchestrator {
  constructor(private readonly temporal: TemporalClient) {}

  /** Starts the delivery's workflow; resolves to false when it was started before. */
  async start({ deliveryId, tenantId, runId, threadId }: DeliveryReference): Promise<boolean> {
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

  /** Whether a workflow is at work on the delivery. */
  isOpen(deliveryId: string): Promise<boolean> {
    return this.temporal.isOpen(webhookWorkflowId(deliveryId));
  }
}
