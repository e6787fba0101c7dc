import { QueryFailedError } from 'typeorm';

/** What to tell whoever sent it. */
export const UNSTORABLE_TEXT = 'The request contains the character U+0000, which can not be stored';

/** Of jsonb, and of text. */
const CODES = ['22P05', '22021'];

/** Whether Postgres has refused a value for the one character that it doesn't hold; then nothing was stored. */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof QueryFailedError && CODES.includes((error.driverError as { code?: string }).code ?? '');
}
