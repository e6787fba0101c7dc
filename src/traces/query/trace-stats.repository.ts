import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { feedbackStat, summarised } from '../feedback/feedback.repository';
import { SqlParams } from '../filter/sql-params';
import { Instant } from '../instant';
import { selectInstant } from '../trace-wire';
import { aroundSelection, located, RunSelection, selectionToSql, TRACE_SPAN } from './run-selection';

/** Statistics of the selected runs. Tokens, costs and first tokens are those of the runs and of all runs under them. */
export interface RunStats {
  run_count: number;
  latency_p50: number | null;
  latency_p99: number | null;
  first_token_p50: number | null;
  first_token_p99: number | null;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  median_tokens: number | null;
  tokens_p99: number | null;
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  cost_p50: number | null;
  cost_p99: number | null;
  last_run_start_time: Instant | null;
  error_rate: number | null;
  streaming_rate: number | null;
  /** Summaries of the feedback on the selected runs, by key. */
  feedback_stats: Record<string, unknown>;
}

export interface StatsGroup {
  attribute: 'name' | 'run_type' | 'tag' | 'metadata';
  /** The metadata key. */
  path?: string;
  limit: number;
}

type GroupStats = RunStats & { group_key: string };

const USAGE = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost'];
const percentile = (fraction: number, expression: string): string =>
  `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY ${expression})::float8`;
/** The sum of two numbers, of which either may be missing. */
const plus = (one: string, other: string): string =>
  `CASE WHEN num_nonnulls(${one}, ${other}) > 0 THEN COALESCE(${one}, 0) + COALESCE(${other}, 0) END`;
/** Usage of a selected run and of what is under it. */
const ofRun = (column: string): string => plus(`s.${column}`, `u.${column}`);
/** Usage of a group. */
const total = (column: string): string => plus(`sum(s.${column})`, `max(o.${column})`);
const FIRST_TOKEN_TIME = 'LEAST(s.first_token_time, u.first_token_time)';
const LATENCY = 'extract(epoch FROM s.end_time - s.start_time)';
const FIRST_TOKEN = `extract(epoch FROM ${FIRST_TOKEN_TIME} - s.start_time)`;
/**
 * The statistics over the relations of `sourcesOf`: selected runs `s`, with the usage `u` under each, and that of the other runs
 * under its group `o`, which is the same for all of the group.
 * @param group key of the group
 */
const stats = (group: string): string => `
  count(*)::int AS run_count,
  ${percentile(0.5, LATENCY)} AS latency_p50, ${percentile(0.99, LATENCY)} AS latency_p99,
  ${percentile(0.5, FIRST_TOKEN)} AS first_token_p50, ${percentile(0.99, FIRST_TOKEN)} AS first_token_p99,
  COALESCE(${total('prompt_tokens')}, 0)::float8 AS prompt_tokens,
  COALESCE(${total('completion_tokens')}, 0)::float8 AS completion_tokens,
  COALESCE(${total('total_tokens')}, 0)::float8 AS total_tokens,
  ${percentile(0.5, ofRun('total_tokens'))} AS median_tokens, ${percentile(0.99, ofRun('total_tokens'))} AS tokens_p99,
  ${total('prompt_cost')} AS prompt_cost, ${total('completion_cost')} AS completion_cost, ${total('total_cost')} AS total_cost,
  ${percentile(0.5, ofRun('total_cost'))} AS cost_p50, ${percentile(0.99, ofRun('total_cost'))} AS cost_p99,
  ${selectInstant('max(s.start_time)')} AS last_run_start_time,
  avg((s.status = 'error')::int)::float8 AS error_rate,
  avg((${FIRST_TOKEN_TIME} IS NOT NULL)::int)::float8 AS streaming_rate,
  COALESCE((SELECT jsonb_object_agg(f.key, f.stat) FROM feedback_stats f WHERE f.group_key = ${group}), '{}') AS feedback_stats`;

const FROM = 'FROM selected s LEFT JOIN usage u USING (group_key, run_id) LEFT JOIN others o USING (group_key)';

/** Adds up runs for statistics. */
@Injectable()
export class TraceStatsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async stats(tenantId: TenantId, selection: RunSelection): Promise<RunStats> {
    const params = new SqlParams();
    const found = await located(this.database, tenantId, selection);
    const sources = sourcesOf(tenantId, found, params, `''::text`, 'trace_runs r');
    const [row] = await this.database.query<[RunStats]>(`${sources} SELECT ${stats(`''`)} ${FROM}`, params.values);
    return row;
  }

  /** The same per group, the largest groups first. */
  async statsByGroup(
    tenantId: TenantId,
    selection: RunSelection,
    { attribute, path, limit }: StatsGroup,
  ): Promise<GroupStats[]> {
    const params = new SqlParams();
    const key = {
      name: () => 'r.name',
      run_type: () => 'r.run_type',
      tag: () => 'tag',
      metadata: () => `r.metadata ->> ${params.add(path ?? '', 'text')}`,
    }[attribute]();
    // A tag may be on a run twice.
    const tags = 'CROSS JOIN LATERAL (SELECT DISTINCT tag FROM unnest(r.tags) AS tag) AS tags';
    const from = attribute === 'tag' ? `trace_runs r ${tags}` : 'trace_runs r';
    const found = await located(this.database, tenantId, selection);
    const sources = sourcesOf(tenantId, found, params, key, from);
    return await this.database.query<GroupStats[]>(
      `${sources} SELECT s.group_key, ${stats('s.group_key')} ${FROM}
       GROUP BY s.group_key ORDER BY count(*) DESC, 1 LIMIT ${params.add(limit, 'int')}`,
      params.values,
    );
  }
}

/**
 * The relations that statistics are computed from:
 * - `selected`: the runs of each group;
 * - `below`: for each of them the runs with usage under it;
 * - `usage`: the sums of these, by selected run;
 * - `others`: the sums by group, of those that are not selected themselves, each once;
 * - `feedback_stats`: the summary of the feedback on the runs of a group, by feedback key.
 * @param key expression over `from` by which the runs are grouped; those without a value are left out
 */
function sourcesOf(tenantId: TenantId, selection: RunSelection, params: SqlParams, key: string, from: string): string {
  const tenant = params.add(tenantId, 'uuid');
  const columns = (alias: string): string =>
    [...USAGE, 'first_token_time'].map((name) => `${alias}.${name}`).join(', ');
  const sums = USAGE.map((column) => `sum(${column}) AS ${column}`).join(', ');
  const around = ['true', ...aroundSelection(selection, 'd.start_time', params)].join(' AND ');
  const labelled = 'chosen g WHERE g.group_key = f.group_key AND g.key = f.key';
  return `WITH selected AS MATERIALIZED (
    SELECT ${key} AS group_key, r.run_id, r.trace_id, r.start_time, r.end_time, r.status, ${columns('r')}
    FROM ${from} WHERE ${selectionToSql(tenantId, selection, params)} AND ${key} IS NOT NULL
  ), below AS MATERIALIZED (
    SELECT s.group_key, s.run_id, d.run_id AS used_id, ${columns('d')}
    FROM trace_runs d CROSS JOIN LATERAL unnest(d.parent_run_ids) AS above (run_id)
    JOIN selected s ON s.run_id = above.run_id
    WHERE d.tenant_id = ${tenant} AND ${around} AND d.trace_id IN (SELECT trace_id FROM selected)
      AND d.start_time >= (SELECT min(start_time) FROM selected) - ${TRACE_SPAN}
      AND d.start_time <= (SELECT max(start_time) FROM selected) + ${TRACE_SPAN}
      AND (d.total_tokens IS NOT NULL OR d.total_cost IS NOT NULL OR d.first_token_time IS NOT NULL)
  ), usage AS (
    SELECT group_key, run_id, sum(total_tokens) AS total_tokens, sum(total_cost) AS total_cost,
           min(first_token_time) AS first_token_time
    FROM below GROUP BY group_key, run_id
  ), others AS (
    SELECT group_key, ${sums} FROM (
      SELECT DISTINCT ON (b.group_key, b.used_id) b.* FROM below b
      WHERE NOT EXISTS (SELECT FROM selected s WHERE s.group_key = b.group_key AND s.run_id = b.used_id)) AS once
    GROUP BY group_key
  ), chosen AS (
    SELECT s.group_key, ${summarised('s.group_key, f.key')}
    FROM selected s JOIN trace_feedback f ON f.tenant_id = ${tenant} AND f.run_id = s.run_id
  ), feedback_stats AS (
    SELECT f.group_key, f.key, ${feedbackStat(labelled)} AS stat FROM chosen f GROUP BY f.group_key, f.key
  )`;
}
