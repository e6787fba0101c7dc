import { Injectable } from '@nestjs/common';
import { matchesAccess } from '../auth/custom/access-filter';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import type { JsonObject } from '../database/json';
import { toPayload } from './cron-definition';
import { cronErrors } from './cron.errors';
import { CronsRepository } from './crons.repository';
import type { CreateCron, CronFilter, PatchCron } from './crons.schemas';

/** Decisions of the custom auth about crons. */
@Injectable()
export class CronAccess {
  constructor(
    private readonly crons: CronsRepository,
    private readonly authorizer: Authorizer,
  ) {}

  /** The metadata of a new cron, after changes by the custom auth. @throws {ApiError} 403 when it refuses */
  async authorizeCreation(
    cron: CreateCron & { cron_id: string; thread_id: string | undefined },
  ): Promise<{ metadata: JsonObject }> {
    const { cron_id, thread_id, ...body } = cron;
    const requested = { ...toPayload(body), cron_id, thread_id, metadata: body.metadata ?? {} };
    const { value } = await this.authorizer.authorize('crons', 'create', requested);
    return { metadata: value.metadata };
  }

  /**
   * Asks the custom auth about a cron. Resolves to the change as modified by its handler.
   * @throws {ApiError} 403 when it refuses; 404 for an unknown cron, or one that its filter excludes
   */
  async checkAccess(
    tenantId: TenantId,
    cronId: string,
    action: 'read' | 'update' | 'delete',
    body: PatchCron = {},
  ): Promise<{ metadata: JsonObject | undefined }> {
    const requested = { ...toPayload(body), cron_id: cronId, metadata: body.metadata ?? {} };
    const { value, filter } = await this.authorizer.authorize('crons', action, requested);
    if (filter) {
      const cron = await this.crons.findCron(tenantId, cronId);
      if (!cron || !matchesAccess(filter, cron.metadata)) throw cronErrors.notFound();
    }
    const isChanged = Object.keys(value.metadata).length > 0;
    return { metadata: isChanged ? value.metadata : undefined };
  }

  /** The filter as the custom auth leaves it, and its condition on the metadata of crons. */
  async authorizeSearch({ metadata = {}, assistant_id, thread_id, enabled }: CronFilter) {
    const requested = { metadata, assistant_id, thread_id, enabled };
    const { value, filter } = await this.authorizer.authorize('crons', 'search', requested);
    return { asked: value, filter };
  }
}
