import { QueryFailedError } from 'typeorm';

/** What to tell whoever sent it. */
export const UNSTORABLE_TEXT = 'The body contains the character U+0000, which can not be stored';

/** Whether Postgres has refused a value for the one character that jsonb doesn't hold; then nothing was stored. */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof QueryFailedError && (error.driverError as { code?: string }).code === '22P05';
}
