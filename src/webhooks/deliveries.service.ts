import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import type { AuthUser } from '../database/request-scope';
import { isCarried, SecretBox } from '../crypto/secret-box';
import { SecretValues } from '../crypto/secret-values';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { AttemptEntity } from './attempt.entity';
import { DeliveryEntity, DeliveryKind } from './delivery.entity';
import { DeliveriesRepository, DeliveryFilter } from './deliveries.repository';
import { maskUrl } from './mask-url';
import { type PushTarget, pushHeaders } from './push-target';
import { RetrySchedule } from './retry-schedule';
import { testPayload } from './test-payload';
import { UNREADABLE_URL } from './unreadable-url';
import { webhookErrors } from './webhook.errors';
import { INTERNAL_HOST, WebhookPolicy } from './webhook-policy';
import { WebhookSettings } from './webhook-settings';

/** Long enough for the workflow to begin on its own, so that the sweep starts only what was not started. */
const SWEEP_AFTER_MS = 5_000;

/** The ended run or export, and the webhook to notify. */
export interface OutgoingWebhook {
  tenantId: TenantId;
  kind?: 'run' | 'export';
  runId: string | null;
  threadId: string | null;
  exportId?: string;
  /** User for whom it is sent; undefined for the tenant. */
  user?: AuthUser;
  /** Undefined where it can't be read any more. The end must not fail because of it; the first attempt reports it. */
  url: string | undefined;
  /** The complete body, except for `webhook_sent_at`. */
  payload: Record<string, unknown>;
}

/** A notification with the format and credentials of its receiver. */
export interface Notification {
  tenantId: TenantId;
  runId: string;
  threadId: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

interface Message {
  kind: DeliveryKind;
  runId: string | null;
  threadId: string | null;
  exportId: string | null;
  url: string;
  headers?: Record<string, string>;
  user?: AuthUser;
  body: string;
  maxAttempts: number;
  /** The delivery that is sent again. */
  replayOf?: DeliveryEntity;
}

/** Creates, lists and resends deliveries. DeliveryExecutor executes their attempts. */
@Injectable()
export class DeliveriesService {
  private readonly logger = new Logger('Webhooks');
  private readonly maxAttempts: number;

  constructor(
    config: AppConfig,
    private readonly settings: WebhookSettings,
    private readonly policy: WebhookPolicy,
    private readonly deliveries: DeliveriesRepository,
    private readonly secrets: SecretBox,
    private readonly secretValues: SecretValues,
    private readonly orchestrator: WebhookOrchestrator,
    @InjectDataSource() private readonly database: DataSource,
  ) {
    this.maxAttempts = new RetrySchedule(config.webhooks.delivery.retryDelaysMs).maxAttempts;
  }

  /**
   * Inserts the delivery of a run's or an export's end inside the caller's transaction. The caller then starts its workflow;
   * when that is lost, the sweep does it. Never refuses a URL, since an end must not fail because of it; the first attempt
   * reports it.
   * @returns the delivery's id, or undefined when webhooks are turned off.
   */
  async enqueueDelivery(manager: EntityManager, webhook: OutgoingWebhook): Promise<string | undefined> {
    const { tenantId, kind = 'run', runId, threadId, exportId = null, user, url = UNREADABLE_URL } = webhook;
    if (this.settings.config.disabled) {
      this.logger.log({ run_id: runId, export_id: exportId }, 'Webhook skipped: http.disable_webhooks is set');
      return undefined;
    }
    const body = this.bodyOf({ ...webhook.payload, webhook_sent_at: new Date().toISOString() });
    const { maxAttempts } = this;
    const message: Message = { kind, runId, threadId, exportId, url, body, maxAttempts, ...(user && { user }) };
    return this.insert(tenantId, manager, message);
  }

  /**
   * Inserts a notification inside the caller's transaction, like a run's webhook; its body is sent as it is, and its headers
   * win over the configured ones.
   * @returns the delivery's id, or undefined when webhooks are turned off.
   */
  async enqueueNotification(manager: EntityManager, notification: Notification): Promise<string | undefined> {
    if (this.settings.config.disabled) return undefined;
    const { tenantId, ...message } = notification;
    return this.insert(tenantId, manager, { kind: 'a2a', exportId: null, ...message, maxAttempts: this.maxAttempts });
  }

  async listDeliveries(tenantId: TenantId, filter: DeliveryFilter, page: { limit: number; offset: number }) {
    return this.deliveries.listDeliveries(tenantId, filter, page);
  }

  /** @throws {ApiError} 404 */
  async getDelivery(
    tenantId: TenantId,
    deliveryId: string,
  ): Promise<{ delivery: DeliveryEntity; attempts: AttemptEntity[] }> {
    const delivery = await this.find(tenantId, deliveryId);
    return { delivery, attempts: await this.deliveries.attemptsOf(tenantId, deliveryId) };
  }

  /**
   * Sends the same message again, as a delivery of its own: same bytes, same webhook-id, so a receiver that has it may
   * drop the repeat, and one that lost it gets it.
   * @throws {ApiError} 404; 409 when webhooks are turned off; 422 when the URL breaks a rule by now.
   */
  async redeliver(tenantId: TenantId, deliveryId: string): Promise<DeliveryEntity> {
    const original = await this.find(tenantId, deliveryId);
    const target = openTarget(this.secrets, original);
    const { payload: body, sealedHeaders, authUser } = await this.deliveries.messageOf(tenantId, deliveryId);
    const user = authUser ?? undefined;
    const headers = { ...openHeaders(this.secrets, sealedHeaders, tenantId, deliveryId), ...target.headers };
    const { url } = target;
    const { kind, runId, threadId, exportId } = original;
    const maxAttempts = kind === 'test' ? original.maxAttempts : this.maxAttempts;
    const message = { kind, runId, threadId, exportId, url, headers, body, maxAttempts, replayOf: original };
    return this.send(tenantId, { ...message, ...(user && { user }) }, 'webhook');
  }

  /**
   * Sends a sample to a URL, once and without retries.
   * @throws {ApiError} 409 when webhooks are turned off; 422 when the URL breaks a rule.
   */
  async sendTest(tenantId: TenantId, url: string): Promise<DeliveryEntity> {
    const body = this.bodyOf(testPayload(maskUrl(url), new Date()));
    return this.send(
      tenantId,
      { kind: 'test', runId: null, threadId: null, exportId: null, url, body, maxAttempts: 1 },
      'url',
    );
  }

  private async send(tenantId: TenantId, message: Message, field: string): Promise<DeliveryEntity> {
    if (this.settings.config.disabled) throw webhookErrors.disabled();
    await this.policy.check(message.url, field);
    const deliveryId = await this.insert(tenantId, this.database.manager, message);
    const { runId, threadId } = message;
    await this.orchestrator.startStored([{ tenantId, deliveryId, runId, threadId }]);
    return this.find(tenantId, deliveryId);
  }

  private async insert(tenantId: TenantId, manager: EntityManager, message: Message): Promise<string> {
    const deliveryId = uuidv7();
    const now = Date.now();
    const isUnopened = isCarried(message.url);
    const shownUrl = isUnopened ? UNREADABLE_URL : message.url;
    await this.deliveries.insertDelivery(tenantId, manager, {
      deliveryId,
      webhookId: message.replayOf?.webhookId ?? `msg_${deliveryId.replaceAll('-', '')}`,
      kind: message.kind,
      runId: message.runId,
      threadId: message.threadId,
      exportId: message.exportId,
      replayOf: message.replayOf?.deliveryId ?? null,
      maskedUrl: maskUrl(shownUrl),
      sealedUrl: this.secrets.seal(message.url, SEALED_FIELDS.deliveryUrl.context(tenantId, deliveryId)),
      sealedHeaders:
        message.headers && Object.keys(message.headers).length > 0
          ? this.secrets.seal(
              JSON.stringify(message.headers),
              SEALED_FIELDS.deliveryHeaders.context(tenantId, deliveryId),
            )
          : null,
      // Only an internal call is made on behalf of a user. A URL that couldn't be opened here may be one.
      authUser:
        message.user && (isUnopened || message.url.startsWith('/'))
          ? this.secretValues.seal(tenantId, message.user)
          : null,
      host: hostLabel(shownUrl),
      payload: message.body,
      payloadBytes: Buffer.byteLength(message.body),
      payloadSha256: createHash('sha256').update(message.body).digest('hex'),
      maxAttempts: message.maxAttempts,
      nextAttemptAt: new Date(now),
      checkAfter: new Date(now + SWEEP_AFTER_MS),
    });
    return deliveryId;
  }

  private bodyOf(payload: Record<string, unknown>): string {
    const { allowedFields } = this.settings.config;
    if (allowedFields.length === 0) return JSON.stringify(payload);
    return JSON.stringify(Object.fromEntries(Object.entries(payload).filter(([name]) => allowedFields.includes(name))));
  }

  private async find(tenantId: TenantId, deliveryId: string): Promise<DeliveryEntity> {
    const delivery = await this.deliveries.findDelivery(tenantId, deliveryId);
    if (!delivery) throw webhookErrors.unknownDelivery(deliveryId);
    return delivery;
  }
}

/**
 * Receiver of a delivery. Where the process that stored the delivery lacked the key, it is still sealed: a URL, or that of a
 * notification with its credentials.
 * @throws as `SecretBox.open`
 */
export function openTarget(
  secrets: SecretBox,
  { tenantId, deliveryId, sealedUrl }: DeliveryEntity,
): { url: string; headers: Record<string, string> } {
  const stored = secrets.open(sealedUrl, SEALED_FIELDS.deliveryUrl.context(tenantId, deliveryId));
  const opened = secrets.openCarried(stored);
  if (!isCarried(stored) || !opened.startsWith('{')) return { url: opened, headers: {} };
  const target = JSON.parse(opened) as PushTarget;
  return { url: target.url, headers: pushHeaders(target) };
}

/** @throws {Error} if they were sealed with another key */
export function openHeaders(
  secrets: SecretBox,
  sealed: string | null,
  tenantId: string,
  deliveryId: string,
): Record<string, string> {
  if (sealed === null) return {};
  return JSON.parse(secrets.open(sealed, SEALED_FIELDS.deliveryHeaders.context(tenantId, deliveryId))) as Record<
    string,
    string
  >;
}

/** Also for a URL that the policy now refuses, since its delivery must be listed under some host. */
function hostLabel(url: string): string {
  if (url.startsWith('/')) return INTERNAL_HOST;
  return URL.canParse(url) ? new URL(url).host : 'invalid';
}
