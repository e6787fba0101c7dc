/** A JSON object as a jsonb column holds it. */
export type JsonObject = Record<string, unknown>;
