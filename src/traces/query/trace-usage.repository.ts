import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { SqlParams } from '../filter/sql-params';
import { addDays, Instant } from '../instant';
import { rangeOf } from '../run-starts';
import { selectInstant } from '../trace-wire';
import { TRACE_DAYS } from './run-selection';
import type { TraceRunRow } from './trace-runs.repository';

/** Sums of tokens and costs of several runs, and the time of their first token. */
export type Usage = Pick<
  TraceRunRow,
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'total_tokens'
  | 'prompt_cost'
  | 'completion_cost'
  | 'total_cost'
  | 'first_token_time'
  | 'usage_details'
>;

/** Sums of tokens and costs over the runs `d`. */
export const USAGE_SUMS = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
]
  .map((column) => `sum(d.${column}) AS ${column}`)
  .join(', ');

/** One row for each number in the usage details of the runs `d`: `detail` (prompt_token_details, …), `category`, `amount`. */
export const USAGE_DETAILS = `
  jsonb_each(CASE WHEN jsonb_typeof(d.usage_details) = 'object' THEN d.usage_details ELSE '{}' END) AS m (detail, categories)
  CROSS JOIN LATERAL (
    SELECT c.key AS category, (c.value #>> '{}')::numeric AS amount
    FROM jsonb_each(CASE WHEN jsonb_typeof(m.categories) = 'object' THEN m.categories ELSE '{}' END) AS c
    WHERE jsonb_typeof(c.value) = 'number') AS n`;

/** `{detail: {category: sum}}` of the rows `s` (key, detail, category, amount), by key. */
export const detailsByKey = (sums: string): string => `
  SELECT key, jsonb_object_agg(detail, categories) AS usage_details FROM (
    SELECT key, detail, jsonb_object_agg(category, amount) AS categories FROM (${sums}) AS s GROUP BY key, detail) AS details
  GROUP BY key`;

interface Place {
  run_id: string;
  trace_id: string;
  start_time: Instant;
}

/** Adds up the usage of traces. Runs that began more than a day from the given one don't count. */
@Injectable()
export class TraceUsageRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** Trace id → usage of all runs of the trace. */
  ofTraces(tenantId: TenantId, runs: Place[]): Promise<Map<string, Usage>> {
    return this.sum(tenantId, runs, () => ({ from: 'trace_runs d', key: 'd.trace_id' }));
  }

  /** Run id → usage of the run and of all under it. */
  ofSubtrees(tenantId: TenantId, runs: Place[]): Promise<Map<string, Usage>> {
    const ids = runs.map((run) => run.run_id);
    return this.sum(tenantId, runs, (params) => ({
      from: `trace_runs d CROSS JOIN LATERAL (
        SELECT id FROM unnest(d.parent_run_ids || d.run_id) AS a (id) WHERE id = ANY (${params.add(ids, 'uuid[]')})) AS a`,
      key: 'a.id',
    }));
  }

  private async sum(
    tenantId: TenantId,
    runs: Place[],
    grouping: (params: SqlParams) => { from: string; key: string },
  ): Promise<Map<string, Usage>> {
    if (runs.length === 0) return new Map();
    const [first, last] = rangeOf(runs.map(({ start_time: start }) => start));
    const params = new SqlParams();
    const where = [
      `d.tenant_id = ${params.add(tenantId, 'uuid')}`,
      `d.trace_id = ANY (${params.add([...new Set(runs.map((run) => run.trace_id))], 'uuid[]')})`,
      `d.start_time >= ${params.add(addDays(first, -TRACE_DAYS), 'timestamptz')}`,
      `d.start_time <= ${params.add(addDays(last, TRACE_DAYS), 'timestamptz')}`,
    ].join(' AND ');
    const { from, key } = grouping(params);
    const rows = await this.database.query<({ key: string } & Usage)[]>(
      `WITH sums AS (
         SELECT ${key} AS key, ${USAGE_SUMS}, ${selectInstant('min(d.first_token_time)')} AS first_token_time
         FROM ${from} WHERE ${where} GROUP BY 1
       ), details AS (${detailsByKey(
         `SELECT ${key} AS key, detail, category, sum(amount) AS amount
          FROM ${from} CROSS JOIN LATERAL ${USAGE_DETAILS} WHERE ${where} GROUP BY 1, 2, 3`,
       )})
       SELECT sums.*, details.usage_details FROM sums LEFT JOIN details USING (key)`,
      params.values,
    );
    return new Map(rows.map(({ key: id, ...usage }) => [id, usage]));
  }
}
