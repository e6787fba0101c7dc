import { isDeepStrictEqual } from 'node:util';
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isJsonObject, type JsonObject } from '../../database/json';

/** Condition on a resource's metadata for a user's access: all of the clauses. */
export type AccessFilter = AccessClause[];

/** Condition on the metadata of what a search may find. */
export interface SearchAccess {
  filter: AccessFilter | undefined;
  /** Metadata that all of it has; empty for any. */
  metadata: JsonObject;
}

type AccessClause =
  | { kind: 'eq'; key: string; value: unknown }
  | { kind: 'contains'; key: string; values: unknown[] }
  | { kind: 'or'; groups: AccessFilter[] };

/** Maximum nesting of `$or` and `$and`: more is a mistake. */
const MAX_DEPTH = 2;

/**
 * Reads the filter that a handler returned: `{key: value}`, `{key: {$eq: value}}`, `{key: {$contains: value or [values]}}`,
 * `$or` and `$and` with lists of two or more.
 * @throws {Error} for anything else: half a filter protects nothing
 */
export function parseAccessFilter(filter: unknown, depth = 0): AccessFilter {
  if (!isJsonObject(filter)) throw new Error('an auth filter must be an object');
  // An alternative without conditions would make all others pointless.
  if (depth > 0 && Object.keys(filter).length === 0) throw new Error('an auth filter has no empty $or or $and');
  return Object.entries(filter).flatMap(([key, condition]): AccessFilter => {
    if (key === '$or' || key === '$and') {
      if (!Array.isArray(condition) || condition.length < 2)
        throw new Error(`${key} of an auth filter takes two or more`);
      if (depth >= MAX_DEPTH) throw new Error('an auth filter nests $or and $and twice at the most');
      const groups = condition.map((group) => parseAccessFilter(group, depth + 1));
      return key === '$and' ? groups.flat() : [{ kind: 'or', groups }];
    }
    if (key.startsWith('$')) throw new Error(`an auth filter has no ${key}`);
    return parseCondition(key, condition);
  });
}

function parseCondition(key: string, condition: unknown): AccessFilter {
  if (!isJsonObject(condition) || !Object.keys(condition).some((name) => name.startsWith('$'))) {
    return [{ kind: 'eq', key, value: condition }];
  }
  return Object.entries(condition).map(([operator, value]) => {
    if (operator === '$eq') return { kind: 'eq', key, value };
    if (operator === '$contains') return { kind: 'contains', key, values: Array.isArray(value) ? value : [value] };
    throw new Error(`an auth filter has no operator ${operator}`);
  });
}

/**
 * The filter as a condition of SQL on a jsonb column; `bind` takes a value and returns its placeholder. Containment comes first
 * in each clause, so that the index of the column is used.
 */
export function accessSql(filter: AccessFilter, column: string, bind: (value: string) => string): string {
  const json = (value: unknown): string => `CAST(${bind(JSON.stringify(value ?? null))} AS jsonb)`;
  const clauses = filter.map((clause) => {
    switch (clause.kind) {
      case 'eq': {
        const contained = `${column} @> ${json({ [clause.key]: clause.value ?? null })}`;
        // Of a scalar, containment is equality.
        if (typeof clause.value !== 'object' || clause.value === null) return contained;
        return `${contained} AND ${column} -> CAST(${bind(clause.key)} AS text) = ${json(clause.value)}`;
      }
      case 'contains':
        return `${column} @> ${json({ [clause.key]: clause.values })}`;
      case 'or':
        return `(${clause.groups.map((group) => `(${accessSql(group, column, bind)})`).join(' OR ')})`;
    }
  });
  return clauses.length > 0 ? clauses.join(' AND ') : 'TRUE';
}

/** The condition on a search as SQL, in the same way; undefined where it finds everything. */
export function searchAccessSql(
  { filter, metadata }: SearchAccess,
  column: string,
  bind: (value: string) => string,
): string | undefined {
  const clauses = [
    ...(filter ? [`(${accessSql(filter, column, bind)})`] : []),
    ...(Object.keys(metadata).length > 0 ? [`${column} @> CAST(${bind(JSON.stringify(metadata))} AS jsonb)`] : []),
  ];
  return clauses.length > 0 ? clauses.join(' AND ') : undefined;
}

/** The same filter without conditions on fields that the object doesn't have. */
export function whereSaid(filter: AccessFilter, object: Record<string, unknown>): AccessFilter {
  return filter.flatMap((clause): AccessFilter => {
    if (clause.kind !== 'or') return clause.key in object ? [clause] : [];
    // An alternative without conditions would make all others pointless.
    const groups = clause.groups.map((group) => whereSaid(group, object)).filter((group) => group.length > 0);
    return groups.length > 0 ? [{ kind: 'or', groups }] : [];
  });
}

/** Whether an object matches the filter, with the same result as its SQL. */
export function matchesAccess(filter: AccessFilter, object: Record<string, unknown>): boolean {
  return filter.every((clause) => {
    switch (clause.kind) {
      case 'eq':
        return clause.key in object && isDeepStrictEqual(object[clause.key], clause.value ?? null);
      case 'contains': {
        const list = object[clause.key];
        return (
          Array.isArray(list) &&
          clause.values.every((value) => list.some((element) => isDeepStrictEqual(element, value)))
        );
      }
      case 'or':
        return clause.groups.some((group) => matchesAccess(group, object));
    }
  });
}

/** Adds the filter, if there is one, to a query. `column` is the metadata, as the query's alias has it. */
export function restrict<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  column: string,
  filter: AccessFilter | undefined,
): SelectQueryBuilder<T> {
  return filter ? query.andWhere(`(${accessSql(filter, column, parametersOf(query))})`) : query;
}

/** Takes values for a query, and returns their placeholders. */
export function parametersOf<T extends ObjectLiteral>(query: SelectQueryBuilder<T>): (value: string) => string {
  let count = 0;
  return (value) => {
    const name = `access${count++}`;
    query.setParameter(name, value);
    return `:${name}`;
  };
}
