import { isObject } from './fields';

/** The part of JSON Schema that a form can show; fields of any other kind are edited as JSON. */
export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  definitions?: Record<string, JsonSchema>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  format?: string;
  minimum?: number;
  maximum?: number;
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** Keywords whose type the form relies on. */
const KEYWORDS: Record<string, (value: unknown) => boolean> = {
  $ref: isText,
  $defs: isObject,
  definitions: isObject,
  title: isText,
  description: isText,
  enum: Array.isArray,
  anyOf: Array.isArray,
  oneOf: Array.isArray,
  allOf: Array.isArray,
  properties: isObject,
  required: Array.isArray,
};

/** A schema without keywords of a wrong type: a question's schema is whatever its run wrote. */
function checked(schema: unknown): JsonSchema {
  if (!isObject(schema)) return {};
  return Object.fromEntries(Object.entries(schema).filter(([key, value]) => KEYWORDS[key]?.(value) ?? true));
}

interface Resolved {
  schema: JsonSchema;
  /** Names of the definitions that the schema was read from, after those that it is inside of. */
  refs: readonly string[];
}

/**
 * Resolves references, and the non-null alternative of `T | null`. A reference to a definition that the schema is inside of is
 * left out, since a form of it would have no end.
 * @param outer names of the definitions that the schema is inside of
 */
export function resolve(given: unknown, root: JsonSchema, outer: readonly string[] = []): Resolved {
  const schema = checked(given);
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  if (name !== undefined) {
    const { $ref: _, ...rest } = schema;
    if (outer.includes(name)) return { schema: rest, refs: outer };
    const { $defs, definitions } = checked(root);
    const found = $defs?.[name] ?? definitions?.[name];
    return resolve({ ...checked(found), ...rest }, root, [...outer, name]);
  }
  const alternatives = (schema.anyOf ?? schema.oneOf)?.map(checked);
  const real = alternatives?.filter(({ type }) => type !== 'null');
  if (real?.length === 1) return resolve({ ...schema, anyOf: undefined, oneOf: undefined, ...real[0] }, root, outer);
  if (real && real.length > 1 && real.every((each) => each.const !== undefined)) {
    const values = real.map((each) => each.const);
    return { schema: { ...schema, anyOf: undefined, oneOf: undefined, enum: values }, refs: outer };
  }
  if (schema.allOf?.length === 1) {
    return resolve({ ...schema, allOf: undefined, ...checked(schema.allOf[0]) }, root, outer);
  }
  return { schema, refs: outer };
}

export const typeOf = ({ type }: JsonSchema): string | undefined =>
  Array.isArray(type) ? type.find((each) => each !== 'null') : type;

/**
 * The value with which a form of a schema begins: what its fields show before any of them is changed. A box that is not checked
 * shows `false`; other fields without a default are empty.
 */
export function initialOf(schema: JsonSchema): unknown {
  const initial = (given: unknown, outer: readonly string[]): unknown => {
    const { schema: part, refs } = resolve(given, schema, outer);
    if (part.default !== undefined) return part.default;
    if (typeOf(part) === 'boolean') return false;
    if (!part.properties) return undefined;
    const required = Object.entries(part.properties).filter(([name]) => part.required?.includes(name));
    const values = required.map(([name, field]) => [name, initial(field, refs)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  };
  return initial(schema, []);
}
