import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { RunsService } from '../runs/runs.service';
import { ThreadsService } from '../threads/threads.service';
import { assistantErrors } from '../assistants/assistant.errors';
import { AssistantsService } from '../assistants/assistants.service';

/** An assistant goes with what hangs on it. */
@Injectable()
export class AssistantRemovalService {
  constructor(
    private readonly assistants: AssistantsService,
    private readonly runs: RunsService,
    private readonly threads: ThreadsService,
  ) {}

  /** The assistant last: a removal that broke off is finished by asking again. */
  async remove(tenantId: TenantId, idOrGraph: string, withThreads: boolean): Promise<void> {
    const { assistantId } = await this.assistants.getRemovable(tenantId, idOrGraph);
    await this.runs.cancelOfAssistant(tenantId, assistantId);
    if (withThreads) await this.threads.deleteOfAssistant(tenantId, assistantId);
    if (!(await this.assistants.deleteAssistant(tenantId, assistantId))) throw assistantErrors.notFound();
  }

  /** Removes every assistant that can be removed; another request may do so at the same time. */
  async removeAll(tenantId: TenantId): Promise<void> {
    for (const assistantId of await this.assistants.removableIds(tenantId)) {
      await this.runs.cancelOfAssistant(tenantId, assistantId);
      await this.assistants.deleteAssistant(tenantId, assistantId);
    }
  }
}
