import { StoreRefusal } from './store-refusal';
import { isJsonObject } from '../database/json';

/** Adds a value to the statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

export type Filter = Record<string, unknown>;

/** Pattern of numeric text that Postgres can cast without running out of digits. */
const NUMERIC = /^[+-]?(\d{1,200}(\.\d{0,200})?|\.\d{1,200})([eE][+-]?\d{1,3})?$/;
const COMPARISONS: Record<string, string> = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' };
/** More than any real filter needs; a statement can have 65,535 parameters. */
const MAX_CONDITIONS = 500;
const MAX_DEPTH = 50;

/**
 * A condition on the jsonb `column`: every entry of the filter holds. A plain value is compared for equality, an array with its
 * order and length, an object entry by entry; an object of `$` operators is what they say. A value of another type than the
 * operand doesn't match, which is no error.
 * @throws {StoreRefusal} naming the entry whose operator or operand can't be used.
 */
export function filterCondition(column: string, filter: Filter, bind: Bind): string {
  const conditions: string[] = [];
  const add = (condition: string): void => {
    if (conditions.push(condition) > MAX_CONDITIONS) {
      throw new StoreRefusal('filter', `must not have more than ${MAX_CONDITIONS} conditions`, 'meaning');
    }
  };
  const walk = (wanted: Filter, path: string[]): void => {
    for (const [key, value] of Object.entries(wanted)) {
      const here = [...path, key];
      if (here.length > MAX_DEPTH) throw new StoreRefusal('filter', 'is nested too deeply', 'meaning');
      if (path.length === 0 && key.startsWith('$')) {
        throw refuse(here, `${key} is not an operator on whole items: name a field of the value first`);
      }
      const target = `(${column} #> ${bind(here)}::text[])`;
      if (!isJsonObject(value)) {
        add(equals(target, value, bind));
      } else if (Object.keys(value).some((name) => name.startsWith('$'))) {
        for (const [operator, operand] of Object.entries(value)) add(operation(target, operator, operand, here, bind));
      } else {
        add(`jsonb_typeof(${target}) = 'object'`);
        walk(value, here);
      }
    }
  };
  walk(filter, []);
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

function operation(target: string, operator: string, operand: unknown, path: string[], bind: Bind): string {
  switch (operator) {
    case '$eq':
      return equals(target, operand, bind);
    case '$ne':
      return `NOT ${equals(target, operand, bind)}`;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return compares(target, operator, operand, path, bind);
    case '$in':
      return isOneOf(target, operator, operand, path, bind);
    case '$nin':
      return `NOT ${isOneOf(target, operator, operand, path, bind)}`;
    case '$exists':
      if (typeof operand !== 'boolean') throw refuse(path, '$exists takes true or false');
      return `${target} IS ${operand ? 'NOT NULL' : 'NULL'}`;
    default:
      throw refuse(
        path,
        operator.startsWith('$')
          ? `${operator} is not an operator: there are $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin and $exists`
          : `"${operator}" stands beside operators: an object has either operators or fields`,
      );
  }
}

/** Never NULL, so that it can be negated. A field that isn't there equals null. */
function equals(target: string, value: unknown, bind: Bind): string {
  const same = `coalesce(${target}, 'null') = ${bind(JSON.stringify(value ?? null))}::jsonb`;
  return `(${same})`;
}

function isOneOf(target: string, operator: string, operand: unknown, path: string[], bind: Bind): string {
  if (!Array.isArray(operand)) throw refuse(path, `${operator} takes an array`);
  const values = operand.map((value: unknown) => JSON.stringify(value ?? null));
  return `(coalesce(${target}, 'null') = ANY(${bind(values)}::jsonb[]))`;
}

/** Numbers, and texts that are numbers, compare as numbers; other texts (dates, above all) by their characters. */
function compares(target: string, operator: string, operand: unknown, path: string[], bind: Bind): string {
  const sign = COMPARISONS[operator];
  const text = `(${target} #>> '{}')`;
  if (typeof operand === 'number' || (typeof operand === 'string' && NUMERIC.test(operand))) {
    const bound = `${bind(String(operand))}::numeric`;
    return `(CASE jsonb_typeof(${target})
       WHEN 'number' THEN ${text}::numeric ${sign} ${bound}
       WHEN 'string' THEN CASE WHEN ${text} ~ ${bind(NUMERIC.source)} THEN ${text}::numeric ${sign} ${bound} ELSE false END
       ELSE false END)`;
  }
  if (typeof operand === 'string') {
    return `(jsonb_typeof(${target}) = 'string' AND ${text} COLLATE "C" ${sign} ${bind(operand)}::text)`;
  }
  throw refuse(path, `${operator} takes a number or a text`);
}

function refuse(path: string[], reason: string): StoreRefusal {
  return new StoreRefusal(['filter', ...path].join('.'), reason, 'meaning');
}
