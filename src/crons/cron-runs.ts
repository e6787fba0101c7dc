import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { SecretBox, UnknownSealingKey } from '../crypto/secret-box';
import { SecretValues } from '../crypto/secret-values';
import { inEncryptionContext } from '../database/at-rest';
import { isJsonObject } from '../database/json';
import { currentScope, inScope } from '../database/request-scope';
import { toApiTime } from '../http/api-time';
import type { RunEntity } from '../runs/run.entity';
import { RunCreationService } from '../runs/run-creation.service';
import { createRunSchema } from '../runs/runs.schemas';
import { CronEntity } from './cron.entity';
import { cronErrors } from './cron.errors';
import { CronFireEntity } from './cron-fire.entity';
import { CronFiresRepository } from './cron-fires.repository';

/** Time from the record of a tick within which a worker without the key leaves it to others: keys are added to one worker after the other. */
const KEY_WAIT_MS = 1_800_000;

/** Creates the runs of ticks. */
@Injectable()
export class CronRuns {
  constructor(
    private readonly fires: CronFiresRepository,
    private readonly runs: RunCreationService,
    private readonly secrets: SecretBox,
    private readonly secretValues: SecretValues,
  ) {}

  /**
   * Creates the run of a tick on behalf of the cron's owner: the custom auth decides about each run, and may have changed its
   * answer. Resolves to null when the tick has its run.
   * @param isAwaited whether a client waits for the run, so that no other worker can create it
   * @throws {UnknownSealingKey} when another worker may have the key of the cron's secrets, so that the tick is repeated
   * @throws {ApiError} whatever refuses a run
   */
  async createRunOfTick(cron: CronEntity, fire: CronFireEntity, isAwaited = false): Promise<RunEntity | null> {
    const { tenantId, authUser, payload } = cron;
    const context = isJsonObject(payload.encryption_context) ? payload.encryption_context : undefined;
    const mayRepeat = !isAwaited && Date.now() - fire.createdAt.getTime() < KEY_WAIT_MS;
    const begin = (): Promise<RunEntity | null> =>
      inEncryptionContext(context, () => this.createRun(cron, fire, mayRepeat));
    if (!authUser) return begin();
    const user = this.opened(mayRepeat, () => this.secretValues.open(tenantId, authUser));
    return inScope({ ...currentScope(), tenantId, user }, begin);
  }

  private createRun(cron: CronEntity, fire: CronFireEntity, mayRepeat: boolean): Promise<RunEntity | null> {
    const { payload, cronId } = cron;
    const tenantId = cron.tenantId as TenantId;
    const body = createRunSchema.parse({
      ...payload,
      assistant_id: cron.assistantId,
      webhook: this.webhookOf(cron, mayRepeat),
      metadata: { ...cron.metadata, ...(payload.metadata as object | undefined) },
      on_completion: cron.onRunCompleted ?? 'delete',
    });
    return this.runs.createCronRun({
      tenantId,
      threadId: cron.threadId ?? undefined,
      body,
      runId: fire.runId,
      cron: { cronId, scheduledAt: toApiTime(fire.scheduledAt) },
      claim: (threadId) => async (manager) =>
        (await this.fires.claimFire(manager, fire, threadId)) ? undefined : fire.runId,
    });
  }

  private webhookOf({ tenantId, cronId, webhook }: CronEntity, mayRepeat: boolean): string | undefined {
    if (webhook === null) return undefined;
    return this.opened(mayRepeat, () =>
      this.secrets.open(webhook, SEALED_FIELDS.cronWebhook.context(tenantId, cronId)),
    );
  }

  /**
   * @throws {UnknownSealingKey} when the tick may be repeated, by a worker that has the key
   * @throws {ApiError} 409 when it can't be opened, which no repetition of the tick would change
   */
  private opened<T>(mayRepeat: boolean, open: () => T): T {
    try {
      return open();
    } catch (error) {
      if (mayRepeat && error instanceof UnknownSealingKey) throw error;
      throw cronErrors.webhookUnreadable();
    }
  }
}
