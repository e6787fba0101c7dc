import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { currentScope, inScope } from '../../database/request-scope';
import type { RunSelection } from '../query/run-selection';
import { Payload, RunPage, TraceRunRow, TraceRunsRepository } from '../query/trace-runs.repository';
import { traceErrors } from '../trace.errors';
import { SharesService } from './shares.service';

/** Maximum of runs of a shared trace or thread, and of traces of a thread: it is read as a whole. */
const RUN_LIMIT = 10_000;
/** Each run may have tens of megabytes, and people without a key ask for them. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads the data of a public link, and no other data of its tenant. */
@Injectable()
export class SharedRunsService {
  constructor(
    private readonly shares: SharesService,
    private readonly runs: TraceRunsRepository,
  ) {}

  /** The runs that a link shows, in the order of their start. @throws {ApiError} 404, or 413 for very large ones */
  async listSharedRuns(
    token: string,
    payloads: readonly Payload[],
    only: { ids?: string[] } = {},
  ): Promise<TraceRunRow[]> {
    return this.inShare(token, async (tenantId, shared) => {
      const rows = await this.all(tenantId, await this.runsOf(tenantId, shared, only.ids), payloads);
      if (rows.length === 0) throw only.ids ? traceErrors.runNotFound() : traceErrors.shareNotFound();
      return rows;
    });
  }

  /** One of the runs, whatever its size. @throws {ApiError} 404 */
  async readSharedRun(token: string, payloads: readonly Payload[], runId: string): Promise<TraceRunRow> {
    return this.inShare(token, async (tenantId, shared) => {
      const selection = await this.runsOf(tenantId, shared, [runId]);
      const [row] = await this.runs.page(tenantId, pageOf(selection, payloads, 1));
      if (!row) throw traceErrors.runNotFound();
      return row;
    });
  }

  /** The root of a shared trace, the first one of a thread. @throws {ApiError} 404 */
  async readRootRun(token: string, payloads: readonly Payload[]): Promise<TraceRunRow> {
    return this.inShare(token, async (tenantId, shared) => {
      // The root of a trace may arrive after its children. A thread consists of the traces whose roots are there.
      for (const only of shared.threadIds ? [{ isRoot: true }] : [{ isRoot: true }, {}]) {
        const [row] = await this.runs.page(tenantId, pageOf({ ...shared, ...only }, payloads, 1));
        if (row) return row;
      }
      throw traceErrors.shareNotFound();
    });
  }

  /**
   * Selects the runs that a link shows, or those of them that have one of the ids. The traces of a thread are looked
   * up: all of them, or those that the runs with the ids are in.
   * @throws {ApiError} 413 for a thread with more traces than can be read as a whole
   */
  private async runsOf(tenantId: TenantId, shared: RunSelection, ids?: string[]): Promise<RunSelection> {
    const { projectIds, threadIds } = shared;
    if (!threadIds) return { ...shared, ...(ids && { ids }) };
    const around = ids && { traceIds: await this.runs.traceIds(tenantId, { projectIds, ids }, ids.length) };
    const traceIds = await this.runs.traceIds(tenantId, { ...shared, ...around, isRoot: true }, RUN_LIMIT + 1);
    if (traceIds.length > RUN_LIMIT) throw traceErrors.tooManySharedRuns(RUN_LIMIT);
    return { projectIds, traceIds, ...(ids && { ids }) };
  }

  /** @throws {ApiError} 413 for more than can be read as a whole */
  private async all(tenantId: TenantId, selection: RunSelection, payloads: readonly Payload[]): Promise<TraceRunRow[]> {
    const page = pageOf(selection, payloads, RUN_LIMIT + 1);
    if ((await this.runs.pageBytes(tenantId, page)) > MAX_BYTES) throw traceErrors.sharedRunsTooLarge(MAX_BYTES);
    const rows = await this.runs.page(tenantId, page);
    if (rows.length > RUN_LIMIT) throw traceErrors.tooManySharedRuns(RUN_LIMIT);
    return rows;
  }

  /** @param use gets the trace or the thread of the link; the route is public, and the token determines the tenant */
  private async inShare<T>(token: string, use: (tenantId: TenantId, shared: RunSelection) => Promise<T>): Promise<T> {
    const {
      tenant_id: tenantId,
      project_id: projectId,
      run_id: traceId,
      thread_id: threadId,
    } = await this.shares.openShare(token);
    const subject = traceId === null ? { threadIds: [threadId ?? ''] } : { traceIds: [traceId] };
    return inScope({ ...currentScope(), tenantId }, () => use(tenantId, { projectIds: [projectId], ...subject }));
  }
}

function pageOf(selection: RunSelection, payloads: readonly Payload[], limit: number): RunPage {
  return { selection, payloads, order: 'asc', limit };
}
