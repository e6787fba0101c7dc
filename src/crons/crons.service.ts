import { Injectable, Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { AssistantsService } from '../assistants/assistants.service';
import type { TenantId } from '../auth/tenant';
import { encryptionContext } from '../database/at-rest';
import { currentScope } from '../database/request-scope';
import { GraphRegistry } from '../graphs/graph-registry';
import type { Page } from '../http/pagination';
import { isUuid } from '../http/uuid';
import { ThreadsService } from '../threads/threads.service';
import { CronAccess } from './cron-access';
import { CronDefinition, toPayload } from './cron-definition';
import { CronEntity } from './cron.entity';
import { cronErrors } from './cron.errors';
import { CronFiresRepository, type FireWithRun } from './cron-fires.repository';
import { CronSchedulesService } from './cron-schedules.service';
import { CronsRepository } from './crons.repository';
import type { CreateCron, CronFilter, PatchCron, SearchCrons } from './crons.schemas';

export interface CronWithLast {
  cron: CronEntity;
  last: FireWithRun | undefined;
}

/** Operations on crons for their owners. The row is the intent: the Schedule that wakes it follows, whichever process dies. */
@Injectable()
export class CronsService {
  private readonly logger = new Logger(CronsService.name);

  constructor(
    private readonly crons: CronsRepository,
    private readonly fires: CronFiresRepository,
    private readonly schedules: CronSchedulesService,
    private readonly assistants: AssistantsService,
    private readonly threads: ThreadsService,
    private readonly registry: GraphRegistry,
    private readonly definition: CronDefinition,
    private readonly access: CronAccess,
  ) {}

  /**
   * @param threadId the thread that every run is on; undefined gives each a thread of its own
   * @throws {ApiError} 404 for an unknown thread or assistant; 422 for a schedule that can't be read (with the position) or
   * never comes, for an unknown time zone, for a webhook that the policy refuses and for a thread of the other language
   */
  async createCron(tenantId: TenantId, body: CreateCron, threadId?: string): Promise<CronWithLast> {
    const { assistantId, graphId } = await this.assistants.getForRun(tenantId, body.assistant_id);
    if (threadId !== undefined) {
      await this.threads.getThread(tenantId, threadId);
      await this.threads.checkLanguage(tenantId, threadId, graphId);
    }
    await this.definition.checkRun(body);
    const { enabled = true } = body;
    const now = await this.crons.now();
    const { next, ...scheduled } = this.definition.scheduleOf(body, now);
    const cronId = uuidv7();
    const { metadata } = await this.access.authorizeCreation({ ...body, cron_id: cronId, thread_id: threadId });
    const user = currentScope()?.user;
    const encryption = await encryptionContext();
    await this.crons.insertCron(tenantId, {
      cronId,
      assistantId,
      threadId: threadId ?? null,
      ...(user && this.definition.sealUser(tenantId, user)),
      ...scheduled,
      payload: {
        ...this.definition.sealPayload(tenantId, toPayload(body)),
        assistant_id: assistantId,
        cron_id: cronId,
        ...(encryption && { encryption_context: encryption }),
      },
      metadata,
      webhook: this.definition.sealWebhook(tenantId, cronId, body.webhook) ?? null,
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
  async getCron(tenantId: TenantId, cronId: string): Promise<CronWithLast> {
    await this.access.checkAccess(tenantId, cronId, 'read');
    const { cron } = await this.read(tenantId, cronId);
    await this.schedules.adopt(cron, new Date()).catch((error: unknown) => {
      this.logger.warn({ err: error, cron_id: cronId }, "The cron's Schedule could not be read");
    });
    return this.read(tenantId, cronId);
  }

  async searchCrons(tenantId: TenantId, search: SearchCrons): Promise<Page<CronWithLast>> {
    const { asked, filter } = await this.access.authorizeSearch(search);
    const { items, total } = await this.crons.searchCrons(
      tenantId,
      { ...search, ...asked },
      this.assistantOf(search),
      filter,
    );
    const lastIds = items.flatMap(({ lastFireId }) => lastFireId ?? []);
    const lasts = new Map((await this.fires.findByIds(tenantId, lastIds)).map((fire) => [fire.cronId, fire]));
    return { items: items.map((cron) => ({ cron, last: lasts.get(cron.cronId) })), total };
  }

  async countCrons(tenantId: TenantId, search: CronFilter): Promise<number> {
    const { asked, filter } = await this.access.authorizeSearch(search);
    return this.crons.countCrons(tenantId, { ...search, ...asked }, this.assistantOf(search), filter);
  }

  /**
   * Changes the given fields. Ticks missed before a new schedule or a resumption don't run.
   * @param reason why it is paused, when this pauses it
   * @throws {ApiError} 400 for an empty body, 404, 409 to resume a cron whose thread or assistant is gone, 422 as in `createCron`
   */
  async patchCron(tenantId: TenantId, cronId: string, body: PatchCron, reason?: string): Promise<CronWithLast> {
    if (Object.values(body).every((value) => value === undefined)) throw cronErrors.emptyPatch();
    const { metadata } = await this.access.checkAccess(tenantId, cronId, 'update', body);
    await this.definition.checkRun(body);
    const now = await this.crons.now();
    const allowed = { ...body, ...(metadata && { metadata }) };
    const changed = await this.crons.changeCron(tenantId, cronId, (cron) =>
      this.definition.changeOf(cron, allowed, now, reason),
    );
    if (!changed) throw cronErrors.notFound();
    await this.schedules.trySync({ tenantId, cronId });
    return this.read(tenantId, cronId);
  }

  /** Deletes a cron: from now on its ticks create no runs. Existing runs stay. */
  async deleteCron(tenantId: TenantId, cronId: string): Promise<void> {
    await this.access.checkAccess(tenantId, cronId, 'delete');
    if (!(await this.crons.markDeleted(tenantId, cronId))) throw cronErrors.notFound();
    await this.schedules.trySync({ tenantId, cronId });
  }

  private async read(tenantId: TenantId, cronId: string): Promise<CronWithLast> {
    const cron = await this.crons.findCron(tenantId, cronId);
    if (!cron) throw cronErrors.notFound();
    const [last] = cron.lastFireId ? await this.fires.findByIds(tenantId, [cron.lastFireId]) : [];
    return { cron, last };
  }

  /** The assistant that a filter names, by its id or by its graph. */
  private assistantOf({ assistant_id: name }: CronFilter): string | undefined {
    if (name === undefined || isUuid(name)) return name?.toLowerCase();
    if (!this.registry.has(name)) throw cronErrors.badAssistant(name);
    return this.registry.systemAssistantId(name);
  }
}
