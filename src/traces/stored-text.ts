import { storableJson } from '../database/storable-text';
import { isExactNumber, stringifyExactly } from '../http/exact-json';

/** Characters of names and ids that are in indexes, whose entries Postgres limits to 2,704 bytes. */
export const MAX_NAME_LENGTH = 1000;

/** End of the error about a longer one, after the name of its field. */
export const NAME_RULE = `must have at most ${MAX_NAME_LENGTH} characters`;

/** Digits that Postgres holds before the point of a number in jsonb. */
const MAX_DIGITS = 131_072;

/** End of the error about a value that `hasStorableNumbers` refuses, after the name of its field. */
export const NUMBER_RULE = `must have no number of more than ${MAX_DIGITS} digits`;

/** Whether jsonb columns hold the numbers of a value that `parseExactly` has read. */
export function hasStorableNumbers(value: unknown): boolean {
  if (isExactNumber(value)) return value.value.replace('-', '').length <= MAX_DIGITS;
  return typeof value !== 'object' || value === null || Object.values(value).every(hasStorableNumbers);
}

/** A value for a jsonb column, with numbers as they were sent: a stray NUL must not fail the whole batch. */
export function storableJsonb(value: unknown): string {
  return storableJson(stringifyExactly(value));
}
