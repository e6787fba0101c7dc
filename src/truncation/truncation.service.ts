import { Injectable } from '@nestjs/common';
import { AssistantRemovalService } from '../assistant-removal/assistant-removal.service';
import { Authorizer } from '../auth/custom/authorizer';
import type { AuthResource } from '../auth/custom/protocol';
import type { TenantId } from '../auth/tenant';
import { RunsService } from '../runs/runs.service';
import { StoreService } from '../store/store.service';
import { truncationErrors } from './truncation.errors';
import { TruncationRepository } from './truncation.repository';
import type { Truncate } from './truncation.schemas';

/** Wipes what a tenant has. When it resolves nothing is left, and nothing that was in flight comes back. */
@Injectable()
export class TruncationService {
  constructor(
    private readonly repository: TruncationRepository,
    private readonly runs: RunsService,
    private readonly assistants: AssistantRemovalService,
    private readonly store: StoreService,
    private readonly authorizer: Authorizer,
  ) {}

  /** @throws {ApiError} 403 for a user whom the custom auth doesn't let delete all of it */
  async truncate(tenantId: TenantId, { runs, threads, assistants, checkpointer, store }: Truncate): Promise<void> {
    if (runs || threads || checkpointer) await this.authorize('threads', {});
    if (assistants) await this.authorize('assistants', {});
    if (store) await this.authorize('store', { namespace: [] });

    if (threads) this.runs.stopWorkers(await this.repository.deleteThreads(tenantId));
    if (runs) this.runs.stopWorkers(await this.repository.deleteRuns(tenantId));
    if (threads || runs) await this.repository.forgetIdempotencyKeys(tenantId);
    if (checkpointer) {
      // A run would continue to write after checkpoints that are gone.
      await this.runs.interruptAll(tenantId);
      await this.repository.deleteStates(tenantId);
    }
    if (assistants) await this.assistants.removeAll(tenantId);
    if (store) await this.store.deleteAllItems(tenantId);
  }

  /** Whom a handler restricts to some of it, be it by a filter or by another namespace, may not wipe it all. */
  private async authorize(resource: AuthResource, requested: { namespace?: string[] }): Promise<void> {
    const { value, filter } = await this.authorizer.authorize(resource, 'delete', requested);
    if (filter || value.namespace?.length) throw truncationErrors.forbidden();
  }
}
