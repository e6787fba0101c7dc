import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { DeliveriesService } from '../webhooks/deliveries.service';
import { toBulkExport } from './api/export.mapper';
import type { ExportRow } from './export-row';

/** The webhook of an export: stored sealed, and enqueued in the transaction that ends the export. */
@Injectable()
export class ExportWebhooks {
  constructor(
    private readonly secrets: SecretBox,
    private readonly deliveries: DeliveriesService,
    private readonly orchestrator: WebhookOrchestrator,
  ) {}

  seal(tenantId: TenantId, exportId: string, url: string): string {
    return this.secrets.seal(url, SEALED_FIELDS.exportWebhook.context(tenantId, exportId));
  }

  /**
   * Stores the delivery of an export's end; windows use the webhook of their schedule.
   * @returns its id for `dispatch`, or undefined if the export has no webhook
   */
  async enqueue(manager: EntityManager, row: ExportRow): Promise<string | undefined> {
    if (!row.webhook) return undefined;
    const owner = row.webhook.exportId;
    return this.deliveries.enqueueDelivery(manager, {
      tenantId: row.tenantId as TenantId,
      kind: 'export',
      runId: null,
      threadId: null,
      exportId: row.exportId,
      url: this.secrets.openOrCarry(row.webhook.sealed, SEALED_FIELDS.exportWebhook.context(row.tenantId, owner)),
      payload: { event: 'bulk_export.ended', ...toBulkExport(row) },
    });
  }

  /** Starts a delivery once its transaction has committed; when that fails, the sweep does it. */
  async dispatch(tenantId: TenantId, deliveryId: string | undefined): Promise<void> {
    if (deliveryId === undefined) return;
    await this.orchestrator.startStored([{ tenantId, deliveryId, runId: null, threadId: null }]);
  }
}
