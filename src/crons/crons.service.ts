import { Injectable, Logger } from '@nestjs/common';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { AssistantsService } from '../assistants/assistants.service';
import { matchesAccess } from '../auth/custom/access-filter';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { keepMasked, SecretValues } from '../crypto/secret-values';
import type { JsonObject } from '../database/json';
import { currentScope } from '../database/request-scope';
import { checkContext } from '../runnable-config/check-context';
import { GraphRegistry } from '../graphs/graph-registry';
import type { Page } from '../http/pagination';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { CronOrchestrator } from '../temporal/cron-orchestrator';
import { ThreadsService } from '../threads/threads.service';
import { maskUrl } from '../webhooks/mask-url';
import { WebhookPolicy } from '../webhooks/webhook-policy';
import { CronEntity } from './cron.entity';
import { cronErrors } from './cron.errors';
import { CronSyntaxError } from './cron-expression';
import { CronFiresRepository, type FireWithRun } from './cron-fires.repository';
import { CronFiringService } from './cron-firing.service';
import { CronSchedule } from './cron-schedule';
import { CronSchedulesService } from './cron-schedules.service';
import { type CronChange, CronsRepository } from './crons.repository';
import type { Backfill, CreateCron, CronFilter, CronRunsQuery, PatchCron, SearchCrons } from './crons.schemas';

/** The most ticks of one backfill: each is a run. */
const MAX_BACKFILL = 1_000;
/** `Area/Place` or an abbreviation. Offsets such as +02:00 are no zones to Temporal. */
const ZONE_NAME = /^[A-Za-z]+[A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

export interface CronWithLast {
  cron: CronEntity;
  last: FireWithRun | undefined;
}

export interface BackfillResult {
  ticks: number;
  alreadyFired: number;
  fires: FireWithRun[];
}

/** Crons as their owners see them. The row is the intent: the Schedule that wakes it follows, whichever process dies. */
@Injectable()
export class CronsService {
  private readonly logger = new Logger(CronsService.name);

  constructor(
    private readonly crons: CronsRepository,
    private readonly fires: CronFiresRepository,
    private readonly firing: CronFiringService,
    private readonly schedules: CronSchedulesService,
    private readonly orchestrator: CronOrchestrator,
    private readonly assistants: AssistantsService,
    private readonly threads: ThreadsService,
    private readonly registry: GraphRegistry,
    private readonly webhookPolicy: WebhookPolicy,
    private readonly secrets: SecretBox,
    private readonly authorizer: Authorizer,
    private readonly secretValues: SecretValues,
  ) {}

  /**
   * @param threadId the thread that every run is on; undefined gives each a thread of its own
   * @throws {ApiError} 404 for an unknown thread or assistant; 422 for a schedule that can't be read (with the position) or
   * never comes, for an unknown time zone and for a webhook that the policy refuses
   */
  async create(tenantId: TenantId, body: CreateCron, threadId?: string): Promise<CronWithLast> {
    const { assistantId } = await this.assistants.getForRun(tenantId, body.assistant_id);
    if (threadId !== undefined) await this.threads.get(tenantId, threadId);
    await this.checkRun(body);
    const { timezone = null, end_time: endTime = null, enabled = true } = body;
    const schedule = readSchedule(body.schedule, timezone, endTime);
    const now = await this.crons.now();
    const next = schedule.next(now);
    if (!next) throw endTime ? cronErrors.overBeforeStart() : cronErrors.neverDue();
    const cronId = uuidv7();
    const wish = { ...toPayload(body), cron_id: cronId, thread_id: threadId, metadata: body.metadata ?? {} };
    const { value } = await this.authorizer.authorize('crons', 'create', wish);
    const user = currentScope()?.user;
    await this.crons.insert(tenantId, {
      cronId,
      assistantId,
      threadId: threadId ?? null,
      ...(user && { userId: user.identity, authUser: this.secretValues.seal(tenantId, user) }),
      schedule: body.schedule,
      timezone,
      endTime,
      payload: { ...this.sealPayload(tenantId, toPayload(body)), assistant_id: assistantId, cron_id: cronId },
      metadata: value.metadata,
      webhook: this.seal(tenantId, cronId, body.webhook) ?? null,
      onRunCompleted: threadId === undefined ? (body.on_run_completed ?? 'delete') : null,
      catchup: body.catchup ?? 'latest',
      overlap: body.overlap ?? 'allow',
      enabled,
      nextRunAt: enabled ? next : null,
      lastTickAt: now,
    });
    await this.schedules.trySync({ tenantId, cronId });
    return this.read(tenantId, cronId);
  }

  /** The cron as it is now: a pause that was made in Temporal is seen here at once. */
  async get(tenantId: TenantId, cronId: string): Promise<CronWithLast> {
    await this.checkAccess(tenantId, cronId, 'read');
    const { cron } = await this.read(tenantId, cronId);
    await this.schedules.adopt(cron, new Date()).catch((error: unknown) => {
      this.logger.warn({ err: error, cron_id: cronId }, "The cron's Schedule could not be looked at");
    });
    return this.read(tenantId, cronId);
  }

  async search(tenantId: TenantId, search: SearchCrons): Promise<Page<CronWithLast>> {
    const { asked, filter } = await this.authorizeSearch(search);
    const { items, total } = await this.crons.search(
      tenantId,
      { ...search, ...asked },
      this.assistantOf(search),
      filter,
    );
    const lastIds = items.flatMap(({ lastFireId }) => lastFireId ?? []);
    const lasts = new Map((await this.fires.findByIds(tenantId, lastIds)).map((fire) => [fire.cronId, fire]));
    return { items: items.map((cron) => ({ cron, last: lasts.get(cron.cronId) })), total };
  }

  async count(tenantId: TenantId, search: CronFilter): Promise<number> {
    const { asked, filter } = await this.authorizeSearch(search);
    return this.crons.count(tenantId, { ...search, ...asked }, this.assistantOf(search), filter);
  }

  /**
   * Changes what is named. Ticks that were missed before a new schedule or a resumption are not made up for.
   * @param reason why it is paused, when this pauses it
   * @throws {ApiError} 400 for an empty body, 404, 409 to resume a cron whose thread or assistant is gone, 422 as in `create`
   */
  async patch(tenantId: TenantId, cronId: string, body: PatchCron, reason?: string): Promise<CronWithLast> {
    if (Object.values(body).every((value) => value === undefined)) throw cronErrors.emptyPatch();
    const { metadata } = await this.checkAccess(tenantId, cronId, 'update', body);
    await this.checkRun(body);
    const now = await this.crons.now();
    const allowed = { ...body, ...(metadata && { metadata }) };
    const changed = await this.crons.change(tenantId, cronId, (cron) => this.changeOf(cron, allowed, now, reason));
    if (!changed) throw cronErrors.notFound();
    await this.schedules.trySync({ tenantId, cronId });
    return this.read(tenantId, cronId);
  }

  /** No tick of it becomes a run from here on. Runs that were made stay. */
  async delete(tenantId: TenantId, cronId: string): Promise<void> {
    await this.checkAccess(tenantId, cronId, 'delete');
    if (!(await this.crons.markDeleted(tenantId, cronId))) throw cronErrors.notFound();
    await this.schedules.trySync({ tenantId, cronId });
  }

  /** One run now, beside the schedule and also while it is paused. */
  async trigger(tenantId: TenantId, cronId: string): Promise<FireWithRun> {
    await this.checkAccess(tenantId, cronId, 'update');
    const { fireId } = await this.firing.trigger(tenantId, cronId);
    const [fire] = await this.fires.findByIds(tenantId, [fireId]);
    return fire;
  }

  /**
   * Makes up for every tick of a range, oldest first, whatever the cron's rules for missed and overlapping ticks say. A tick
   * that was dealt with before is left alone.
   * @throws {ApiError} 404; 409 when its thread or assistant is gone; 422 for a range in the future or with too many ticks
   */
  async backfill(tenantId: TenantId, cronId: string, { start, end }: Backfill): Promise<BackfillResult> {
    await this.checkAccess(tenantId, cronId, 'update');
    if (end < start) throw cronErrors.backfillOrder();
    if (end > (await this.crons.now())) throw cronErrors.backfillAhead();
    const placed = await this.crons.locked(tenantId, cronId, async (cron, manager) => {
      if (cron.stoppedBy === 'thread' || cron.stoppedBy === 'assistant') {
        throw cronErrors.stopped(cron.statusReason ?? cron.stoppedBy);
      }
      const schedule = new CronSchedule(cron.schedule, cron.timezone, cron.endTime);
      const ticks = schedule.between(new Date(start.getTime() - 1), end, MAX_BACKFILL + 1);
      if (ticks.length > MAX_BACKFILL) throw cronErrors.backfillTooLarge(MAX_BACKFILL);
      const tick = { trigger: 'backfill', status: 'pending' } as const;
      const fireIds = await this.fires.insert(
        manager,
        cron,
        ticks.map((scheduledAt) => ({ ...tick, scheduledAt })),
      );
      return { cron, ticks: ticks.length, fireIds };
    });
    if (!placed) throw cronErrors.notFound();
    const { cron, ticks, fireIds } = placed;
    if (fireIds.length > 0) {
      await startOrLeaveToSweep('Backfill', { cron_id: cronId }, () => this.orchestrator.wake(cron, fireIds[0]));
    }
    const fires = await this.fires.findByIds(tenantId, fireIds);
    return { ticks, alreadyFired: ticks - fires.length, fires };
  }

  /** What the cron did and didn't do, newest first. */
  async runs(tenantId: TenantId, cronId: string, page: CronRunsQuery): Promise<Page<FireWithRun>> {
    await this.checkAccess(tenantId, cronId, 'read');
    await this.read(tenantId, cronId);
    return this.fires.list(tenantId, cronId, page);
  }

  /**
   * Asks the custom auth about a cron. Resolves to what its handler made of the change.
   * @throws {ApiError} 403 when it says no; 404 for a cron that its filter excludes, or that isn't there
   */
  private async checkAccess(
    tenantId: TenantId,
    cronId: string,
    action: 'read' | 'update' | 'delete',
    body: PatchCron = {},
  ): Promise<{ metadata: JsonObject | undefined }> {
    const wish = { ...toPayload(body), cron_id: cronId, metadata: body.metadata ?? {} };
    const { value, filter } = await this.authorizer.authorize('crons', action, wish);
    if (filter) {
      const { cron } = await this.read(tenantId, cronId);
      if (!matchesAccess(filter, cron.metadata)) throw cronErrors.notFound();
    }
    const isChanged = Object.keys(value.metadata).length > 0;
    return { metadata: isChanged ? value.metadata : undefined };
  }

  private async authorizeSearch({ metadata = {}, assistant_id, thread_id, enabled }: CronFilter) {
    const wish = { metadata, assistant_id, thread_id, enabled };
    const { value, filter } = await this.authorizer.authorize('crons', 'search', wish);
    return { asked: value, filter };
  }

  private async read(tenantId: TenantId, cronId: string): Promise<CronWithLast> {
    const cron = await this.crons.find(tenantId, cronId);
    if (!cron) throw cronErrors.notFound();
    const [last] = cron.lastFireId ? await this.fires.findByIds(tenantId, [cron.lastFireId]) : [];
    return { cron, last };
  }

  private changeOf(cron: CronEntity, body: PatchCron, now: Date, reason?: string) {
    const { tenantId, cronId } = cron;
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
    const webhook = this.seal(tenantId, cronId, body.webhook);
    const set: CronChange = {
      schedule: expression,
      timezone,
      endTime,
      payload: { ...cron.payload, ...this.sealPayload(tenantId, keepMasked(toPayload(body), cron.payload)) },
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

  private sealPayload(tenantId: string, payload: JsonObject): JsonObject {
    const { config, context } = payload;
    return {
      ...payload,
      ...(config !== undefined && { config: this.secretValues.seal(tenantId, config) }),
      ...(context !== undefined && { context: this.secretValues.seal(tenantId, context) }),
    };
  }

  private async checkRun({ config, context, webhook }: PatchCron): Promise<void> {
    checkContext({ config, context });
    if (webhook) await this.webhookPolicy.check(webhook);
  }

  private seal(tenantId: string, cronId: string, url: string | undefined): string | undefined {
    return url === undefined ? undefined : this.secrets.seal(url, SEALED_FIELDS.cronWebhook.context(tenantId, cronId));
  }

  /** The assistant that a filter names, by its id or by its graph. */
  private assistantOf({ assistant_id: name }: CronFilter): string | undefined {
    if (name === undefined || isUuid(name)) return name;
    if (!this.registry.has(name)) throw cronErrors.badAssistant(name);
    return this.registry.systemAssistantId(name);
  }
}

/** The body as it is kept and shown. */
function toPayload(body: PatchCron): JsonObject {
  const { webhook, end_time: endTime, ...rest } = body;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      ...(endTime !== undefined && { end_time: endTime }),
      ...(webhook !== undefined && { webhook: maskUrl(webhook) }),
    }),
  ) as JsonObject;
}

/** @throws {ApiError} 422 */
function readSchedule(expression: string, timezone: string | null, endTime: Date | null): CronSchedule {
  if (timezone !== null && !isZone(timezone)) throw cronErrors.badTimezone(timezone);
  try {
    return new CronSchedule(expression, timezone, endTime);
  } catch (error) {
    throw error instanceof CronSyntaxError ? cronErrors.badSchedule(error) : error;
  }
}

function isZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    // The platform's way to say that there is no such zone.
    return false;
  }
}
