/** A JSON object as a jsonb column holds it. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, but no list and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entries of an object with these keys, in the object's order. */
export function pick(values: JsonObject, keys: string[]): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
}
