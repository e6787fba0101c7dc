import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { Instant, instantOf, isInstant } from '../instant';
import { dayAgo, readCursor, readFilters, readRootFilter, writeCursor } from '../query/query-input';
import type { RunSelection } from '../query/run-selection';
import { payloadsFor } from '../query/trace-run.mapper';
import { TraceRunsRepository } from '../query/trace-runs.repository';
import { TraceUsageRepository } from '../query/trace-usage.repository';
import { traceErrors } from '../trace.errors';
import type { FoundStats, FoundStatsSeries, FoundThread, FoundTurn } from './found-threads';
import { isStatField, isThreadsStatField, isTurnField } from './trace-thread.mapper';
import type {
  GroupRuns,
  QueryThreads,
  Stride,
  ThreadsStatsQuery,
  ThreadStatsQuery,
  ThreadTracesQuery,
} from './trace-threads.schemas';
import {
  type Grouping,
  ThreadCursor,
  ThreadPage,
  ThreadRow,
  ThreadSelection,
  TraceThreadsRepository,
} from './trace-threads.repository';

interface Filters {
  filter?: string | undefined;
  trace_filter?: string | undefined;
  tree_filter?: string | undefined;
  thread_filter?: string | undefined;
}

const UNIT_SECONDS: Record<Stride['unit'], number> = { SECOND: 1, MINUTE: 60, HOUR: 3_600, DAY: 86_400 };
const MAX_SLOTS = 10_000;

/** Conversation threads of a tracing project: their turns, sums and feedback. */
@Injectable()
export class TraceThreadsService {
  constructor(
    private readonly threads: TraceThreadsRepository,
    private readonly runs: TraceRunsRepository,
    private readonly usage: TraceUsageRepository,
  ) {}

  /** @throws {ApiError} 422 for an invalid filter, and for one on whole threads */
  async query(tenantId: TenantId, body: QueryThreads): Promise<{ threads: FoundThread[]; next: string | null }> {
    const { page_size: size, cursor } = body;
    const selection = selectThreads(body, body);
    // One more than requested shows whether there is a next page.
    const page: ThreadPage = { limit: size + 1, ...(cursor !== undefined && { after: readThreadCursor(cursor) }) };
    const rows = await this.threads.page(tenantId, selection, page);
    const found = rows.slice(0, size);
    const last = found.at(-1);
    return {
      threads: await this.complete(tenantId, selection.turns, found),
      next:
        last && rows.length > size
          ? writeThreadCursor({ lastStartTime: last.last_start_time, threadId: last.thread_id })
          : null,
    };
  }

  /** The same in the form of the first version, which counts pages. */
  async group(tenantId: TenantId, body: GroupRuns): Promise<{ threads: FoundThread[]; total: number }> {
    const selection = selectThreads(
      {
        project_id: body.session_id,
        ...(body.start_time && { min_start_time: body.start_time }),
        ...(body.end_time && { max_start_time: body.end_time }),
      },
      { filter: body.filter ?? undefined },
    );
    const rows = await this.threads.page(tenantId, selection, { limit: body.limit, offset: body.offset });
    return {
      threads: await this.complete(tenantId, selection.turns, rows),
      total: await this.threads.countThreads(tenantId, selection),
    };
  }

  /** @throws {ApiError} 422 */
  async statsOfAll(tenantId: TenantId, body: ThreadsStatsQuery): Promise<FoundStats> {
    checkFields('select', body.select, isThreadsStatField);
    return this.together(tenantId, selectThreads(body, body), body.select);
  }

  /**
   * Statistics by the time slot in which the newest turn of a thread began, without the slots that have no thread.
   * Slots are counted from 1970-01-01T00:00Z, so that days begin at midnight UTC.
   * @throws {ApiError} 422, also for a stride that divides the window into more than 10,000 slots
   */
  async statsOverTime(tenantId: TenantId, body: ThreadsStatsQuery, stride: Stride): Promise<FoundStatsSeries> {
    checkFields('select', body.select, isThreadsStatField);
    const selection = selectThreads(body, body);
    const slotSeconds = stride.value * UNIT_SECONDS[stride.unit];
    checkSlots(selection.turns, slotSeconds);
    return this.stats(tenantId, selection, body.select, { slotSeconds });
  }

  /** All of a thread's turns, whenever they were. @throws {ApiError} 422 */
  async statsOfOne(tenantId: TenantId, threadId: string, query: ThreadStatsQuery): Promise<FoundStats> {
    checkFields('selects', query.selects, isStatField);
    const turns = {
      projectIds: [query.session_id],
      threadIds: [threadId],
      isRoot: true,
      ...readRootFilter(query.filter ?? '', 'filter'),
    };
    return this.together(tenantId, { turns }, query.selects);
  }

  /** The turns of a thread, the oldest first. @throws {ApiError} 422 */
  async traces(
    tenantId: TenantId,
    threadId: string,
    query: ThreadTracesQuery,
  ): Promise<{ turns: FoundTurn[]; next: string | null }> {
    const selects = query.selects ?? [];
    checkFields('selects', selects, isTurnField);
    const selection: RunSelection = {
      projectIds: [query.project_id],
      threadIds: [threadId],
      isRoot: true,
      ...rootConditions(query),
    };
    const rows = await this.runs.page(tenantId, {
      selection,
      payloads: payloadsFor(selects),
      order: 'asc',
      limit: query.page_size + 1,
      ...(query.cursor !== undefined && { after: readCursor(query.cursor) }),
    });
    const found = rows.slice(0, query.page_size);
    const last = found.at(-1);
    const usage = await this.usage.ofTraces(tenantId, found);
    const numbers = selects.includes('turn_number')
      ? await this.threads.turnNumbers(tenantId, query.project_id, threadId)
      : new Map<string, number>();
    return {
      turns: found.map((row) => ({
        row,
        usage: usage.get(row.trace_id),
        turnNumber: numbers.get(row.trace_id),
      })),
      next:
        last && rows.length > query.page_size ? writeCursor({ startTime: last.start_time, runId: last.run_id }) : null,
    };
  }

  private async together(tenantId: TenantId, selection: ThreadSelection, fields: string[]): Promise<FoundStats> {
    return (await this.stats(tenantId, selection, fields, 'all')).get('')!;
  }

  private async stats(
    tenantId: TenantId,
    selection: ThreadSelection,
    fields: string[],
    grouping: Grouping,
  ): Promise<FoundStatsSeries> {
    const [stats, details, feedback] = await Promise.all([
      this.threads.stats(tenantId, selection, grouping),
      fields.some((name) => name.endsWith('_details'))
        ? this.threads.details(tenantId, selection, grouping)
        : undefined,
      fields.some((name) => name.endsWith('feedback_stats'))
        ? this.threads.feedback(tenantId, selection, grouping)
        : undefined,
    ]);
    return new Map(
      [...stats].map(([key, sums]) => [
        key,
        { stats: sums, details: details?.get(key) ?? {}, feedback: feedback?.get(key) ?? {} },
      ]),
    );
  }

  private async complete(tenantId: TenantId, turns: RunSelection, rows: ThreadRow[]): Promise<FoundThread[]> {
    if (rows.length === 0) return [];
    const selection = { turns: { ...turns, threadIds: rows.map((row) => row.thread_id) } };
    const ids = rows.flatMap((row) => [row.first_trace_id, row.last_trace_id, row.failed_trace_id ?? []].flat());
    const [previews, details, feedback] = await Promise.all([
      this.threads.previews(tenantId, { ...turns, ids: [...new Set(ids)] }),
      this.threads.details(tenantId, selection, 'thread'),
      this.threads.feedback(tenantId, selection, 'thread'),
    ]);
    return rows.map((row) => ({
      row,
      first: previews.get(row.first_trace_id),
      last: previews.get(row.last_trace_id),
      failed: row.failed_trace_id === null ? undefined : previews.get(row.failed_trace_id),
      details: details.get(row.thread_id) ?? {},
      feedback: feedback.get(row.thread_id) ?? {},
    }));
  }
}

/** Threads with a turn in the window; with filters only those that contain a trace which meets all of them. */
function selectThreads(
  window: { project_id: string; min_start_time?: Instant; max_start_time?: Instant },
  filters: Filters,
): ThreadSelection {
  if (filters.thread_filter !== undefined) {
    throw traceErrors.unsupported('thread_filter', 'filter threads by their traces, with trace_filter or tree_filter');
  }
  const turns: RunSelection = {
    projectIds: [window.project_id],
    isRoot: true,
    isInThread: true,
    from: window.min_start_time ?? dayAgo(),
    before: window.max_start_time ?? instantOf(new Date()),
  };
  const conditions = rootConditions(filters);
  return { turns, ...(Object.keys(conditions).length > 0 && { containing: { ...turns, ...conditions } }) };
}

/** Filters on a root run and on its tree, as conditions on the root run. */
function rootConditions(filters: Filters): Pick<RunSelection, 'filter' | 'treeFilter'> {
  const onRoot = (['filter', 'trace_filter'] as const).flatMap((field) => {
    const { filter } = readRootFilter(filters[field] ?? '', field);
    return filter ? [filter] : [];
  });
  const { treeFilter } = readFilters({ tree_filter: filters.tree_filter });
  return {
    ...(onRoot.length > 0 && { filter: { kind: 'and', operands: onRoot } }),
    ...(treeFilter && { treeFilter }),
  };
}

function checkFields(path: string, names: string[], isKnown: (name: string) => boolean): void {
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw traceErrors.invalid(path, `unknown field ${unknown.toUpperCase()}`);
}

function checkSlots({ from, before }: RunSelection, slotSeconds: number): void {
  const slots = Math.ceil((Date.parse(before!) - Date.parse(from!)) / 1000 / slotSeconds);
  if (slots > MAX_SLOTS) {
    throw traceErrors.invalid('stride', `divides the window into ${slots} buckets; at most ${MAX_SLOTS} are possible`);
  }
}

function writeThreadCursor({ lastStartTime, threadId }: ThreadCursor): string {
  return Buffer.from(`${lastStartTime} ${threadId}`).toString('base64url');
}

function readThreadCursor(cursor: string): ThreadCursor {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [lastStartTime = ''] = text.split(' ', 1);
  if (!isInstant(lastStartTime)) throw traceErrors.invalid('cursor', 'this is not a cursor of a previous page');
  return { lastStartTime, threadId: text.slice(lastStartTime.length + 1) };
}
