export type Fields = Record<string, unknown>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an object; none for any other value. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
