import { z } from 'zod';
import { isJsonObject } from '../database/json';

/** Maximum number of elements in all lists of a request together whose elements a schema checks. */
const MAX_ELEMENTS = 20_000;

/** Counts the elements of a value's lists that its schema checks, those of nested lists included. */
type Count = (value: unknown) => number;

const known = new WeakMap<z.ZodType, Count | undefined>();

/**
 * Says why a value is not to be checked: each wrong element of a list is an issue of its own, and half a million of them, which
 * fit into a megabyte, keep the process busy for seconds. Where anything may be an element, any number is allowed.
 * @returns undefined for a value that can be checked
 */
export function tooManyElements(schema: unknown, value: unknown): string | undefined {
  const count = schema instanceof z.ZodType ? counterOf(schema) : undefined;
  if (count === undefined || count(value) <= MAX_ELEMENTS) return undefined;
  return `The lists of a request have at most ${MAX_ELEMENTS} elements together`;
}

/** Undefined for a schema without such lists. */
function counterOf(schema: z.ZodType): Count | undefined {
  // Known before its parts are: they may contain the schema itself.
  if (known.has(schema)) return (value) => known.get(schema)?.(value) ?? 0;
  known.set(schema, undefined);
  const count = newCounter(schema);
  known.set(schema, count);
  return count;
}

function newCounter(schema: z.ZodType): Count | undefined {
  if (schema instanceof z.ZodArray) return elementsOf(schema.element as z.ZodType);
  if (schema instanceof z.ZodRecord) {
    const count = elementsOf(schema.valueType as z.ZodType);
    return count && ((value) => (isJsonObject(value) ? count(Object.values(value)) : 0));
  }
  if (schema instanceof z.ZodObject) return fieldsOf(schema.shape as Record<string, z.ZodType>);
  if (schema instanceof z.ZodUnion) return largest(schema.options as z.ZodType[]);
  if (schema instanceof z.ZodIntersection) return largest([schema.def.left, schema.def.right] as z.ZodType[]);
  if (schema instanceof z.ZodPipe) return largest([schema.def.in, schema.def.out] as z.ZodType[]);
  if (schema instanceof z.ZodLazy) return counterOf(schema.def.getter() as z.ZodType);
  // Optional, nullable, with a default and the like.
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType && counterOf(innerType);
}

/** Elements that may be anything cost nothing. */
function elementsOf(element: z.ZodType): Count | undefined {
  if (element instanceof z.ZodUnknown || element instanceof z.ZodAny) return undefined;
  const inner = counterOf(element);
  return (value) => {
    if (!Array.isArray(value)) return 0;
    // More are refused anyway.
    if (inner === undefined || value.length > MAX_ELEMENTS) return value.length;
    return (value as unknown[]).reduce<number>((sum, each) => sum + inner(each), value.length);
  };
}

function fieldsOf(shape: Record<string, z.ZodType>): Count | undefined {
  const fields = Object.entries(shape).flatMap(([name, field]) => {
    const count = counterOf(field);
    return count ? [[name, count] as const] : [];
  });
  if (fields.length === 0) return undefined;
  return (value) => (isJsonObject(value) ? fields.reduce((sum, [name, count]) => sum + count(value[name]), 0) : 0);
}

function largest(schemas: z.ZodType[]): Count | undefined {
  const counts = schemas.map(counterOf).filter((count) => count !== undefined);
  if (counts.length === 0) return undefined;
  return (value) => Math.max(...counts.map((count) => count(value)));
}
