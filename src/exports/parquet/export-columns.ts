/** Types of an exported column. They belong to the format version and are never guessed from the data. */
export type ColumnType = 'text' | 'timestamp' | 'double' | 'decimal' | 'integer' | 'boolean';

/** How costs are written: `double`, or `decimal` with 12 decimal places. */
export type CostType = 'double' | 'decimal';

export interface ExportColumn {
  name: string;
  type: ColumnType;
  /**
   * Over alias `r` of trace_runs. Documents are JSON text. Values from which the column's type can be read aren't converted
   * here.
   */
  sql: string;
  /** Form of the column's text if it needs no unescaping, as with ids. */
  form?: 'id' | 'id list';
  /** Value that all rows of an export share: the encoder writes it, and it is not read. */
  constant?: string;
}

const text = (name: string, sql = `r.${name}`): ExportColumn => ({ name, type: 'text', sql });
const id = (name: string, sql = `r.${name}`): ExportColumn => ({ name, type: 'text', sql, form: 'id' });
const timestamp = (name: string): ExportColumn => ({ name, type: 'timestamp', sql: `r.${name}` });
const integer = (name: string): ExportColumn => ({ name, type: 'integer', sql: `coalesce(r.${name}, 0)` });
const cost = (name: string): ExportColumn => ({ name, type: 'double', sql: `r.${name}` });

/** The columns of an export that names none, in the order in which they are written. */
export const DEFAULT_COLUMNS: readonly ExportColumn[] = [
  cost('completion_cost'),
  integer('completion_tokens'),
  text('dotted_order'),
  timestamp('end_time'),
  text('error'),
  text('events'),
  text('extra'),
  text('feedback_stats'),
  timestamp('first_token_time'),
  id('id', 'r.run_id'),
  text('inputs'),
  { name: 'is_root', type: 'boolean', sql: 'r.parent_run_id IS NULL' },
  text('name'),
  text('outputs'),
  id('parent_run_id'),
  { name: 'parent_run_ids', type: 'text', sql: 'r.parent_run_ids', form: 'id list' },
  cost('prompt_cost'),
  integer('prompt_tokens'),
  id('reference_example_id'),
  text('run_type'),
  id('session_id', 'r.project_id'),
  timestamp('start_time'),
  text('status'),
  // to_json took an eighth of the server's time, so it is only called for rows with tags.
  text('tags', `CASE WHEN cardinality(r.tags) = 0 THEN '[]' ELSE to_json(r.tags) END`),
  id('tenant_id'),
  cost('total_cost'),
  integer('total_tokens'),
  id('trace_id'),
  text('trace_tier'),
];

/** DECIMAL(38, 12) ends at 10^26; nothing costs as much, and a number that does must not end an export. */
const asDecimal = (column: ExportColumn): ExportColumn => ({
  ...column,
  type: 'decimal',
  sql: `CASE WHEN abs(r.${column.name}) < 1e26 THEN round(r.${column.name}, 12) END`,
});

/** Columns that are written only if they are named, since each needs another table. */
const ON_REQUEST: readonly ExportColumn[] = [
  text(
    'feedbacks',
    `(SELECT coalesce(json_agg(json_build_object('id', f.feedback_id, 'key', f.key, 'score', f.score, 'value', f.value,
        'comment', f.comment, 'correction', f.correction, 'created_at', f.created_at) ORDER BY f.created_at, f.feedback_id),
        '[]')
      FROM trace_feedback f WHERE f.tenant_id = r.tenant_id AND f.run_id = r.run_id)`,
  ),
];

const BY_NAME = new Map([...DEFAULT_COLUMNS, ...ON_REQUEST].map((column) => [column.name, column]));

export const EXPORT_FIELDS: readonly string[] = [...BY_NAME.keys()];

/** The columns by which rows are ordered. */
const KEY_COLUMNS = [BY_NAME.get('start_time')!, BY_NAME.get('id')!];

/** The settings of an export that determine its columns; `exportFields` is null for the default ones. */
export interface ColumnChoice {
  tenantId: string;
  /** Null if only names and types are needed. */
  sessionId: string | null;
  exportFields: readonly string[] | null;
  costType: CostType;
}

/** The columns of an export: those it names, in their fixed order, or the default ones. */
export function exportColumns({ tenantId, sessionId, exportFields, costType }: ColumnChoice): ExportColumn[] {
  const wanted = new Set(exportFields);
  const columns = exportFields ? [...BY_NAME.values()].filter(({ name }) => wanted.has(name)) : DEFAULT_COLUMNS;
  const constants: Record<string, string> = { tenant_id: tenantId, session_id: sessionId ?? '' };
  return columns.map((column) => {
    if (column.name in constants) return { ...column, constant: constants[column.name] };
    return column.type === 'double' && costType === 'decimal' ? asDecimal(column) : column;
  });
}

/** The columns as they are read, which begin with the key whether it is exported or not. */
export function readColumns(columns: readonly ExportColumn[]): ExportColumn[] {
  const keys = KEY_COLUMNS.map(({ name }) => name);
  return [...KEY_COLUMNS, ...columns.filter(({ name, constant }) => !keys.includes(name) && constant === undefined)];
}
