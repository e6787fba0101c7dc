import { storableJson } from '../database/storable-text';
import { stringifyExactly } from '../http/exact-json';

/** A value for a jsonb column, with numbers as they were sent: a user's stray NUL must not cost the batch that it came in. */
export function storableJsonb(value: unknown): string {
  return storableJson(stringifyExactly(value));
}
