import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AttachmentsService } from '../attachments/attachments.service';
import type { FilterExpression } from '../filter/filter-ast';
import { FilterError } from '../filter/filter-error';
import { parseFilter } from '../filter/filter-parser';
import { SearchBudget } from '../filter/search-budget';
import { instantOf, isInstant } from '../instant';
import { ProjectsService } from '../projects/projects.service';
import { traceErrors } from '../trace.errors';
import { RunSelection } from './run-selection';
import { AttachmentLinks, isV2Field, payloadsFor } from './trace-run.mapper';
import type {
  QueryRuns,
  QueryRunsV2,
  ReadRunV2,
  RunFilter,
  RunStatsQuery,
  TraceRunsV2,
  ValidateQuery,
} from './trace-query.schemas';
import {
  PAYLOADS,
  Payload,
  RunCursor,
  RunPage,
  RunStats,
  TraceRunRow,
  TraceRunsRepository,
} from './trace-runs.repository';

const DAY_MS = 86_400_000;
/** A trace is read whole: enough for any that a person looks at, bounded for those that are not. */
const TRACE_LIMIT = 10_000;

export interface FoundRun {
  row: TraceRunRow;
  attachments: AttachmentLinks;
}

export interface FoundPage {
  runs: FoundRun[];
  next: string | null;
}

/** Reads traced runs. `origin` is the server's address as the client sees it, for links to attachments. */
@Injectable()
export class TraceQueryService {
  constructor(
    private readonly runs: TraceRunsRepository,
    private readonly projects: ProjectsService,
    private readonly attachments: AttachmentsService,
  ) {}

  /** @throws {ApiError} 422 for a filter that can't be read, with the position, and for a query of everything. */
  async query(tenantId: TenantId, body: QueryRuns, origin: string): Promise<FoundPage> {
    const selection = toSelection(body);
    const fields = body.select;
    const page: RunPage = {
      selection,
      payloads: fields ? payloadsFor(fields) : ALL_BUT_METADATA,
      order: body.order,
      limit: body.limit,
      ...(body.cursor !== undefined && { after: readCursor(body.cursor) }),
    };
    return this.page(tenantId, page, origin, !fields || fields.includes('s3_urls'));
  }

  /** @throws {ApiError} 404 */
  async read(tenantId: TenantId, runId: string, origin: string, projectId?: string): Promise<FoundRun> {
    const page: RunPage = {
      selection: { ids: [runId], ...(projectId && { projectIds: [projectId] }) },
      payloads: PAYLOADS,
      order: 'desc',
      limit: 1,
    };
    const { runs } = await this.page(tenantId, page, origin, true);
    if (!runs[0]) throw traceErrors.runNotFound();
    return runs[0];
  }

  async stats(tenantId: TenantId, body: RunStatsQuery): Promise<RunStats> {
    return this.runs.stats(tenantId, toSelection(body));
  }

  async statsByGroup(
    tenantId: TenantId,
    body: RunStatsQuery,
    group: NonNullable<RunStatsQuery['group_by']>,
  ): Promise<(RunStats & { group_key: string })[]> {
    if (group.attribute === 'metadata' && group.path === undefined) {
      throw traceErrors.invalid('group_by.path', 'the metadata key to group by is required');
    }
    return this.runs.statsByGroup(tenantId, toSelection(body), {
      attribute: group.attribute,
      limit: group.max_groups,
      ...(group.path !== undefined && { path: group.path }),
    });
  }

  async queryV2(tenantId: TenantId, body: QueryRunsV2, origin: string): Promise<FoundPage> {
    checkSelects(body.selects);
    const projectIds = await this.projectsOf(tenantId, body);
    const page: RunPage = {
      selection: {
        projectIds,
        from: body.min_start_time ?? instantOf(new Date(Date.now() - DAY_MS)),
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
    return this.page(tenantId, page, origin, body.selects.includes('attachments'));
  }

  /** @throws {ApiError} 404 */
  async readV2(tenantId: TenantId, runId: string, query: ReadRunV2, origin: string): Promise<FoundRun> {
    checkSelects(query.selects ?? []);
    return this.read(tenantId, runId, origin, query.project_id);
  }

  /** All runs of a trace in the order of their start. */
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
    return this.page(tenantId, page, origin, selects.includes('attachments'));
  }

  /** What is wrong with each of the filters; nothing when all can be used. */
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
    return this.runs.deleteTraces(tenantId, projectId, traceIds);
  }

  private async page(tenantId: TenantId, page: RunPage, origin: string, withAttachments: boolean): Promise<FoundPage> {
    // One more than asked tells whether there is a next page.
    const rows = await this.runs.page(tenantId, { ...page, limit: page.limit + 1 });
    const found = rows.slice(0, page.limit);
    const last = found.at(-1);
    const links = withAttachments
      ? await this.attachments.links(
          tenantId,
          found.map((row) => row.run_id),
          origin,
        )
      : new Map<string, AttachmentLinks>();
    return {
      runs: found.map((row) => ({ row, attachments: links.get(row.run_id) ?? [] })),
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

const ALL_BUT_METADATA = PAYLOADS.filter((payload): payload is Exclude<Payload, 'metadata'> => payload !== 'metadata');

function toSelection(body: RunFilter): RunSelection {
  if (body.id) return { ids: body.id };
  if (!body.session && !body.trace && !body.parent_run && !body.reference_example) {
    throw traceErrors.invalid('session', 'name at least one of session, id, trace, parent_run, reference_example');
  }
  const budget = new SearchBudget();
  const filters = readFilters(body, budget);
  const searches = (['query', 'search_filter'] as const).flatMap((field): FilterExpression[] => {
    const text = body[field];
    if (text === undefined) return [];
    refuseAs(field, () => budget.search(text, 0));
    return [{ kind: 'search', text }];
  });
  const conditions = [...(filters.filter ? [filters.filter] : []), ...searches];
  return {
    ...filters,
    ...(body.session && { projectIds: body.session }),
    ...(body.trace && { traceId: body.trace }),
    ...(body.parent_run && { parentRunId: body.parent_run }),
    ...(body.run_type && { runType: body.run_type }),
    ...(body.reference_example && { referenceExampleIds: body.reference_example }),
    ...(body.start_time && { from: body.start_time }),
    ...(body.end_time && { to: body.end_time }),
    ...(body.error !== undefined && { hasError: body.error }),
    ...((body.is_root ?? body.execution_order) !== undefined && { isRoot: body.is_root ?? true }),
    ...(conditions.length > 0 && { filter: { kind: 'and', operands: conditions } }),
  };
}

function readFilters(
  body: ValidateQuery,
  budget = new SearchBudget(),
): Pick<RunSelection, 'filter' | 'traceFilter' | 'treeFilter'> {
  const read = (field: keyof ValidateQuery): FilterExpression | undefined => {
    const text = body[field];
    if (text === undefined || text.trim() === '') return undefined;
    return refuseAs(field, () => parseFilter(text, budget));
  };
  const [filter, traceFilter, treeFilter] = [read('filter'), read('trace_filter'), read('tree_filter')];
  return { ...(filter && { filter }), ...(traceFilter && { traceFilter }), ...(treeFilter && { treeFilter }) };
}

/** @throws {ApiError} 422 that names the field, for what is wrong with a filter in it */
function refuseAs<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FilterError) throw traceErrors.invalid(field, error.message);
    throw error;
  }
}

function checkSelects(selects: string[]): void {
  const unknown = selects.find((name) => !isV2Field(name));
  if (unknown !== undefined) throw traceErrors.invalid('selects', `unknown field ${unknown.toUpperCase()}`);
}

function writeCursor({ startTime, runId }: RunCursor): string {
  return Buffer.from(`${startTime} ${runId}`).toString('base64url');
}

function readCursor(cursor: string): RunCursor {
  const [startTime = '', runId = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  if (!isInstant(startTime) || !/^[0-9a-f-]{36}$/.test(runId)) {
    throw traceErrors.invalid('cursor', 'this is no cursor of a previous page');
  }
  return { startTime, runId };
}
