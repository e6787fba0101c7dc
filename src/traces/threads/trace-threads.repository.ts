import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { feedbackStat, summarised } from '../feedback/feedback.repository';
import { SqlParams } from '../filter/sql-params';
import { Instant } from '../instant';
import { aroundSelection, located, RunSelection, selectionToSql, TRACE_SPAN } from '../query/run-selection';
import { detailsByKey, Usage, USAGE_DETAILS, USAGE_SUMS } from '../query/trace-usage.repository';
import { selectInstant } from '../trace-wire';

/** The traces to read, each of which is a turn of its thread. */
export interface ThreadSelection {
  turns: RunSelection;
  /** Only threads with a turn that meets these conditions, but then all of their turns. */
  containing?: RunSelection;
}

export interface ThreadRow extends Omit<Usage, 'usage_details'> {
  thread_id: string;
  turns: number;
  first_start_time: Instant;
  last_start_time: Instant;
  first_trace_id: string;
  last_trace_id: string;
  /** The newest turn that failed. */
  failed_trace_id: string | null;
  failed_turns: number;
  latency_p50: number | null;
  latency_p99: number | null;
}

/** Sums of the turns of one thread, or of all. */
export interface TurnStats extends Omit<Usage, 'usage_details'> {
  threads: number;
  turns: number;
  first_start_time: Instant | null;
  last_start_time: Instant | null;
  last_end_time: Instant | null;
  latency_p50: number | null;
  latency_p99: number | null;
  first_token_p50: number | null;
  first_token_p99: number | null;
  median_tokens: number | null;
  error_rate: number | null;
  streaming_rate: number | null;
}

/** Groups that turns are summed up by: their thread, one for all, or the UTC time slot of their thread's newest turn. */
export type Grouping = 'thread' | 'all' | { slotSeconds: number };

export interface ThreadCursor {
  lastStartTime: Instant;
  threadId: string;
}

export interface ThreadPage {
  limit: number;
  after?: ThreadCursor;
  offset?: number;
}

export interface TurnPreview {
  run_id: string;
  inputs: string | null;
  outputs: string | null;
  error: string | null;
}

export type Details = Record<string, Record<string, number>>;
export type Feedback = Record<string, unknown>;

const PREVIEW_CHARACTERS = 250;
const LATENCY = 'extract(epoch FROM t.end_time - t.start_time)';
const FIRST_TOKEN = 'extract(epoch FROM u.first_token_time - t.start_time)';
const percentile = (fraction: number, expression: string): string =>
  `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY ${expression})::float8`;
const TOTALS = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost']
  .map((column) => `sum(u.${column}) AS ${column}`)
  .join(', ');

/** Reads conversation threads: traces whose root runs carry the same thread id. */
@Injectable()
export class TraceThreadsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** One page of threads, those with the newest turn first. */
  async page(tenantId: TenantId, selection: ThreadSelection, page: ThreadPage): Promise<ThreadRow[]> {
    const params = new SqlParams();
    const turns = turnsCte(tenantId, selection, params);
    const { after, limit, offset = 0 } = page;
    const having = after
      ? `HAVING (max(start_time), thread_id) < (${params.add(after.lastStartTime, 'timestamptz')}, ${params.add(after.threadId, 'text')})`
      : '';
    return await this.database.query<ThreadRow[]>(
      `WITH ${turns}, page AS (
         SELECT thread_id, max(start_time) AS last_start FROM turns GROUP BY thread_id ${having}
         ORDER BY last_start DESC, thread_id DESC LIMIT ${params.add(limit, 'int')} OFFSET ${params.add(offset, 'bigint')}
       ), ${usageCte(tenantId, selection.turns, params, 'SELECT trace_id FROM turns JOIN page USING (thread_id)')}
       SELECT t.thread_id, count(*)::int AS turns,
              ${selectInstant('min(t.start_time)')} AS first_start_time,
              ${selectInstant('max(t.start_time)')} AS last_start_time,
              (array_agg(t.trace_id ORDER BY t.start_time, t.run_id))[1] AS first_trace_id,
              (array_agg(t.trace_id ORDER BY t.start_time DESC, t.run_id DESC))[1] AS last_trace_id,
              (array_agg(t.trace_id ORDER BY t.start_time DESC, t.run_id DESC) FILTER (WHERE t.status = 'error'))[1]
                AS failed_trace_id,
              count(*) FILTER (WHERE t.status = 'error')::int AS failed_turns,
              ${percentile(0.5, LATENCY)} AS latency_p50, ${percentile(0.99, LATENCY)} AS latency_p99,
              ${selectInstant('min(u.first_token_time)')} AS first_token_time, ${TOTALS}
       FROM page JOIN turns t USING (thread_id) LEFT JOIN usage u USING (trace_id)
       GROUP BY t.thread_id, page.last_start ORDER BY page.last_start DESC, t.thread_id DESC`,
      params.values,
    );
  }

  async countThreads(tenantId: TenantId, selection: ThreadSelection): Promise<number> {
    const params = new SqlParams();
    const turns = turnsCte(tenantId, selection, params);
    const [row] = await this.database.query<[{ threads: number }]>(
      `WITH ${turns} SELECT count(DISTINCT thread_id)::int AS threads FROM turns`,
      params.values,
    );
    return row.threads;
  }

  /** Sums by the key of their group, in ascending order. For `all` the key is empty, and there is always an entry. */
  async stats(tenantId: TenantId, selection: ThreadSelection, grouping: Grouping): Promise<Map<string, TurnStats>> {
    const params = new SqlParams();
    const turns = turnsCte(tenantId, selection, params, grouping);
    const [key, groupBy] = grouping === 'all' ? [`''`, ''] : ['t.key', 'GROUP BY t.key ORDER BY t.key'];
    const rows = await this.database.query<(TurnStats & { key: string })[]>(
      `WITH ${turns}, ${usageCte(tenantId, selection.turns, params)}
       SELECT ${key} AS key, count(DISTINCT t.thread_id)::int AS threads, count(*)::int AS turns,
              ${selectInstant('min(t.start_time)')} AS first_start_time,
              ${selectInstant('max(t.start_time)')} AS last_start_time,
              ${selectInstant('max(t.end_time)')} AS last_end_time,
              ${percentile(0.5, LATENCY)} AS latency_p50, ${percentile(0.99, LATENCY)} AS latency_p99,
              ${percentile(0.5, FIRST_TOKEN)} AS first_token_p50, ${percentile(0.99, FIRST_TOKEN)} AS first_token_p99,
              ${percentile(0.5, 'u.total_tokens')} AS median_tokens,
              avg((t.status = 'error')::int)::float8 AS error_rate,
              avg((u.first_token_time IS NOT NULL)::int) FILTER (WHERE t.end_time IS NOT NULL)::float8 AS streaming_rate,
              ${selectInstant('min(u.first_token_time)')} AS first_token_time, ${TOTALS}
       FROM turns t LEFT JOIN usage u USING (trace_id) ${groupBy}`,
      params.values,
    );
    return new Map(rows.map((row) => [row.key, row]));
  }

  /** `{detail: {category: sum}}` by the key of the group. */
  async details(tenantId: TenantId, selection: ThreadSelection, grouping: Grouping): Promise<Map<string, Details>> {
    const params = new SqlParams();
    const turns = turnsCte(tenantId, selection, params, grouping);
    const rows = await this.database.query<{ key: string; usage_details: Details }[]>(
      `WITH ${turns}, sums AS (
         SELECT t.key, detail, category, sum(amount) AS amount
         FROM turns t JOIN trace_runs d ON d.trace_id = t.trace_id CROSS JOIN LATERAL ${USAGE_DETAILS}
         WHERE ${runsOfTurns(tenantId, selection.turns, params)} GROUP BY 1, 2, 3
       ) ${detailsByKey('SELECT * FROM sums')}`,
      params.values,
    );
    return new Map(rows.map(({ key, usage_details: details }) => [key, details]));
  }

  /** Summary of the feedback on the turns, by feedback key, by the key of the group. */
  async feedback(tenantId: TenantId, selection: ThreadSelection, grouping: Grouping): Promise<Map<string, Feedback>> {
    const params = new SqlParams();
    const turns = turnsCte(tenantId, selection, params, grouping);
    const tenant = params.add(tenantId, 'uuid');
    const labelled = `trace_feedback g WHERE g.tenant_id = ${tenant} AND g.key = f.key
      AND g.run_id IN (SELECT run_id FROM turns WHERE key = f.turns_key)`;
    const rows = await this.database.query<{ key: string; stats: Feedback }[]>(
      `WITH ${turns}, chosen AS (
         SELECT t.key AS turns_key, ${summarised('t.key, f.key')}
         FROM turns t JOIN trace_feedback f ON f.tenant_id = ${tenant} AND f.run_id = t.run_id
       ), by_key AS (
         SELECT f.turns_key, f.key, ${feedbackStat(labelled)} AS stat FROM chosen f GROUP BY f.turns_key, f.key
       ) SELECT turns_key AS key, jsonb_object_agg(key, stat) AS stats FROM by_key GROUP BY turns_key`,
      params.values,
    );
    return new Map(rows.map(({ key, stats }) => [key, stats]));
  }

  /** Trace id → its place among all turns of the thread, from 1. */
  async turnNumbers(tenantId: TenantId, projectId: string, threadId: string): Promise<Map<string, number>> {
    const rows = await this.database.query<{ trace_id: string; turn: number }[]>(
      `SELECT trace_id, row_number() OVER (ORDER BY start_time, trace_id)::int AS turn FROM trace_runs
       WHERE tenant_id = $1 AND project_id = $2 AND thread_id = $3 AND parent_run_id IS NULL`,
      [tenantId, projectId, threadId],
    );
    return new Map(rows.map((row) => [row.trace_id, row.turn]));
  }

  /** The beginnings of inputs and outputs of root runs. */
  async previews(tenantId: TenantId, selection: RunSelection): Promise<Map<string, TurnPreview>> {
    const params = new SqlParams();
    const found = await located(this.database, tenantId, selection);
    const start = (column: string): string => `left(r.${column}, ${PREVIEW_CHARACTERS}) AS ${column}`;
    const rows = await this.database.query<TurnPreview[]>(
      `SELECT r.run_id, ${start('inputs')}, ${start('outputs')}, ${start('error')}
       FROM trace_runs r WHERE ${selectionToSql(tenantId, found, params)}`,
      params.values,
    );
    return new Map(rows.map((row) => [row.run_id, row]));
  }
}

function turnsCte(
  tenantId: TenantId,
  { turns, containing }: ThreadSelection,
  params: SqlParams,
  grouping: Grouping = 'thread',
): string {
  const where = [selectionToSql(tenantId, turns, params)];
  if (containing) {
    const inner = selectionToSql(tenantId, containing, params);
    where.push(`r.thread_id IN (SELECT r.thread_id FROM trace_runs r WHERE ${inner})`);
  }
  return `turns AS MATERIALIZED (
    SELECT r.run_id, r.trace_id, r.thread_id, r.start_time, r.end_time, r.status, ${groupKey(grouping, params)} AS key
    FROM trace_runs r WHERE ${where.join(' AND ')})`;
}

function groupKey(grouping: Grouping, params: SqlParams): string {
  if (grouping === 'thread') return 'r.thread_id';
  if (grouping === 'all') return `''::text`;
  const slot = `make_interval(secs => ${params.add(grouping.slotSeconds, 'float8')})`;
  const newestTurn = 'max(r.start_time) OVER (PARTITION BY r.thread_id)';
  return selectInstant(`date_bin(${slot}, ${newestTurn}, timestamptz 'epoch')`);
}

/** The usage of each trace; only the runs of those traces are read. */
function usageCte(
  tenantId: TenantId,
  turns: RunSelection,
  params: SqlParams,
  traces = 'SELECT trace_id FROM turns',
): string {
  return `usage AS (
    SELECT d.trace_id, ${USAGE_SUMS}, min(d.first_token_time) AS first_token_time
    FROM trace_runs d WHERE ${runsOfTurns(tenantId, turns, params)} AND d.trace_id IN (${traces}) GROUP BY d.trace_id)`;
}

/** Condition on `d`: a run of the tenant from about the days of the turns, so that no other day is searched. */
function runsOfTurns(tenantId: TenantId, turns: RunSelection, params: SqlParams): string {
  const own = [`d.tenant_id = ${params.add(tenantId, 'uuid')}`, ...aroundSelection(turns, 'd.start_time', params)];
  return `${own.join(' AND ')}
    AND d.start_time >= (SELECT min(start_time) FROM turns) - ${TRACE_SPAN}
    AND d.start_time <= (SELECT max(start_time) FROM turns) + ${TRACE_SPAN}`;
}
