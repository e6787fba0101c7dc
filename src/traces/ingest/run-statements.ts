import type { TenantId } from '../../auth/tenant';
import { textArray } from '../../database/binary-array';
import { parseExactly } from '../../http/exact-json';
import { Instant } from '../instant';
import { parseDottedOrder } from '../dotted-order';
import { storableJsonb } from '../stored-text';
import { ExtraColumns, RunChange, RunField } from './run-merge';
import { extraColumns } from './run-operation';
import type { Usage } from './usage';

/** The primary key of a stored run without the tenant. */
export interface RunPlace {
  projectId: string;
  startTime: Instant;
}

/** The place of a run by what is known of it; null before its project and start are. */
export function placeOf(change: RunChange): RunPlace | null {
  const { project, start_time: start } = change;
  return project && start ? { projectId: project.value, startTime: start.value as Instant } : null;
}

export interface NewRun {
  runId: string;
  place: RunPlace;
  change: RunChange;
  ranks: string | null;
}

/** The fields of `change` replace the stored ones; the run moves when its new place differs. */
export interface ChangedRun extends NewRun {
  storedAt: RunPlace;
}

interface ColumnWriter {
  column: string;
  type: string;
  /** Replaced together, nulls included, when this field of the run is replaced. */
  field: RunField;
  read: (row: Row) => string | null | undefined;
}

/** A change with the parts that several columns are made of. */
interface Row {
  change: RunChange;
  usage?: Usage;
  extra?: ExtraColumns;
}

const plain = (column: RunField, type: string): ColumnWriter => ({
  column,
  type,
  field: column,
  read: ({ change }) => change[column]?.value,
});
const usage = (column: Exclude<keyof Usage, 'details'>, type: string): ColumnWriter => ({
  column,
  type,
  field: 'usage',
  read: (row) => row.usage?.[column]?.toString(),
});

/** Every column that a run's fields fill; project_id and start_time are the place. */
const COLUMNS: ColumnWriter[] = [
  plain('name', 'text'),
  plain('run_type', 'text'),
  plain('end_time', 'timestamptz'),
  plain('trace_id', 'uuid'),
  plain('parent_run_id', 'uuid'),
  plain('dotted_order', 'text'),
  {
    column: 'parent_run_ids',
    type: 'uuid[]',
    field: 'dotted_order',
    read: ({ change }) =>
      change.dotted_order && `{${parseDottedOrder(change.dotted_order.value)?.ancestors.join(',') ?? ''}}`,
  },
  plain('error', 'text'),
  plain('inputs', 'text'),
  plain('outputs', 'text'),
  plain('extra', 'text'),
  { column: 'metadata', type: 'jsonb', field: 'extra', read: ({ extra }) => extra?.metadata },
  { column: 'thread_id', type: 'text', field: 'extra', read: ({ extra }) => extra?.thread_id },
  plain('events', 'text'),
  plain('serialized', 'text'),
  {
    column: 'tags',
    type: 'text[]',
    field: 'tags',
    read: ({ change }) => change.tags && arrayLiteral(JSON.parse(change.tags.value) as string[]),
  },
  plain('reference_example_id', 'uuid'),
  usage('prompt_tokens', 'bigint'),
  usage('completion_tokens', 'bigint'),
  usage('total_tokens', 'bigint'),
  usage('prompt_cost', 'numeric'),
  usage('completion_cost', 'numeric'),
  usage('total_cost', 'numeric'),
  {
    column: 'usage_details',
    type: 'jsonb',
    field: 'usage',
    read: (row) => row.usage?.details && storableJsonb(row.usage.details),
  },
  plain('first_token_time', 'timestamptz'),
];

/** The columns that show whether a field has a value; the rest follow one of these. */
export const FIELD_PRESENCE: Record<Exclude<RunField, 'project' | 'usage'>, string> & { usage: string } = {
  name: 'true',
  run_type: 'true',
  start_time: 'true',
  trace_id: 'true',
  dotted_order: 'true',
  parent_run_id: 'r.parent_run_id IS NOT NULL',
  end_time: 'r.end_time IS NOT NULL',
  error: 'r.error IS NOT NULL',
  inputs: 'r.inputs IS NOT NULL',
  outputs: 'r.outputs IS NOT NULL',
  extra: 'r.extra IS NOT NULL',
  events: 'r.events IS NOT NULL',
  serialized: 'r.serialized IS NOT NULL',
  tags: 'r.tags IS NOT NULL',
  reference_example_id: 'r.reference_example_id IS NOT NULL',
  usage: 'num_nonnulls(r.total_tokens, r.total_cost) > 0',
  first_token_time: 'r.first_token_time IS NOT NULL',
};

const INSERT_COLUMNS = COLUMNS.map(({ column }) => column).join(', ');
/** Parameters 1 to 5 are the tenant, run ids, projects, start times and ranks. */
const FIRST_COLUMN = 6;
const unnested = COLUMNS.map((_, index) => `$${index + FIRST_COLUMN}::text[]`).join(', ');
const typed = COLUMNS.map(({ column, type }) => `v.${column}::${type}`).join(', ');
const V_COLUMNS = `run_id, project_id, start_time, merge_ranks, ${INSERT_COLUMNS}`;
const STATUS = (error: string, endTime: string): string =>
  `CASE WHEN ${error} IS NOT NULL THEN 'error' WHEN ${endTime} IS NOT NULL THEN 'success' ELSE 'pending' END`;

/**
 * When a run is received or changed: the time of the statement, since that of its transaction may be long before the first lock that
 * shows others that it writes runs. An export waits for those, and includes what was received before.
 */
export const WRITTEN_AT = 'statement_timestamp()';

/** Inserts runs; its parameters are those of {@link runParameters}. */
export const INSERT_RUNS = `
  INSERT INTO trace_runs (tenant_id, run_id, project_id, start_time, merge_ranks, status, received_at, updated_at, ${INSERT_COLUMNS})
  SELECT $1::uuid, v.run_id, v.project_id, v.start_time, v.merge_ranks, ${STATUS('v.error', 'v.end_time')},
    ${WRITTEN_AT}, ${WRITTEN_AT}, ${typed}
  FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], ${unnested}) AS v (${V_COLUMNS})`;

/**
 * Changes stored runs. Its parameters are those of {@link runParameters}, followed by the replaced fields and the current places of
 * the rows, and by the range of their start times, by which only the partitions of these days are planned and locked.
 */
const CHANGED = FIRST_COLUMN + COLUMNS.length;
export const UPDATE_RUNS = `
  UPDATE trace_runs r SET
    project_id = v.project_id,
    start_time = v.start_time,
    merge_ranks = v.merge_ranks,
    updated_at = ${WRITTEN_AT},
    status = ${STATUS('COALESCE(v.error, r.error)', 'COALESCE(v.end_time::timestamptz, r.end_time)')},
    ${COLUMNS.map(
      ({ column, type, field }) =>
        `${column} = CASE WHEN strpos(v.changed, ',${field},') > 0 THEN v.${column}::${type} ELSE r.${column} END`,
    ).join(',\n    ')}
  FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], ${unnested},
              $${CHANGED}::text[], $${CHANGED + 1}::uuid[], $${CHANGED + 2}::timestamptz[])
    AS v (${V_COLUMNS}, changed, stored_project_id, stored_start_time)
  WHERE r.tenant_id = $1::uuid AND r.project_id = v.stored_project_id
    AND r.start_time = v.stored_start_time AND r.run_id = v.run_id
    AND r.start_time BETWEEN $${CHANGED + 3}::timestamptz AND $${CHANGED + 4}::timestamptz`;

/** Parameters of a statement, one array for each column. */
export function runParameters(tenantId: TenantId, runs: NewRun[]): unknown[] {
  const rows = runs.map(({ change }): Row => ({
    change,
    ...(change.usage && { usage: parseExactly(change.usage.value) as Usage }),
    ...(change.extra && { extra: change.extra.columns ?? extraColumns(parseExactly(change.extra.value)) }),
  }));
  return [
    tenantId,
    runs.map(({ runId }) => runId),
    runs.map(({ place }) => place.projectId),
    runs.map(({ place }) => place.startTime),
    textArray(runs.map(({ ranks }) => ranks)),
    ...COLUMNS.map(({ read }) => textArray(rows.map((row) => read(row) ?? null))),
  ];
}

function arrayLiteral(items: string[]): string {
  return `{${items.map((item) => `"${item.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}
