import { Injectable } from '@nestjs/common';
import { currentScope, inScope } from '../../database/request-scope';
import type { RunSelection } from '../query/run-selection';
import { Payload, TraceRunRow, TraceRunsRepository } from '../query/trace-runs.repository';
import { traceErrors } from '../trace.errors';
import { SharesService } from './shares.service';

/** Maximum of runs of a shared trace or thread, and of traces of a thread: it is read as a whole. */
const RUN_LIMIT = 10_000;
const TRACE_LIMIT = 1_000;

/** Reads the data of a public link, and no other data of its tenant. */
@Injectable()
export class SharedRunsService {
  constructor(
    private readonly shares: SharesService,
    private readonly runs: TraceRunsRepository,
  ) {}

  /** The runs that a link shows, in the order of their start. @throws {ApiError} 404 */
  async listSharedRuns(
    token: string,
    payloads: readonly Payload[],
    only: { ids?: string[] } = {},
  ): Promise<TraceRunRow[]> {
    const {
      tenant_id: tenantId,
      project_id: projectId,
      run_id: traceId,
      thread_id: threadId,
    } = await this.shares.openShare(token);
    // The route is public; the token determines the tenant.
    return inScope({ ...currentScope(), tenantId }, async () => {
      const read = (selection: RunSelection, limit: number, columns: readonly Payload[]): Promise<TraceRunRow[]> =>
        this.runs.page(tenantId, {
          selection: { projectIds: [projectId], ...selection },
          payloads: columns,
          order: 'asc',
          limit,
        });
      const traceIds =
        traceId === null
          ? (await read({ threadIds: [threadId ?? ''], isRoot: true }, TRACE_LIMIT, [])).map((row) => row.trace_id)
          : [traceId];
      const rows = await read({ traceIds, ...only }, RUN_LIMIT, payloads);
      if (rows.length === 0) throw only.ids ? traceErrors.runNotFound() : traceErrors.shareNotFound();
      return rows;
    });
  }

  /** The root of a shared trace, the first one of a thread. @throws {ApiError} 404 */
  async readRootRun(token: string, payloads: readonly Payload[]): Promise<TraceRunRow> {
    const rows = await this.listSharedRuns(token, payloads);
    return rows.find((row) => row.parent_run_id === null) ?? rows[0];
  }
}
