import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { SqlParams } from '../filter/sql-params';
import { Instant } from '../instant';
import { selectInstant } from '../trace-wire';
import { located, RunSelection, selectionToSql } from './run-selection';

/** Columns that are large or need parsing, and are only read if requested. */
export const PAYLOADS = ['inputs', 'outputs', 'extra', 'events', 'serialized', 'metadata'] as const;
export type Payload = (typeof PAYLOADS)[number];

export interface TraceRunRow extends Partial<Record<Payload, string | null>> {
  tenant_id: string;
  project_id: string;
  run_id: string;
  trace_id: string;
  parent_run_id: string | null;
  parent_run_ids: string[];
  dotted_order: string;
  name: string;
  run_type: string;
  status: 'pending' | 'success' | 'error';
  start_time: Instant;
  end_time: Instant | null;
  first_token_time: Instant | null;
  received_at: Instant;
  error: string | null;
  tags: string[] | null;
  thread_id: string | null;
  reference_example_id: string | null;
  prompt_tokens: string | null;
  completion_tokens: string | null;
  total_tokens: string | null;
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  usage_details: Record<string, unknown> | null;
  feedback_stats: Record<string, unknown> | null;
  trace_tier: string | null;
}

const COLUMNS = [
  ...['tenant_id', 'project_id', 'run_id', 'trace_id', 'parent_run_id', 'parent_run_ids', 'dotted_order'],
  ...['name', 'run_type', 'status', 'error', 'tags', 'thread_id', 'reference_example_id'],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost'],
  ...['usage_details', 'feedback_stats', 'trace_tier'],
].map((column) => `r.${column}`);
const INSTANTS = ['start_time', 'end_time', 'first_token_time', 'received_at'].map(
  (column) => `${selectInstant(`r.${column}`)} AS ${column}`,
);
/** A payload's column as text: the driver would round the integers of a jsonb. */
const payloadColumn = (payload: Payload): string =>
  payload === 'metadata' ? 'r.metadata::text AS metadata' : `r.${payload}`;
const selected = (payloads: readonly Payload[]): string =>
  [...COLUMNS, ...INSTANTS, ...payloads.map(payloadColumn)].join(', ');

/**
 * Bytes of the columns that can be large. Postgres knows the length of a text without reading it; only the other types have to
 * be unpacked.
 */
const bytesOf = (payloads: readonly Payload[]): string =>
  ['name', 'error', 'tags::text', 'usage_details::text', 'feedback_stats::text', ...payloads]
    .map((column) => `coalesce(octet_length(r.${column === 'metadata' ? 'metadata::text' : column}), 0)::bigint`)
    .join(' + ');

/** A row's place in the order of queries. */
export interface RunCursor {
  startTime: Instant;
  runId: string;
}

export interface RunPage {
  selection: RunSelection;
  payloads: readonly Payload[];
  order: 'asc' | 'desc';
  limit: number;
  after?: RunCursor;
}

function pageToSql(tenantId: TenantId, { selection, order, limit, after }: RunPage, params: SqlParams): string {
  const where = [selectionToSql(tenantId, selection, params)];
  if (after) {
    const key = `(${params.add(after.startTime, 'timestamptz')}, ${params.add(after.runId, 'uuid')})`;
    where.push(`(r.start_time, r.run_id) ${order === 'asc' ? '>' : '<'} ${key}`);
  }
  return `FROM trace_runs r WHERE ${where.join(' AND ')}
    ORDER BY r.start_time ${order}, r.run_id ${order} LIMIT ${params.add(limit, 'int')}`;
}

@Injectable()
export class TraceRunsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** One page in the order of (start_time, run_id); rows that arrive later never shift it. */
  async page(tenantId: TenantId, page: RunPage): Promise<TraceRunRow[]> {
    const params = new SqlParams();
    const rows = pageToSql(tenantId, await this.located(tenantId, page), params);
    return await this.database.query<TraceRunRow[]>(`SELECT ${selected(page.payloads)} ${rows}`, params.values);
  }

  /** Bytes that the same page would read. */
  async pageBytes(tenantId: TenantId, page: RunPage): Promise<number> {
    const params = new SqlParams();
    const rows = pageToSql(tenantId, await this.located(tenantId, page), params);
    const [{ bytes }] = await this.database.query<[{ bytes: number }]>(
      `SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM (SELECT ${bytesOf(page.payloads)} AS bytes ${rows}) AS page`,
      params.values,
    );
    return bytes;
  }

  /** The traces of the first of the selected runs, one for each run. */
  async traceIds(tenantId: TenantId, selection: RunSelection, limit: number): Promise<string[]> {
    const params = new SqlParams();
    const page = await this.located(tenantId, { selection, payloads: [], order: 'asc', limit });
    const rows = await this.database.query<{ trace_id: string }[]>(
      `SELECT r.trace_id ${pageToSql(tenantId, page, params)}`,
      params.values,
    );
    return rows.map((row) => row.trace_id);
  }

  private async located(tenantId: TenantId, page: RunPage): Promise<RunPage> {
    return { ...page, selection: await located(this.database, tenantId, page.selection) };
  }
}
