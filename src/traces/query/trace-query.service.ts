import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AttachmentsService } from '../attachments/attachments.service';
import { FilterError } from '../filter/filter-error';
import { parseFilter } from '../filter/filter-parser';
import { instantOf } from '../instant';
import { ProjectsService } from '../projects/projects.service';
import { SharesService } from '../shares/shares.service';
import { traceErrors } from '../trace.errors';
import { TraceDeletionRepository } from '../trace-deletion.repository';
import {
  checkSelects,
  dayAgo,
  readCursor,
  readFilters,
  readRootFilter,
  refuseFeedbackWindow,
  toSelection,
  writeCursor,
} from './query-input';
import { AttachmentLinks, isAggregate, RunLinks, payloadsFor } from './trace-run.mapper';
import type {
  QueryRuns,
  QueryRunsV2,
  QueryTraces,
  ReadRunV2,
  RunStatsQuery,
  TraceRunsV2,
  ValidateQuery,
} from './trace-query.schemas';
import { PAYLOADS, Payload, RunPage, TraceRunRow, TraceRunsRepository } from './trace-runs.repository';
import { RunStats, TraceStatsRepository } from './trace-stats.repository';
import { TraceUsageRepository, Usage } from './trace-usage.repository';

/** Maximum of runs of a trace, which is read as a whole: more than a person looks at. */
const TRACE_LIMIT = 10_000;

export interface FoundRun extends RunLinks {
  row: TraceRunRow;
}

export interface FoundPage {
  runs: FoundRun[];
  next: string | null;
}

export interface FoundTraces {
  /** Root runs; `usage` where a field of it was selected. */
  traces: (FoundRun & { usage: Usage | undefined })[];
  next: string | null;
}

/** Reads traced runs. `origin` is the server's address as the client sees it, for links to attachments. */
@Injectable()
export class TraceQueryService {
  constructor(
    private readonly runs: TraceRunsRepository,
    private readonly projects: ProjectsService,
    private readonly attachments: AttachmentsService,
    private readonly usage: TraceUsageRepository,
    private readonly statistics: TraceStatsRepository,
    private readonly shares: SharesService,
    private readonly deletion: TraceDeletionRepository,
  ) {}

  /** @throws {ApiError} 422 for an invalid filter, with the position, and for a query without conditions */
  async queryRuns(tenantId: TenantId, body: QueryRuns, origin: string): Promise<FoundPage> {
    const selection = toSelection(body);
    const fields = body.select;
    const page: RunPage = {
      selection,
      payloads: fields ? payloadsFor(fields) : ALL_BUT_METADATA,
      order: body.order,
      limit: body.limit,
      ...(body.cursor !== undefined && { after: readCursor(body.cursor) }),
    };
    const links = !fields || fields.includes('s3_urls') ? ['attachments'] : [];
    return this.withSubtreeUsage(tenantId, await this.page(tenantId, page, origin, links));
  }

  /** @throws {ApiError} 404 */
  async readRun(tenantId: TenantId, runId: string, origin: string, projectId?: string): Promise<FoundRun> {
    const page = await this.pageOfRun(tenantId, runId, origin, projectId, ['attachments']);
    return oneOf(await this.withSubtreeUsage(tenantId, page));
  }

  async stats(tenantId: TenantId, body: RunStatsQuery): Promise<RunStats> {
    return this.statistics.stats(tenantId, toSelection(body));
  }

  async statsByGroup(
    tenantId: TenantId,
    body: RunStatsQuery,
    group: NonNullable<RunStatsQuery['group_by']>,
  ): Promise<(RunStats & { group_key: string })[]> {
    if (group.attribute === 'metadata' && group.path === undefined) {
      throw traceErrors.invalid('group_by.path', 'the metadata key to group by is required');
    }
    return this.statistics.statsByGroup(tenantId, toSelection(body), {
      attribute: group.attribute,
      limit: group.max_groups,
      ...(group.path !== undefined && { path: group.path }),
    });
  }

  async queryV2(tenantId: TenantId, body: QueryRunsV2, origin: string): Promise<FoundPage> {
    checkSelects(body.selects);
    refuseFeedbackWindow(body);
    const projectIds = await this.projectsOf(tenantId, body);
    const page: RunPage = {
      selection: {
        projectIds,
        from: body.min_start_time ?? dayAgo(),
        to: body.max_start_time ?? instantOf(new Date()),
        ...(body.ids && { ids: body.ids }),
        ...(body.trace_id && { traceId: body.trace_id }),
        ...(body.is_root !== undefined && { isRoot: body.is_root }),
        ...(body.has_error !== undefined && { hasError: body.has_error }),
        ...(body.run_type && { runType: body.run_type }),
        ...(body.reference_examples && { referenceExampleIds: body.reference_examples }),
        ...readFilters(body),
      },
      payloads: payloadsFor(body.selects),
      order: body.sort_order === 'ASC' ? 'asc' : 'desc',
      limit: body.page_size,
      ...(body.cursor !== undefined && { after: readCursor(body.cursor) }),
    };
    const found = await this.page(tenantId, page, origin, body.selects);
    return body.include_subtree_usage ? this.withSubtreeUsage(tenantId, found) : found;
  }

  /**
   * Traces of a project, newest first: their root runs, with the usage of all their runs if that is selected.
   * @throws {ApiError} 422 for an invalid filter or field
   */
  async queryTraces(tenantId: TenantId, body: QueryTraces, origin: string): Promise<FoundTraces> {
    checkSelects(body.selects);
    refuseFeedbackWindow(body);
    const { trace_filter: filter, tree_filter: tree } = body;
    const page: RunPage = {
      selection: {
        projectIds: [body.project_id],
        isRoot: true,
        from: body.min_start_time ?? dayAgo(),
        before: body.max_start_time ?? instantOf(new Date()),
        ...(body.trace_ids && { ids: body.trace_ids }),
        ...readFilters({ ...(tree !== undefined && { tree_filter: tree }) }),
        ...(filter !== undefined && readRootFilter(filter)),
      },
      payloads: payloadsFor(body.selects),
      order: 'desc',
      limit: body.page_size,
      ...(body.cursor !== undefined && { after: readCursor(body.cursor) }),
    };
    const { runs, next } = await this.page(tenantId, page, origin, body.selects);
    const usage = body.selects.some(isAggregate)
      ? await this.usage.ofTraces(
          tenantId,
          runs.map(({ row }) => row),
        )
      : new Map<string, Usage>();
    return { traces: runs.map((run) => ({ ...run, usage: usage.get(run.row.trace_id) })), next };
  }

  /** @throws {ApiError} 404 */
  async readV2(tenantId: TenantId, runId: string, query: ReadRunV2, origin: string): Promise<FoundRun> {
    checkSelects(query.selects ?? []);
    return oneOf(await this.pageOfRun(tenantId, runId, origin, query.project_id, query.selects ?? []));
  }

  /** All runs of a trace in the order of their start. @throws {ApiError} 413 for very many */
  async traceRuns(tenantId: TenantId, traceId: string, query: TraceRunsV2, origin: string): Promise<FoundPage> {
    const selects = query.selects ?? [];
    checkSelects(selects);
    const page: RunPage = {
      selection: {
        projectIds: [query.project_id],
        traceId,
        ...(query.min_start_time && { from: query.min_start_time }),
        ...(query.max_start_time && { to: query.max_start_time }),
        ...readFilters(query),
      },
      payloads: payloadsFor(selects),
      order: 'asc',
      limit: TRACE_LIMIT,
    };
    const found = await this.page(tenantId, page, origin, selects);
    // The answer has no place for a cursor.
    if (found.next !== null) throw traceErrors.traceTooLong(TRACE_LIMIT);
    return found;
  }

  /** The errors of the filters; none if all are valid. */
  validate(body: ValidateQuery): { field: string; message: string }[] {
    return (['filter', 'trace_filter', 'tree_filter'] as const).flatMap((field) => {
      const text = body[field];
      if (text === undefined) return [];
      try {
        parseFilter(text);
        return [];
      } catch (error) {
        if (error instanceof FilterError) return [{ field, message: error.message }];
        throw error;
      }
    });
  }

  async deleteTraces(tenantId: TenantId, projectId: string, traceIds: string[]): Promise<number> {
    return this.deletion.deleteTraces(tenantId, projectId, traceIds);
  }

  private pageOfRun(
    tenantId: TenantId,
    runId: string,
    origin: string,
    projectId: string | undefined,
    selects: string[],
  ): Promise<FoundPage> {
    const selection = { ids: [runId], ...(projectId && { projectIds: [projectId] }) };
    return this.page(tenantId, { selection, payloads: PAYLOADS, order: 'desc', limit: 1 }, origin, selects);
  }

  /** The same runs, each with the usage of all runs under it as well. */
  private async withSubtreeUsage(tenantId: TenantId, { runs, next }: FoundPage): Promise<FoundPage> {
    const usage = await this.usage.ofSubtrees(
      tenantId,
      runs.map(({ row }) => row),
    );
    return { runs: runs.map(({ row, ...run }) => ({ ...run, row: { ...row, ...usage.get(row.run_id) } })), next };
  }

  /** @param selects of which `attachments` and `share_url` have to be looked up */
  private async page(tenantId: TenantId, page: RunPage, origin: string, selects: string[]): Promise<FoundPage> {
    // One more than requested shows whether there is a next page.
    const rows = await this.runs.page(tenantId, { ...page, limit: page.limit + 1 });
    const found = rows.slice(0, page.limit);
    const last = found.at(-1);
    const attachments = selects.includes('attachments')
      ? await this.attachments.links(
          tenantId,
          found.map((row) => row.run_id),
          origin,
        )
      : new Map<string, AttachmentLinks>();
    const shares = selects.includes('share_url')
      ? await this.shares.ofTraces(tenantId, [...new Set(found.map((row) => row.trace_id))])
      : new Map<string, string>();
    const pageOf = (token: string | undefined): string | null => (token ? `${origin}/public/${token}/r` : null);
    return {
      runs: found.map((row) => ({
        row,
        attachments: attachments.get(row.run_id) ?? [],
        shareUrl: pageOf(shares.get(row.trace_id)),
      })),
      next: last && rows.length > page.limit ? writeCursor({ startTime: last.start_time, runId: last.run_id }) : null,
    };
  }

  private async projectsOf(tenantId: TenantId, body: QueryRunsV2): Promise<string[]> {
    const { project_ids: ids, reference_dataset_id: dataset } = body;
    if ((ids === undefined) === (dataset === undefined)) {
      throw traceErrors.invalid('project_ids', 'give project_ids or reference_dataset_id, one of them');
    }
    return ids ?? (await this.projects.ofDataset(tenantId, dataset ?? ''));
  }
}

/** @throws {ApiError} 404 when the page has no run */
function oneOf({ runs: [run] }: FoundPage): FoundRun {
  if (!run) throw traceErrors.runNotFound();
  return run;
}

const ALL_BUT_METADATA = PAYLOADS.filter((payload): payload is Exclude<Payload, 'metadata'> => payload !== 'metadata');
