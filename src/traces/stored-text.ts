import { storableJson } from '../database/storable-text';
import { stringifyExactly } from '../http/exact-json';

/** A value for a jsonb column, with numbers as they were sent: a stray NUL must not fail the whole batch. */
export function storableJsonb(value: unknown): string {
  return storableJson(stringifyExactly(value));
}
