/** Types of an exported column. They belong to the format version and are never guessed from the data. */
export type ColumnType = 'text' | 'timestamp' | 'double' | 'integer' | 'boolean';

export interface ExportColumn {
  name: string;
  type: ColumnType;
  /** Over alias `r` of trace_runs. Instants are microseconds since the epoch, documents are JSON text. */
  sql: string;
  /** Over alias `r`: what the value weighs, for columns that can be large. Stored lengths are read, not the values. */
  size?: string;
}

const text = (name: string, sql = `r.${name}`): ExportColumn => ({ name, type: 'text', sql });
const document = (name: string): ExportColumn => ({
  name,
  type: 'text',
  sql: `r.${name}`,
  size: `coalesce(octet_length(r.${name}), 0)`,
});
const timestamp = (name: string): ExportColumn => ({
  name,
  type: 'timestamp',
  sql: `(extract(epoch FROM r.${name}) * 1000000)::bigint`,
});
const integer = (name: string): ExportColumn => ({ name, type: 'integer', sql: `coalesce(r.${name}, 0)` });
const cost = (name: string): ExportColumn => ({ name, type: 'double', sql: `r.${name}::double precision` });

/** The columns of an export that names none, in the order in which they are written. */
export const DEFAULT_COLUMNS: readonly ExportColumn[] = [
  cost('completion_cost'),
  integer('completion_tokens'),
  text('dotted_order'),
  timestamp('end_time'),
  document('error'),
  document('events'),
  document('extra'),
  text('feedback_stats', 'r.feedback_stats::text'),
  timestamp('first_token_time'),
  text('id', 'r.run_id::text'),
  document('inputs'),
  { name: 'is_root', type: 'boolean', sql: 'r.parent_run_id IS NULL' },
  text('name'),
  document('outputs'),
  text('parent_run_id', 'r.parent_run_id::text'),
  text('parent_run_ids', 'to_json(r.parent_run_ids)::text'),
  cost('prompt_cost'),
  integer('prompt_tokens'),
  text('reference_example_id', 'r.reference_example_id::text'),
  text('run_type'),
  text('session_id', 'r.project_id::text'),
  timestamp('start_time'),
  text('status'),
  text('tags', 'to_json(r.tags)::text'),
  text('tenant_id', 'r.tenant_id::text'),
  cost('total_cost'),
  integer('total_tokens'),
  text('trace_id', 'r.trace_id::text'),
  text('trace_tier'),
];

/** Columns that are written only when they are named: each costs a look into another table. */
const ON_REQUEST: readonly ExportColumn[] = [
  text(
    'feedbacks',
    `(SELECT coalesce(json_agg(json_build_object('id', f.feedback_id, 'key', f.key, 'score', f.score, 'value', f.value,
        'comment', f.comment, 'correction', f.correction, 'created_at', f.created_at) ORDER BY f.created_at, f.feedback_id),
        '[]')::text
      FROM trace_feedback f WHERE f.tenant_id = r.tenant_id AND f.run_id = r.run_id)`,
  ),
];

const BY_NAME = new Map([...DEFAULT_COLUMNS, ...ON_REQUEST].map((column) => [column.name, column]));

export const EXPORT_FIELDS: readonly string[] = [...BY_NAME.keys()];

/** The columns of an export: those it names, in their fixed order, or the default ones. */
export function exportColumns(fields: readonly string[] | null): ExportColumn[] {
  if (!fields) return [...DEFAULT_COLUMNS];
  const wanted = new Set(fields);
  return [...BY_NAME.values()].filter(({ name }) => wanted.has(name));
}
