import { Injectable, Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { AttemptDeliveryResult } from '../../workflows/contracts/webhook.contract';
import { issueCallToken } from '../auth/call-token';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import type { AuthUser } from '../database/request-scope';
import { SecretBox, UnknownSealingKey } from '../crypto/secret-box';
import { SecretValues } from '../crypto/secret-values';
import { ApiError } from '../http/api-error';
import { AttemptOutcome } from './attempt.entity';
import { DeliveryEntity, DeliveryStatus } from './delivery.entity';
import { DeliveriesRepository } from './deliveries.repository';
import { openHeaders, openTarget } from './deliveries.service';
import { HostGate } from './host-gate';
import { RetrySchedule } from './retry-schedule';
import { UNREADABLE_URL } from './unreadable-url';
import { Destination, WebhookPolicy } from './webhook-policy';
import { SendResult, WebhookSender } from './webhook-sender';
import { WebhookSettings } from './webhook-settings';
import { WebhookMetrics } from './webhook.metrics';

const MASK = '***';
/** Time after which the sweep checks that the workflow is running: longer than the longest attempt and its retry. */
const CHECK_AFTER_MS = 300_000;
/** A failure within this time delays no other attempt, so the host counts as alive. */
const QUICK_MS = 2_000;
/** Outcomes that a retry can't change. */
const FINAL: readonly AttemptOutcome[] = ['gone', 'blocked_address', 'refused_url', 'disabled'];
const UNDECRYPTABLE = 'The stored URL cannot be decrypted';
const LOST = 'The worker was lost before the answer was recorded: the receiver may have got this attempt';

interface Opened {
  attemptId: string;
  attempt: number;
  headers: Record<string, string>;
  body: string;
  /** User for whom an internal call is made, with sealed secrets. */
  authUser: AuthUser | null;
}

/** Executes one attempt of a delivery: the wait for the host's turn, the POST, the log, and the next step. */
@Injectable()
export class DeliveryExecutor {
  private readonly logger = new Logger('Webhooks');
  private readonly gate: HostGate;
  private readonly schedule: RetrySchedule;

  constructor(
    private readonly config: AppConfig,
    private readonly settings: WebhookSettings,
    private readonly policy: WebhookPolicy,
    private readonly sender: WebhookSender,
    private readonly deliveries: DeliveriesRepository,
    private readonly secrets: SecretBox,
    private readonly secretValues: SecretValues,
    private readonly metrics: WebhookMetrics,
  ) {
    this.gate = new HostGate(config.webhooks.delivery.concurrencyPerHost);
    this.schedule = new RetrySchedule(config.webhooks.delivery.retryDelaysMs);
  }

  /**
   * Makes attempt number `attempt`. It isn't repeated if its answer is recorded; if that got lost with a worker, it is, with
   * the same webhook-id. Rejects when `signal` is aborted, and when the database is unavailable.
   */
  async attemptDelivery(deliveryId: string, attempt: number, signal: AbortSignal): Promise<AttemptDeliveryResult> {
    const delivery = await this.deliveries.findDeliveryOfAnyTenant(deliveryId);
    if (!delivery) return { outcome: 'missing' };
    if (delivery.status !== 'pending') return { outcome: delivery.status };
    const tenantId = delivery.tenantId as TenantId;
    if (await this.deliveries.finishedAttempt(tenantId, deliveryId, attempt)) return next(delivery);
    const turn = await this.gate.enter(`${tenantId} ${delivery.host}`);
    if ('comeBackInMs' in turn) {
      const { comeBackInMs: retryInMs } = turn;
      await this.deliveries.checkAgain(tenantId, deliveryId, new Date(Date.now() + retryInMs + CHECK_AFTER_MS));
      return { outcome: 'busy', retryInMs };
    }
    let answered = true;
    try {
      const result = await this.make(delivery, attempt, signal);
      answered = result.responseCode !== null || result.durationMs < QUICK_MS;
      return result.next;
    } finally {
      turn.leave(answered);
    }
  }

  /** Ends a delivery that an operator cancelled. */
  async cancel(deliveryId: string): Promise<void> {
    const delivery = await this.deliveries.findDeliveryOfAnyTenant(deliveryId);
    if (!delivery) return;
    await this.deliveries.endDelivery(
      delivery.tenantId as TenantId,
      deliveryId,
      'cancelled',
      'Cancelled by an operator',
    );
  }

  private async make(
    delivery: DeliveryEntity,
    attempt: number,
    signal: AbortSignal,
  ): Promise<SendResult & { next: AttemptDeliveryResult }> {
    const tenantId = delivery.tenantId as TenantId;
    const opened = await this.open(tenantId, delivery, attempt);
    const result = await this.post(tenantId, delivery, opened, signal);
    return { ...result, next: await this.conclude(tenantId, delivery, opened, result) };
  }

  private async open(tenantId: TenantId, delivery: DeliveryEntity, attempt: number): Promise<Opened> {
    const { deliveryId } = delivery;
    const { config, signer } = this.settings;
    const { payload: body, sealedHeaders, authUser } = await this.deliveries.messageOf(tenantId, deliveryId);
    const special = this.headersOf(tenantId, deliveryId, sealedHeaders);
    const now = new Date();
    const own = { 'content-type': 'application/json', 'user-agent': `Gantry/${this.config.version}` };
    const signed = signer.headers(delivery.webhookId, now, body);
    const attemptId = uuidv7();
    await this.deliveries.beginAttempt(
      tenantId,
      {
        attemptId,
        deliveryId,
        attempt,
        plannedAt: delivery.nextAttemptAt ?? delivery.createdAt,
        startedAt: now,
        requestHeaders: merge(own, masked(config.headers), masked(special), signed),
        signedWith: signer.keyIds,
      },
      LOST,
      new Date(now.getTime() + CHECK_AFTER_MS),
    );
    return { attemptId, attempt, body, authUser, headers: merge(own, config.headers, special, signed) };
  }

  /** Headers sealed with a lost key are left out; the URL has the same key, which fails the attempt. */
  private headersOf(tenantId: TenantId, deliveryId: string, sealed: string | null): Record<string, string> {
    try {
      return openHeaders(this.secrets, sealed, tenantId, deliveryId);
    } catch {
      return {};
    }
  }

  private async post(
    tenantId: TenantId,
    delivery: DeliveryEntity,
    opened: Opened,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const refused = (outcome: AttemptOutcome, error: string): SendResult => ({
      outcome,
      error,
      durationMs: 0,
      responseCode: null,
      responseExcerpt: null,
    });
    if (this.settings.config.disabled) return refused('disabled', 'Webhooks are turned off by http.disable_webhooks');
    let target: ReturnType<typeof openTarget>;
    let user: AuthUser | null;
    try {
      target = openTarget(this.secrets, delivery);
      user = opened.authUser && this.secretValues.open(tenantId, opened.authUser);
    } catch (error) {
      // Another worker may have the key, or this one after its restart.
      if (error instanceof UnknownSealingKey) return { ...refused('refused_url', error.message), mayChange: true };
      return refused('refused_url', UNDECRYPTABLE);
    }
    if (target.url === UNREADABLE_URL) return refused('refused_url', UNDECRYPTABLE);
    let destination: Destination;
    try {
      destination = this.policy.parse(target.url);
    } catch (error) {
      // The rules may have changed since the run was created.
      return refused('refused_url', error instanceof ApiError ? error.detail : String(error));
    }
    const rights = destination.kind === 'internal' ? this.rightsOf(tenantId, user) : {};
    return this.sender.send(destination, merge(opened.headers, target.headers, rights), opened.body, signal);
  }

  /** An internal call is made on behalf of the tenant or its user, and passes the same guard as their other calls. */
  private rightsOf(tenantId: TenantId, user: AuthUser | null): Record<string, string> {
    if (!this.config.auth.isEnabled && !user) return { 'x-tenant-id': tenantId };
    const token = issueCallToken(this.config.secrets.key, tenantId, new Date(), user ?? undefined);
    return { 'x-tenant-id': tenantId, 'x-api-key': token };
  }

  private async conclude(
    tenantId: TenantId,
    delivery: DeliveryEntity,
    { attemptId, attempt }: Opened,
    result: SendResult,
  ): Promise<AttemptDeliveryResult> {
    const { deliveryId } = delivery;
    const { outcome, durationMs, responseCode, responseExcerpt, error } = result;
    const isLast = attempt >= delivery.maxAttempts || (FINAL.includes(outcome) && !result.mayChange);
    const status = statusAfter(outcome, isLast);
    const delayMs = status === 'pending' ? this.schedule.delayAfter(attempt, result.retryAfterMs) : 0;
    const nextAttemptAt = status === 'pending' ? new Date(Date.now() + delayMs) : null;
    const checkAfter = new Date(Date.now() + delayMs + CHECK_AFTER_MS);
    const decides = await this.deliveries.conclude(
      tenantId,
      { attemptId, deliveryId, outcome, durationMs, responseCode, responseExcerpt, error, nextAttemptAt },
      status,
      checkAfter,
    );
    const reached = decides ? status : 'pending';
    this.metrics.attempted(outcome, durationMs, reached);
    this.logger[reached === 'failed' ? 'warn' : 'log'](
      {
        delivery_id: deliveryId,
        run_id: delivery.runId,
        host: delivery.host,
        attempt,
        outcome,
        response_code: responseCode,
        ms: durationMs,
        status: reached,
      },
      'Webhook attempt',
    );
    return status === 'pending' ? { outcome: 'retry', retryInMs: delayMs } : { outcome: status };
  }
}

function statusAfter(outcome: AttemptOutcome, isLast: boolean): DeliveryStatus {
  if (outcome === 'delivered') return 'delivered';
  return isLast ? 'failed' : 'pending';
}

/** Answer of a repeated activity for an attempt that is in the log already. */
function next({ nextAttemptAt }: DeliveryEntity): AttemptDeliveryResult {
  return { outcome: 'retry', retryInMs: Math.max(0, (nextAttemptAt?.getTime() ?? 0) - Date.now()) };
}

function masked(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
}

/** Later ones override earlier ones, ignoring case. */
function merge(...all: Readonly<Record<string, string>>[]): Record<string, string> {
  return Object.fromEntries(
    all.flatMap((headers) => Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  );
}
