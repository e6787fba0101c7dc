/** A JSON object as a jsonb column holds it. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, but no list and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
