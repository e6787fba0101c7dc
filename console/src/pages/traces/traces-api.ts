import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../../api/client';
import { getJson, getPage, sendJson } from '../../api/json';

const PAGE_SIZE = 100;
const HOUR_MS = 3_600_000;
/** Interval in milliseconds at which a trace that is still running is read again. */
const WATCH_MS = 3_000;
/** A time before every trace: routes of the second version default to the last day if no window is given. */
const ALWAYS = '2000-01-01T00:00:00Z';

interface Usage {
  total_tokens: number;
  prompt_tokens: number;
  completion_tokens: number;
}

export interface Project {
  id: string;
  name: string;
  description: string | null;
  start_time: string;
}

export interface ProjectWithStats extends Project, Usage {
  run_count: number;
  latency_p50: number | null;
  latency_p99: number | null;
  error_rate: number | null;
  total_cost: string | null;
  last_run_start_time: string | null;
}

export interface Stats extends Usage {
  run_count: number;
  latency_p50: number | null;
  latency_p99: number | null;
  error_rate: number | null;
  total_cost: string | null;
}

/** A traced run in a list: without its payloads. In a list of runs, its tokens and costs include those of all runs under it. */
export interface TracedRun extends Usage {
  id: string;
  trace_id: string;
  /** Id of its project. */
  session_id: string;
  name: string;
  run_type: string;
  status: string;
  start_time: string;
  end_time: string | null;
  error: string | null;
  total_cost: string | number | null;
}

/** A run in the tree of its trace. */
export interface Span extends Usage {
  id: string;
  parent_run_id: string | null;
  name: string;
  run_type: string;
  status: string;
  start_time: string;
  end_time: string | null;
  dotted_order: string;
  total_cost: number | null;
}

export interface RunDetail extends TracedRun {
  inputs?: unknown;
  outputs?: unknown;
  extra?: { metadata?: Record<string, unknown> } & Record<string, unknown>;
  events?: unknown[] | null;
  tags: string[] | null;
  first_token_time: string | null;
}

export interface Feedback {
  id: string;
  key: string;
  score: number | boolean | null;
  value: unknown;
  comment: string | null;
  created_at: string;
}

/** Selection of runs in the form of the routes for queries and statistics. */
export interface RunSelection {
  session: string[];
  start_time?: string;
  end_time?: string;
  filter?: string;
  is_root?: boolean;
  error?: boolean;
}

const LISTED = [
  'id',
  'trace_id',
  'project_id',
  'name',
  'run_type',
  'status',
  'start_time',
  'end_time',
  'error',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_cost',
];
const IN_TREE = [
  'id',
  'parent_run_id',
  'name',
  'run_type',
  'status',
  'start_time',
  'end_time',
  'dotted_order',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_cost',
];

/** Every project by name. */
export const projectsQuery = () =>
  queryOptions({
    queryKey: ['traces', 'projects'],
    queryFn: async () => {
      const projects: Project[] = [];
      for (;;) {
        const page = { limit: PAGE_SIZE, offset: projects.length, sort_by: 'name', sort_by_desc: false };
        const { items, total } = await getPage<Project>('/api/v1/sessions', page);
        projects.push(...items);
        if (items.length === 0 || projects.length >= total) return projects;
      }
    },
    staleTime: 10_000,
  });

export const listProjects = (name: string | undefined, offset: number) =>
  getPage<ProjectWithStats>('/api/v1/sessions', {
    limit: PAGE_SIZE,
    offset,
    include_stats: true,
    sort_by: 'last_run_start_time',
    name_contains: name,
  });

/** Tokens of the traced runs of the last hours, in the projects that ran last. */
export const tokensQuery = (hours: number) =>
  queryOptions({
    queryKey: ['traces', 'tokens', hours],
    queryFn: async () => {
      // The first version has no selection, and would summarise all feedback.
      const { items } = await getJson<{ items: Pick<Usage, 'total_tokens'>[] }>('/api/v2/sessions', {
        page_size: PAGE_SIZE,
        include_stats: true,
        stats_select: 'total_tokens',
        stats_start_time: new Date(Date.now() - hours * HOUR_MS).toISOString(),
        sort_by: 'LAST_RUN_START_TIME',
      });
      return items.reduce((sum, { total_tokens }) => sum + total_tokens, 0);
    },
    refetchInterval: 30_000,
  });

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['traces', 'project', id],
    queryFn: () => getJson<Project>(`/api/v1/sessions/${id}`),
  });

export const readStats = (selection: RunSelection) => sendJson<Stats>('POST', '/api/v1/runs/stats', selection);

/**
 * Figures of the selected runs; tokens and costs are those of the runs and of all runs under them. A filter that the
 * server refuses is not sent again.
 */
export const statsQuery = (selection: RunSelection) =>
  queryOptions({ queryKey: ['traces', 'stats', selection], queryFn: () => readStats(selection), retry: false });

/** The request for a page of traced runs, the newest first, with the usage of all runs under each. */
export const listRequest = ({ session, start_time: from, end_time: to, error, ...rest }: RunSelection) => ({
  project_ids: session,
  min_start_time: from ?? ALWAYS,
  ...(to && { max_start_time: to }),
  ...(error && { has_error: true }),
  ...rest,
  selects: LISTED,
  include_subtree_usage: true,
});

/** One page of traced runs; `next` is the cursor of the page after it. */
export async function listRuns(
  selection: RunSelection,
  cursor: string | undefined,
  limit = PAGE_SIZE,
): Promise<{ runs: TracedRun[]; next: string | null }> {
  const body = { ...listRequest(selection), page_size: limit, ...(cursor && { cursor }) };
  const { items, next_cursor: next } = await sendJson<{
    items: (Omit<TracedRun, 'session_id'> & { project_id: string })[];
    next_cursor: string | null;
  }>('POST', '/api/v2/runs/query', body);
  const runs = items.map(({ project_id: session_id, ...run }) => ({
    ...run,
    session_id,
    // The first version of these routes writes both in lower case.
    run_type: run.run_type.toLowerCase(),
    status: run.status.toLowerCase(),
  }));
  return { runs, next };
}

const isRunning = ({ end_time: end }: { end_time: string | null }): boolean => end === null;

export const traceQuery = (projectId: string, traceId: string) =>
  queryOptions({
    queryKey: ['traces', 'trace', projectId, traceId],
    queryFn: async () => {
      const query = new URLSearchParams({ project_id: projectId, min_start_time: ALWAYS });
      for (const field of IN_TREE) query.append('selects', field);
      return (await getJson<{ items: Span[] }>(`/api/v2/traces/${traceId}/runs?${query}`)).items;
    },
    refetchInterval: ({ state: { data } }) => (data?.some(isRunning) ? WATCH_MS : false),
  });

export const runQuery = (projectId: string, runId: string) =>
  queryOptions({
    queryKey: ['traces', 'run', runId],
    queryFn: () => getJson<RunDetail>(`/api/v1/runs/${runId}`, { session_id: projectId }),
    refetchInterval: ({ state: { data } }) => (data && isRunning(data) ? WATCH_MS : false),
  });

/** Location of the trace of one of this server's runs; null while it has none. */
export const traceOfRunQuery = (runId: string) =>
  queryOptions({
    queryKey: ['traces', 'of-run', runId],
    queryFn: async () => {
      const body = { id: [runId], select: ['id', 'trace_id', 'session_id'], limit: 1 };
      const { runs } = await sendJson<{ runs: { trace_id: string; session_id: string }[] }>(
        'POST',
        '/api/v1/runs/query',
        body,
      );
      return runs.length === 0 ? null : { projectId: runs[0].session_id, traceId: runs[0].trace_id };
    },
    refetchInterval: ({ state }) => (state.data === null ? 3_000 : false),
  });

/** The run of this server whose trace this is; null for traces of other programs. */
export const servedRunQuery = (traceId: string) =>
  queryOptions({
    queryKey: ['traces', 'served-run', traceId],
    queryFn: async () => {
      const [run] = await answerOf(api.POST('/runs/search', { body: { run_id: traceId, limit: 1 } }));
      return run ?? null;
    },
    retry: false,
  });

export const feedbackQuery = (runId: string) =>
  queryOptions({
    queryKey: ['traces', 'feedback', runId],
    queryFn: () => getJson<Feedback[]>('/api/v1/feedback', { run: runId, limit: PAGE_SIZE }),
  });

export const giveFeedback = (runId: string, score: number, comment: string) =>
  sendJson('POST', '/api/v1/feedback', {
    run_id: runId,
    key: 'user_score',
    score,
    ...(comment && { comment }),
  });

/** Validation error of a filter; undefined for a valid one. */
export async function filterProblem(filter: string): Promise<string | undefined> {
  const { errors } = await sendJson<{ errors: { message: string }[] }>('POST', '/api/v1/runs/query/validate', {
    filter,
  });
  return errors[0]?.message;
}

/** Parses a time of the trace API, which is UTC without a time zone suffix. */
export const utc = (time: string): Date => new Date(/[Zz]|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`);

/** Milliseconds a run took; undefined while it has no end. */
export const latencyMs = ({ start_time: start, end_time: end }: { start_time: string; end_time: string | null }) =>
  end === null ? undefined : utc(end).getTime() - utc(start).getTime();
