import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { toApiTime } from '../http/api-time';
import { DeliveriesService } from '../webhooks/deliveries.service';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import type { RunEnding } from './run-ending';
import { RunEntity } from './run.entity';
import { ListensToRuns, type RunListener } from './run-listeners';
import { toRun } from './run.mapper';

/** The webhook of a run: stored sealed, since its URL may contain a token, and enqueued with the run's end. */
@Injectable()
@ListensToRuns(3)
export class RunWebhooks implements RunListener {
  constructor(
    private readonly secrets: SecretBox,
    private readonly deliveries: DeliveriesService,
  ) {}

  seal(tenantId: string, runId: string, url: string): string {
    return this.secrets.seal(url, SEALED_FIELDS.runWebhook.context(tenantId, runId));
  }

  /** The delivery that the run's end asked for, until it has ended. */
  async pendingDelivery({ tenantId, runId, webhook }: RunEntity): Promise<string | undefined> {
    if (!webhook) return undefined;
    const filter = { runId, kind: 'run', status: 'pending' } as const;
    const { items } = await this.deliveries.listDeliveries(tenantId as TenantId, filter, { limit: 1, offset: 0 });
    return items[0]?.deliveryId;
  }

  follows({ webhook }: RunEntity): boolean {
    return Boolean(webhook);
  }

  /** Stores the delivery to the run's webhook. */
  async ended(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<DeliveryReference[]> {
    const { state } = ending;
    const waitsForHuman = state !== undefined && state.next.length > 0 && ending.status === 'success';
    const deliveryId = await this.deliveries.enqueueDelivery(manager, {
      tenantId: run.tenantId as TenantId,
      runId: run.runId,
      threadId: run.threadId,
      ...(run.kwargs.auth_user && { user: run.kwargs.auth_user }),
      url: this.secrets.openOrCarry(run.webhook!, SEALED_FIELDS.runWebhook.context(run.tenantId, run.runId)),
      payload: {
        ...toRun(run),
        status: ending.status === 'deleted' ? 'interrupted' : ending.status,
        run_started_at: run.startedAt && toApiTime(run.startedAt),
        run_ended_at: run.endedAt && toApiTime(run.endedAt),
        values: state && ending.status !== 'deleted' ? (JSON.parse(state.values) as unknown) : null,
        ...(waitsForHuman && { thread_status: 'interrupted', interrupts: JSON.parse(state.interrupts) as unknown }),
        ...(ending.error && { error: ending.error }),
      },
    });
    if (deliveryId === undefined) return [];
    const { tenantId, runId, threadId } = run;
    return [{ deliveryId, tenantId, runId, threadId, startedByWorkflow: true }];
  }
}
