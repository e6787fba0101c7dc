import { isJsonObject } from '../database/json';
import { ROLES, TASK_STATE } from './a2a.schemas';

/** Fields whose values are the caller's own: the keys in them are no names of the protocol. */
const OPAQUE = new Set(['metadata', 'data']);
const WHOLE_NUMBERS = new Set(['historyLength', 'pageSize']);

/** Names of an enum's values, by number. */
const ENUMS: Record<string, readonly string[]> = { role: ROLES, status: TASK_STATE };

/**
 * Parameters of 1.0 in the form that is checked, from any form that ProtoJSON allows: field names in snake_case as in camelCase,
 * enum values by number as by name, whole numbers as text, and base64 in its URL-safe alphabet and without padding.
 * @see https://protobuf.dev/programming-guides/json/
 */
export function fromProtoJson(params: unknown): unknown {
  if (Array.isArray(params)) return params.map(fromProtoJson);
  if (!isJsonObject(params)) return params;
  return Object.fromEntries(
    Object.entries(params).map(([written, value]) => {
      const name = toCamelCase(written);
      return [name, OPAQUE.has(name) ? value : toField(name, value)];
    }),
  );
}

function toField(name: string, value: unknown): unknown {
  if (typeof value === 'number' && Object.hasOwn(ENUMS, name)) return ENUMS[name][value] ?? value;
  if (typeof value !== 'string') return fromProtoJson(value);
  if (WHOLE_NUMBERS.has(name) && /^-?\d+$/.test(value)) return Number(value);
  return name === 'raw' ? toPlainBase64(value) : value;
}

const toCamelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function toPlainBase64(text: string): string {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=');
}
