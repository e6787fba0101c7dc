import { Injectable } from '@nestjs/common';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { SecretValues } from '../crypto/secret-values';
import type { JsonObject } from '../database/json';
import type { AuthUser } from '../database/request-scope';
import { keepMaskedField } from '../http/masked-fields';
import { checkContext, hasBoth } from '../runnable-config/check-context';
import { maskUrl } from '../webhooks/mask-url';
import { WebhookPolicy } from '../webhooks/webhook-policy';
import { CronEntity } from './cron.entity';
import { cronErrors } from './cron.errors';
import { CronSyntaxError } from './cron-expression';
import { CronSchedule } from './cron-schedule';
import type { CronChange } from './crons.repository';
import type { CreateCron, PatchCron } from './crons.schemas';
import { canonicalZone } from './time-zone';

/** The columns of a cron, as requests define them: checked, and sealed where they hold secrets. */
@Injectable()
export class CronDefinition {
  constructor(
    private readonly webhookPolicy: WebhookPolicy,
    private readonly secrets: SecretBox,
    private readonly secretValues: SecretValues,
  ) {}

  /** @throws {ApiError} 400 for `context` beside `config.configurable`; 422 for a webhook that the policy refuses */
  async checkRun({ config, context, webhook }: PatchCron): Promise<void> {
    checkContext({ config, context });
    if (webhook) await this.webhookPolicy.check(webhook);
  }

  /**
   * The schedule of a new cron, with its first tick after `now`.
   * @throws {ApiError} 422 when it can't be read, or is never due
   */
  scheduleOf({ schedule: expression, timezone = null, end_time: endTime = null }: CreateCron, now: Date) {
    const next = readSchedule(expression, timezone, endTime).next(now);
    if (!next) throw endTime ? cronErrors.overBeforeStart() : cronErrors.neverDue();
    return { schedule: expression, timezone, endTime, next };
  }

  sealUser(tenantId: string, user: AuthUser) {
    return { userId: user.identity, authUser: this.secretValues.seal(tenantId, user) };
  }

  /**
   * Applies the changes of a request to a cron.
   * @param reason why the cron is paused, when the request pauses it
   * @throws {ApiError} 400 for `context` beside a `config.configurable` that the cron has, and the reverse; 409 to resume a cron
   *   whose thread or assistant is gone; 422 for a schedule that can't be read or is never due, and for a masked secret that can't
   *   be identified
   */
  changeOf(cron: CronEntity, body: PatchCron, now: Date, reason?: string) {
    const { tenantId, cronId } = cron;
    const { config, context } = body;
    const known = cron.payload as Pick<PatchCron, 'config' | 'context'>;
    // Not asked for other changes, so that a cron which has both can still be paused.
    const changesValues = config !== undefined || context !== undefined;
    if (changesValues && hasBoth({ config: config ?? known.config, context: context ?? known.context })) {
      throw cronErrors.hasOtherValues();
    }
    const expression = body.schedule ?? cron.schedule;
    const timezone = body.timezone === undefined ? cron.timezone : body.timezone;
    const endTime = body.end_time === undefined ? cron.endTime : body.end_time;
    const schedule = readSchedule(expression, timezone, endTime);
    const isRescheduled = expression !== cron.schedule || timezone !== cron.timezone;
    const isEndMoved = endTime?.getTime() !== cron.endTime?.getTime();
    const next = schedule.next(now);
    if (isRescheduled && !next && !readSchedule(expression, timezone, null).next(now)) throw cronErrors.neverDue();
    // Moving the end of a cron that was stopped by it resumes the cron.
    const isRevived = cron.stoppedBy === 'end_time' && isEndMoved && next !== null;
    const enabled = body.enabled ?? (cron.enabled || isRevived);
    const isResumed = enabled && !cron.enabled;
    if (isResumed && (cron.stoppedBy === 'thread' || cron.stoppedBy === 'assistant')) {
      throw cronErrors.stopped(cron.statusReason ?? cron.stoppedBy);
    }
    if (isResumed && !next) throw cronErrors.overBeforeStart();
    const isPaused = !enabled && body.enabled === false && !cron.stoppedBy;
    const webhook = this.sealWebhook(tenantId, cronId, body.webhook);
    const set: CronChange = {
      schedule: expression,
      timezone,
      endTime,
      payload: { ...cron.payload, ...this.sealPayload(tenantId, keepSecrets(toPayload(body), cron.payload)) },
      enabled,
      nextRunAt: enabled ? next : null,
      ...(body.metadata && { metadata: { ...cron.metadata, ...body.metadata } }),
      ...(webhook !== undefined && { webhook }),
      ...(body.on_run_completed && cron.threadId === null && { onRunCompleted: body.on_run_completed }),
      ...(body.catchup && { catchup: body.catchup }),
      ...(body.overlap && { overlap: body.overlap }),
      ...((isRescheduled || isResumed) && { lastTickAt: now }),
      ...(isResumed && { statusReason: null, stoppedBy: null }),
      ...(isPaused && (cron.enabled || reason !== undefined) && { statusReason: reason ?? null }),
    };
    const isRepaused = isPaused && set.statusReason !== undefined;
    return { set, revised: isRescheduled || isEndMoved || enabled !== cron.enabled || isRepaused };
  }

  sealPayload(tenantId: string, payload: JsonObject): JsonObject {
    const { config, context } = payload;
    return {
      ...payload,
      ...(config !== undefined && { config: this.secretValues.seal(tenantId, config) }),
      ...(context !== undefined && { context: this.secretValues.seal(tenantId, context) }),
    };
  }

  sealWebhook(tenantId: string, cronId: string, url: string | undefined): string | undefined {
    return url === undefined ? undefined : this.secrets.seal(url, SEALED_FIELDS.cronWebhook.context(tenantId, cronId));
  }
}

/** The body as it is kept and shown. */
export function toPayload(body: PatchCron): JsonObject {
  const { webhook, end_time: endTime, ...rest } = body;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      ...(endTime !== undefined && { end_time: endTime }),
      ...(webhook !== undefined && { webhook: maskUrl(webhook) }),
    }),
  ) as JsonObject;
}

/**
 * The payload of a request with the secrets that it masks as they are kept. Only these two fields have secrets:
 * elsewhere, as in the input, `***` is a text.
 */
function keepSecrets(payload: JsonObject, kept: JsonObject): JsonObject {
  const { config, context } = payload;
  return {
    ...payload,
    ...(config !== undefined && { config: keepMaskedField(config, kept.config, 'config') }),
    ...(context !== undefined && { context: keepMaskedField(context, kept.context, 'context') }),
  };
}

/** @throws {ApiError} 422 */
function readSchedule(expression: string, timezone: string | null, endTime: Date | null): CronSchedule {
  if (timezone !== null && !canonicalZone(timezone)) throw cronErrors.badTimezone(timezone);
  try {
    return new CronSchedule(expression, timezone, endTime);
  } catch (error) {
    throw error instanceof CronSyntaxError ? cronErrors.badSchedule(error) : error;
  }
}
