import type { Comparator } from './comparators';

const EQUALITY: Comparator[] = ['eq', 'neq', 'in', 'nin'];
const ORDER: Comparator[] = ['gt', 'gte', 'lt', 'lte'];
const PATTERN: Comparator[] = ['like', 'nlike', 'search'];

/** The kinds of fields, and the comparators of each. */
export const FIELD_KINDS = {
  id: EQUALITY,
  text: [...EQUALITY, ...ORDER, ...PATTERN],
  /** Compared in lower case, since clients write run types and statuses in either case. */
  keyword: [...EQUALITY, ...PATTERN],
  instant: [...EQUALITY, ...ORDER],
  /** Seconds, or a string with a unit: "5s", "300ms", "2m". */
  duration: [...EQUALITY, ...ORDER],
  number: [...EQUALITY, ...ORDER],
  boolean: ['eq', 'neq'],
  tags: [...EQUALITY, ...PATTERN, 'has'],
  metadata: ['eq', 'neq', 'has', 'exists', 'search'],
  /** The JSON text of a payload. */
  document: ['eq', 'neq', ...PATTERN],
  pairKey: [...EQUALITY, ...PATTERN],
  pairValue: [...EQUALITY, ...ORDER, ...PATTERN],
  pairScore: [...EQUALITY, ...ORDER],
} satisfies Record<string, Comparator[]>;
export type FieldKind = keyof typeof FIELD_KINDS;

/** Keys and values in the same and() refer to the same pair of one of these. */
export type PairFamily = 'metadata' | 'input' | 'output' | 'feedback';

export interface FieldDefinition {
  kind: FieldKind;
  /** SQL over the alias `r` of a run; for a pair's field over the alias `p` of the pair. */
  sql: string;
  family?: PairFamily;
}

const SECONDS = 'extract(epoch FROM r.end_time - r.start_time)';
const pairText = (family: PairFamily, kind: 'pairKey' | 'pairValue', column: string): FieldDefinition => ({
  kind,
  family,
  sql: `p.${column}`,
});

export const FILTER_FIELDS = {
  id: { kind: 'id', sql: 'r.run_id' },
  trace_id: { kind: 'id', sql: 'r.trace_id' },
  parent_run_id: { kind: 'id', sql: 'r.parent_run_id' },
  session_id: { kind: 'id', sql: 'r.project_id' },
  reference_example_id: { kind: 'id', sql: 'r.reference_example_id' },
  name: { kind: 'text', sql: 'r.name' },
  error: { kind: 'text', sql: 'r.error' },
  thread_id: { kind: 'text', sql: 'r.thread_id' },
  dotted_order: { kind: 'text', sql: 'r.dotted_order' },
  trace_tier: { kind: 'keyword', sql: 'r.trace_tier' },
  run_type: { kind: 'keyword', sql: 'r.run_type' },
  status: { kind: 'keyword', sql: 'r.status' },
  start_time: { kind: 'instant', sql: 'r.start_time' },
  end_time: { kind: 'instant', sql: 'r.end_time' },
  first_token_time: { kind: 'instant', sql: 'r.first_token_time' },
  inserted_at: { kind: 'instant', sql: 'r.received_at' },
  latency: { kind: 'duration', sql: SECONDS },
  total_tokens: { kind: 'number', sql: 'COALESCE(r.total_tokens, 0)' },
  prompt_tokens: { kind: 'number', sql: 'COALESCE(r.prompt_tokens, 0)' },
  completion_tokens: { kind: 'number', sql: 'COALESCE(r.completion_tokens, 0)' },
  total_cost: { kind: 'number', sql: 'r.total_cost' },
  prompt_cost: { kind: 'number', sql: 'r.prompt_cost' },
  completion_cost: { kind: 'number', sql: 'r.completion_cost' },
  execution_order: { kind: 'number', sql: '(CASE WHEN r.parent_run_id IS NULL THEN 1 ELSE 2 END)' },
  is_root: { kind: 'boolean', sql: 'r.parent_run_id IS NULL' },
  tags: { kind: 'tags', sql: 'r.tags' },
  metadata: { kind: 'metadata', sql: 'r.metadata' },
  inputs: { kind: 'document', sql: 'r.inputs' },
  outputs: { kind: 'document', sql: 'r.outputs' },
  extra: { kind: 'document', sql: 'r.extra' },
  events: { kind: 'document', sql: 'r.events' },
  metadata_key: pairText('metadata', 'pairKey', 'key'),
  metadata_value: pairText('metadata', 'pairValue', 'value'),
  input_key: pairText('input', 'pairKey', 'key'),
  input_value: pairText('input', 'pairValue', 'value'),
  output_key: pairText('output', 'pairKey', 'key'),
  output_value: pairText('output', 'pairValue', 'value'),
  feedback_key: pairText('feedback', 'pairKey', 'key'),
  feedback_value: pairText('feedback', 'pairValue', 'value'),
  feedback_comment: pairText('feedback', 'pairValue', 'comment'),
  feedback_source: pairText('feedback', 'pairValue', 'source'),
  feedback_score: { kind: 'pairScore', family: 'feedback', sql: 'p.score' },
} as const satisfies Record<string, FieldDefinition>;
export type FilterField = keyof typeof FILTER_FIELDS;

export function fieldDefinition(field: FilterField): FieldDefinition {
  return FILTER_FIELDS[field];
}

export function isFilterField(name: string): name is FilterField {
  return Object.hasOwn(FILTER_FIELDS, name);
}
