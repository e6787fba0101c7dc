import type { EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import type { FilterExpression } from '../filter/filter-ast';
import { filterToSql } from '../filter/filter-sql';
import { SqlParams } from '../filter/sql-params';
import { addDays, Instant } from '../instant';
import { StartRange, startsOf } from '../run-starts';

/** The runs that a query selects. */
export interface RunSelection {
  /** Given alone: clients expect ids to make every other condition void. */
  ids?: string[];
  /** Starts of the runs with these ids, of which `located` looks them up; null when there is none. */
  starts?: StartRange | null;
  projectIds?: string[];
  traceId?: string;
  traceIds?: string[];
  parentRunId?: string;
  runType?: string;
  referenceExampleIds?: string[];
  from?: Instant;
  to?: Instant;
  /** The same bound without the instant itself. */
  before?: Instant;
  threadIds?: string[];
  /** Only runs that belong to a conversation thread. */
  isInThread?: true;
  hasError?: boolean;
  isRoot?: boolean;
  filter?: FilterExpression;
  /** Condition on the root of the run's trace. */
  traceFilter?: FilterExpression;
  /** Condition that any run of the run's trace meets. */
  treeFilter?: FilterExpression;
}

/** Days from the window within which the other runs of a trace are searched, instead of on every day. */
export const TRACE_DAYS = 1;
/** The same distance in SQL. */
export const TRACE_SPAN = `interval '${TRACE_DAYS} day'`;

/** The selection with the starts of the runs that it names by their ids. */
export async function located(
  database: Pick<EntityManager, 'query'>,
  tenantId: TenantId,
  selection: RunSelection,
): Promise<RunSelection> {
  if (!selection.ids) return selection;
  return { ...selection, starts: (await startsOf(database, tenantId, selection.ids)) ?? null };
}

/** Conditions on the starts of the other runs in the traces of selected runs. */
export function aroundSelection(
  { from, to, before, starts }: RunSelection,
  column: string,
  params: SqlParams,
): string[] {
  const first = from ?? starts?.[0];
  const last = to ?? before ?? starts?.[1];
  return [
    ...(first ? [`${column} >= ${params.add(addDays(first, -TRACE_DAYS), 'timestamptz')}`] : []),
    ...(last ? [`${column} <= ${params.add(addDays(last, TRACE_DAYS), 'timestamptz')}`] : []),
  ];
}

/** The selection as a condition over `trace_runs r`. The tenant is part of it, always. */
export function selectionToSql(tenantId: TenantId, selection: RunSelection, params: SqlParams): string {
  const tenant = params.add(tenantId, 'uuid');
  const where = [`r.tenant_id = ${tenant}`];
  const { ids, starts, projectIds, from, to, before } = selection;
  if (projectIds) where.push(projects(projectIds, params));
  if (ids) {
    where.push(
      `(r.project_id, r.start_time, r.run_id) IN (
        SELECT k.project_id, k.start_time, k.run_id FROM trace_run_keys k
        WHERE k.tenant_id = ${tenant} AND k.run_id = ANY (${params.add(ids, 'uuid[]')}))`,
    );
  }
  if (starts === null) where.push('false');
  if (starts) {
    const [first, last] = starts.map((start) => params.add(start, 'timestamptz'));
    where.push(`r.start_time BETWEEN ${first} AND ${last}`);
  }
  if (from) where.push(`r.start_time >= ${params.add(from, 'timestamptz')}`);
  if (to) where.push(`r.start_time <= ${params.add(to, 'timestamptz')}`);
  if (before) where.push(`r.start_time < ${params.add(before, 'timestamptz')}`);
  if (selection.threadIds) where.push(`r.thread_id = ANY (${params.add(selection.threadIds, 'text[]')})`);
  if (selection.isInThread) where.push('r.thread_id IS NOT NULL');
  if (selection.traceId) where.push(`r.trace_id = ${params.add(selection.traceId, 'uuid')}`);
  if (selection.traceIds) where.push(`r.trace_id = ANY (${params.add(selection.traceIds, 'uuid[]')})`);
  if (selection.parentRunId) where.push(`r.parent_run_id = ${params.add(selection.parentRunId, 'uuid')}`);
  if (selection.runType) where.push(`r.run_type = ${params.add(selection.runType.toLowerCase(), 'text')}`);
  if (selection.referenceExampleIds) {
    where.push(`r.reference_example_id = ANY (${params.add(selection.referenceExampleIds, 'uuid[]')})`);
  }
  // Constants rather than parameters, so that the planner recognises the conditions of the partial indexes.
  if (selection.hasError !== undefined) where.push(`r.status ${selection.hasError ? '=' : '<>'} 'error'`);
  if (selection.isRoot !== undefined) where.push(`r.parent_run_id IS ${selection.isRoot ? '' : 'NOT '}NULL`);
  if (selection.filter) where.push(filterToSql(selection.filter, params));
  for (const [expression, only] of [
    [selection.traceFilter, 'r.parent_run_id IS NULL'],
    [selection.treeFilter, 'true'],
  ] as const) {
    if (!expression) continue;
    const inner = [`r.tenant_id = ${tenant}`, only];
    if (projectIds) inner.push(projects(projectIds, params));
    inner.push(...aroundSelection(selection, 'r.start_time', params));
    if (selection.traceId) inner.push(`r.trace_id = ${params.add(selection.traceId, 'uuid')}`);
    inner.push(filterToSql(expression, params));
    where.push(`r.trace_id IN (SELECT r.trace_id FROM trace_runs r WHERE ${inner.join(' AND ')})`);
  }
  return where.join('\n  AND ');
}

/** A single project is an equality, so that the order of the primary key can be used. */
function projects(projectIds: string[], params: SqlParams): string {
  return projectIds.length === 1
    ? `r.project_id = ${params.add(projectIds[0], 'uuid')}`
    : `r.project_id = ANY (${params.add(projectIds, 'uuid[]')})`;
}
