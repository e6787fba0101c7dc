import { isExactNumber, parseExactly } from '../../http/exact-json';
import { checkJson } from '../../http/json-limits';
import { toInstant } from '../instant';
import { storableText } from '../../database/storable-text';
import { storableJsonb } from '../stored-text';
import type { Comparator } from './comparators';
import type { Comparison, FilterExpression, FilterLiteral } from './filter-ast';
import { describeLiteral, FilterError } from './filter-error';
import { fieldDefinition, FieldKind, PairFamily } from './filter-fields';
import { SqlParams } from './sql-params';

/**
 * A filter as a condition over the alias `r` of trace_runs. Every value becomes a parameter; the text contains only constants
 * of this file.
 * @throws {FilterError} when a value doesn't fit its field; parseFilter has checked that for what it returns.
 */
export function filterToSql(expression: FilterExpression, params: SqlParams): string {
  switch (expression.kind) {
    case 'and':
      return conjunction(expression.operands, params);
    case 'or':
      return `(${expression.operands.map((operand) => filterToSql(operand, params)).join(' OR ')})`;
    case 'not':
      // A condition on a missing value is unknown in SQL, but false in the filter language.
      return `((${filterToSql(expression.operand, params)}) IS NOT TRUE)`;
    case 'search':
      return search(
        ['r.name', 'r.error', 'r.inputs', 'r.outputs', 'r.metadata::text', 'r.tags::text'],
        expression.text,
        params,
      );
    case 'comparison':
      return isPaired(expression) ? pairs(expression.field, [expression], params) : column(expression, params);
  }
}

function familyOf(expression: FilterExpression): PairFamily | undefined {
  return expression.kind === 'comparison' ? fieldDefinition(expression.field).family : undefined;
}

function isPaired(expression: Comparison): boolean {
  return fieldDefinition(expression.field).family !== undefined;
}

/**
 * Key and value of one and() bind to the same pair; a second key begins a second pair. Values that precede their keys belong to
 * the next key.
 */
function conjunction(operands: FilterExpression[], params: SqlParams): string {
  const parts: string[] = [];
  const groups = new Map<PairFamily, Comparison[]>();
  const close = (group: Comparison[]): void => {
    const [first] = group;
    if (first) parts.push(pairs(first.field, group, params));
  };
  for (const operand of operands) {
    const family = familyOf(operand);
    if (!family || operand.kind !== 'comparison') {
      parts.push(filterToSql(operand, params));
      continue;
    }
    const group = groups.get(family) ?? [];
    if (isKey(operand) && group.some(isKey)) {
      const end = isKey(group[0]) ? group.length : group.findIndex(isKey) + 1;
      close(group.slice(0, end));
      groups.set(family, [...group.slice(end), operand]);
    } else {
      groups.set(family, [...group, operand]);
    }
  }
  for (const group of groups.values()) close(group);
  return `(${parts.join(' AND ')})`;
}

const isKey = (comparison: Comparison): boolean => fieldDefinition(comparison.field).kind === 'pairKey';

const NEGATION: Partial<Record<Comparator, Comparator>> = { neq: 'eq', nin: 'in', nlike: 'like' };

/**
 * Conditions on one pair. When all are negative the run must have no such pair: `neq(metadata_key, "a")` is "has no a".
 * Beside a positive one, a negative one is about the same pair: `eq(key, "a")` with `neq(value, 1)` is "has another a".
 */
function pairs(field: Comparison['field'], group: Comparison[], params: SqlParams): string {
  const { family } = fieldDefinition(field);
  const direct = family === 'metadata' ? metadataPair(group, params) : undefined;
  if (direct) return direct;
  const negative = group.every(
    ({ comparator, values }) => NEGATION[comparator] !== undefined && !values.includes(null),
  );
  const conditions = group.map((comparison) =>
    column(
      negative ? { ...comparison, comparator: NEGATION[comparison.comparator] ?? comparison.comparator } : comparison,
      params,
    ),
  );
  return `(${negative ? 'NOT ' : ''}EXISTS (SELECT FROM ${pairSource(family ?? 'metadata')} WHERE ${conditions.join(' AND ')}))`;
}

/** The most common case, a value under a known key, without reading all pairs of every run. */
function metadataPair(group: Comparison[], params: SqlParams): string | undefined {
  const key = group.find((comparison) => isKey(comparison));
  const [name] = key?.values ?? [];
  if (key?.comparator !== 'eq' || typeof name !== 'string') return undefined;
  const given = params.add(storableText(name), 'text');
  const conditions = group
    .filter((comparison) => comparison !== key)
    .map((comparison) => column(comparison, params, `(r.metadata ->> ${given})`));
  return `(${[`COALESCE(jsonb_exists(r.metadata, ${given}), false)`, ...conditions].join(' AND ')})`;
}

function pairSource(family: PairFamily): string {
  switch (family) {
    case 'metadata':
      return 'jsonb_each_text(r.metadata) AS p';
    case 'input':
      return 'trace_pairs(r.inputs) AS p';
    case 'output':
      return 'trace_pairs(r.outputs) AS p';
    case 'feedback':
      return `(SELECT f.key, f.score, f.comment, f.value #>> '{}' AS value, f.feedback_source ->> 'type' AS source
        FROM trace_feedback f WHERE f.tenant_id = r.tenant_id AND f.run_id = r.run_id) AS p`;
  }
}

const OPERATORS: Partial<Record<Comparator, string>> = {
  eq: '=',
  neq: 'IS DISTINCT FROM',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

const SQL_TYPES: Partial<Record<FieldKind, string>> = {
  id: 'uuid',
  instant: 'timestamptz',
  duration: 'numeric',
  number: 'numeric',
  pairScore: 'float8',
};

/** A condition on one column (or on one side of a pair). */
function column(comparison: Comparison, params: SqlParams, sql = fieldDefinition(comparison.field).sql): string {
  const { comparator, values, field } = comparison;
  const { kind } = fieldDefinition(field);
  const [value = null] = values;
  switch (kind) {
    case 'boolean':
      return booleanColumn(comparison, sql, value);
    case 'tags':
      return tags(comparison, value, params);
    case 'metadata':
      return metadata(comparison, value, params);
    default:
  }
  switch (comparator) {
    case 'in':
    case 'nin':
      return membership(comparison, sql, kind, params);
    case 'like':
    case 'nlike':
      // Negative ones include what is missing.
      return `((${sql} LIKE ${params.add(pattern(text(comparison, value)), 'text')}) IS ${comparator === 'like' ? '' : 'NOT '}TRUE)`;
    case 'search':
      return search([sql], text(comparison, value), params);
    default:
  }
  if (value === null) return nullTest(comparison, sql);
  const operator = OPERATORS[comparator] ?? '=';
  // Pairs have text; a number in the filter is compared by value rather than by spelling.
  if (kind === 'pairValue' && (typeof value === 'number' || typeof value === 'bigint')) {
    const number = `(CASE WHEN ${sql} ~ '^-?[0-9]{1,30}([.][0-9]{1,30})?$' THEN ${sql}::numeric END)`;
    return `(${number} ${operator} ${params.add(String(value), 'numeric')})`;
  }
  return `(${sql} ${operator} ${params.add(literal(comparison, kind, value), SQL_TYPES[kind] ?? 'text')})`;
}

function nullTest({ comparator, field, position }: Comparison, sql: string): string {
  if (comparator !== 'eq' && comparator !== 'neq')
    throw new FilterError(`${comparator} needs a value, not null`, position);
  // An error determines a run's status, and only the status has an index.
  if (field === 'error') return `(r.status ${comparator === 'eq' ? '<>' : '='} 'error')`;
  return `(${sql} IS ${comparator === 'eq' ? '' : 'NOT '}NULL)`;
}

function membership(comparison: Comparison, sql: string, kind: FieldKind, params: SqlParams): string {
  const given = comparison.values.filter((value) => value !== null).map((value) => literal(comparison, kind, value));
  const orNull = comparison.values.includes(null) ? ` OR ${sql} IS NULL` : '';
  const condition = `(${sql} = ANY (${params.add(given, `${SQL_TYPES[kind] ?? 'text'}[]`)})${orNull})`;
  return comparison.comparator === 'in' ? condition : `(${condition} IS NOT TRUE)`;
}

function booleanColumn({ comparator, position }: Comparison, sql: string, value: FilterLiteral): string {
  const wanted = typeof value === 'string' ? value.toLowerCase() : value;
  if (wanted !== true && wanted !== false && wanted !== 'true' && wanted !== 'false') {
    throw new FilterError('expected true or false', position);
  }
  const positive = (wanted === true || wanted === 'true') === (comparator === 'eq');
  // Same text as in the partial index, so that the planner recognises it.
  return positive ? `(${sql})` : `(NOT ${sql})`;
}

function tags(comparison: Comparison, value: FilterLiteral, params: SqlParams): string {
  const { comparator, values } = comparison;
  if (value === null && (comparator === 'eq' || comparator === 'neq')) {
    return `(cardinality(COALESCE(r.tags, '{}')) ${comparator === 'eq' ? '=' : '>'} 0)`;
  }
  const any = (condition: string): string => `EXISTS (SELECT FROM unnest(r.tags) AS tag WHERE ${condition})`;
  switch (comparator) {
    case 'search':
      return any(search(['tag'], text(comparison, value), params));
    case 'like':
    case 'nlike': {
      const matches = any(`tag LIKE ${params.add(pattern(text(comparison, value)), 'text')}`);
      return comparator === 'like' ? matches : `(NOT ${matches})`;
    }
    default: {
      const wanted = values.map((tag) => text(comparison, tag));
      const overlaps = `(COALESCE(r.tags, '{}') && ${params.add(wanted, 'text[]')})`;
      return comparator === 'neq' || comparator === 'nin' ? `(NOT ${overlaps})` : overlaps;
    }
  }
}

function metadata(comparison: Comparison, value: FilterLiteral, params: SqlParams): string {
  const { comparator } = comparison;
  if (value === null && (comparator === 'eq' || comparator === 'neq')) {
    return `(COALESCE(r.metadata, '{}') ${comparator === 'eq' ? '=' : '<>'} '{}')`;
  }
  const given = text(comparison, value);
  if (comparator === 'search') return search(['r.metadata::text'], given, params);
  if (comparator === 'exists') return `(COALESCE(jsonb_exists(r.metadata, ${params.add(given, 'text')}), false))`;
  const object = jsonObject(given);
  if (!object) {
    // has(metadata, "key") is a common way to test for a key.
    if (comparator === 'has') return `(COALESCE(jsonb_exists(r.metadata, ${params.add(given, 'text')}), false))`;
    throw new FilterError('expected a JSON object in a string', comparison.position);
  }
  const json = params.add(storableJsonb(object), 'jsonb');
  if (comparator === 'has') return `(COALESCE(r.metadata @> ${json}, false))`;
  return `(COALESCE(r.metadata, '{}') ${comparator === 'eq' ? '=' : '<>'} ${json})`;
}

/** Every word must occur in one of the texts, in whatever case. */
function search(columns: string[], given: string, params: SqlParams): string {
  const words = given.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return 'true';
  const conditions = words.map((word) => {
    const plain = storableText(word);
    // In JSON text a word is escaped as in JSON.
    const spellings = new Set([plain, JSON.stringify(plain).slice(1, -1)]);
    const patterns = [...spellings].map((spelling) => `%${spelling.replace(/[\\%_]/g, '\\$&')}%`);
    const any = params.add(patterns, 'text[]');
    return `(${columns.map((sql) => `COALESCE(${sql} ILIKE ANY (${any}), false)`).join(' OR ')})`;
  });
  return `(${conditions.join(' AND ')})`;
}

/** `%` and `_` are wildcards and a backslash escapes; one at the very end stands for itself, where SQL would fail. */
function pattern(given: string): string {
  const trailing = /\\+$/.exec(given)?.[0].length ?? 0;
  return trailing % 2 === 1 ? `${given}\\` : given;
}

function literal(comparison: Comparison, kind: FieldKind, value: FilterLiteral): string | number {
  const fail = (expected: string): never => {
    throw new FilterError(
      `${comparison.field} is compared with ${expected}, not with ${describeLiteral(value)}`,
      comparison.position,
    );
  };
  switch (kind) {
    case 'id':
      return typeof value === 'string' && UUID.test(value) ? value : fail('a UUID');
    case 'instant':
      return (typeof value === 'string' ? toInstant(value) : undefined) ?? fail('an ISO 8601 timestamp');
    case 'number':
    case 'pairScore': {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      if (typeof number === 'boolean') return Number(number);
      if (typeof number === 'bigint') return String(number);
      return typeof number === 'number' && Number.isFinite(number) ? number : fail('a number');
    }
    case 'duration':
      return seconds(value) ?? fail('seconds, or a duration such as "5s", "300ms" or "2m"');
    case 'keyword':
      return text(comparison, value).toLowerCase();
    default:
      return text(comparison, value);
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DURATION = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|m|min|h|d)?\s*$/i;
const UNIT_SECONDS: Record<string, number> = { us: 1e-6, ms: 1e-3, s: 1, m: 60, min: 60, h: 3600, d: 86_400 };

function seconds(value: FilterLiteral): number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return undefined;
  const [, amount, unit = 's'] = DURATION.exec(value) ?? [];
  const factor = UNIT_SECONDS[unit.toLowerCase()];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

function text({ field, position }: Comparison, value: FilterLiteral): string {
  if (value === null) throw new FilterError(`${field} needs a value here, not null`, position);
  return storableText(String(value));
}

function jsonObject(given: string): Record<string, unknown> | undefined {
  try {
    checkJson(given);
    const parsed = parseExactly(given);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) && !isExactNumber(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
