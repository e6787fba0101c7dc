import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { TraceRunRow, TraceRunsRepository } from '../query/trace-runs.repository';
import { traceErrors } from '../trace.errors';
import type { ShareRun } from './shares.schemas';
import type { ShareSubject } from './shares.repository';
import { SharesService } from './shares.service';

/** Shares traces and threads, after checking that the tenant has them. */
@Injectable()
export class SharingService {
  constructor(
    private readonly shares: SharesService,
    private readonly runs: TraceRunsRepository,
  ) {}

  /**
   * @param within project and trace of the run according to the client
   * @throws {ApiError} 404 for an unknown run, 422 for another trace than the run's
   */
  async shareRun(tenantId: TenantId, runId: string, within?: ShareRun): Promise<string> {
    const row = await this.find(tenantId, runId, within?.session_id);
    if (within && row.trace_id !== within.trace_id) {
      throw traceErrors.invalid('trace_id', `the run belongs to the trace ${row.trace_id}`);
    }
    return this.shares.share(tenantId, { projectId: row.project_id, runId: row.trace_id });
  }

  async tokenOfRun(tenantId: TenantId, runId: string): Promise<string | undefined> {
    const row = await this.find(tenantId, runId);
    return this.shares.findToken(tenantId, { projectId: row.project_id, runId: row.trace_id });
  }

  async revokeRun(tenantId: TenantId, runId: string): Promise<void> {
    const row = await this.find(tenantId, runId);
    await this.shares.revokeShare(tenantId, { projectId: row.project_id, runId: row.trace_id });
  }

  /** @throws {ApiError} 404 for a thread without traces */
  async shareThread(
    tenantId: TenantId,
    { projectId, threadId }: { projectId: string; threadId: string },
  ): Promise<string> {
    const [turn] = await this.runs.page(tenantId, {
      selection: { projectIds: [projectId], threadIds: [threadId], isRoot: true },
      payloads: [],
      order: 'desc',
      limit: 1,
    });
    if (!turn) throw traceErrors.threadNotFound();
    return this.shares.share(tenantId, { projectId, threadId });
  }

  tokenOf(tenantId: TenantId, subject: ShareSubject): Promise<string | undefined> {
    return this.shares.findToken(tenantId, subject);
  }

  revoke(tenantId: TenantId, subject: ShareSubject): Promise<void> {
    return this.shares.revokeShare(tenantId, subject);
  }

  private async find(tenantId: TenantId, runId: string, projectId?: string): Promise<TraceRunRow> {
    const [row] = await this.runs.page(tenantId, {
      selection: { ids: [runId], ...(projectId !== undefined && { projectIds: [projectId] }) },
      payloads: [],
      order: 'desc',
      limit: 1,
    });
    if (!row) throw traceErrors.runNotFound();
    return row;
  }
}
