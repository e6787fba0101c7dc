import { Injectable } from '@nestjs/common';
import { currentScope, inScope } from '../../database/request-scope';
import type { RunSelection } from '../query/run-selection';
import { Payload, RunPage, TraceRunRow, TraceRunsRepository } from '../query/trace-runs.repository';
import { traceErrors } from '../trace.errors';
import { SharesService } from './shares.service';

/** Maximum of runs of a shared trace or thread, and of traces of a thread: it is read as a whole. */
const RUN_LIMIT = 10_000;
const TRACE_LIMIT = 1_000;
/** Each run may have tens of megabytes, and people without a key ask for them. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads runs of what a link shows, in the order of their start. */
type ReadShared = (only: RunSelection, limit: number) => Promise<TraceRunRow[]>;

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
    return this.inShare(token, payloads, async (read) => {
      const rows = await read(only, RUN_LIMIT);
      if (rows.length === 0) throw only.ids ? traceErrors.runNotFound() : traceErrors.shareNotFound();
      return rows;
    });
  }

  /** One of the runs, whatever its size. @throws {ApiError} 404 */
  async readSharedRun(token: string, payloads: readonly Payload[], runId: string): Promise<TraceRunRow> {
    return this.inShare(token, payloads, async (read) => {
      const row = (await read({ ids: [runId] }, 1)).at(0);
      if (!row) throw traceErrors.runNotFound();
      return row;
    });
  }

  /** The root of a shared trace, the first one of a thread. @throws {ApiError} 404 */
  async readRootRun(token: string, payloads: readonly Payload[]): Promise<TraceRunRow> {
    return this.inShare(token, payloads, async (read) => {
      // The root may arrive after its children.
      const row = (await read({ isRoot: true }, 1)).at(0) ?? (await read({}, 1)).at(0);
      if (!row) throw traceErrors.shareNotFound();
      return row;
    });
  }

  private async inShare<T>(
    token: string,
    payloads: readonly Payload[],
    use: (read: ReadShared) => Promise<T>,
  ): Promise<T> {
    const {
      tenant_id: tenantId,
      project_id: projectId,
      run_id: traceId,
      thread_id: threadId,
    } = await this.shares.openShare(token);
    // The route is public; the token determines the tenant.
    return inScope({ ...currentScope(), tenantId }, async () => {
      const page = async (
        selection: RunSelection,
        limit: number,
        columns: readonly Payload[],
      ): Promise<TraceRunRow[]> => {
        const asked: RunPage = {
          selection: { projectIds: [projectId], ...selection },
          payloads: columns,
          order: 'asc',
          limit,
        };
        if (limit > 1 && (await this.runs.pageBytes(tenantId, asked)) > MAX_BYTES) {
          throw traceErrors.sharedRunsTooLarge(MAX_BYTES);
        }
        return this.runs.page(tenantId, asked);
      };
      const traceIds =
        traceId === null
          ? (await page({ threadIds: [threadId ?? ''], isRoot: true }, TRACE_LIMIT, [])).map((row) => row.trace_id)
          : [traceId];
      return use((only, limit) => page({ traceIds, ...only }, limit, payloads));
    });
  }
}
