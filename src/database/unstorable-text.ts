import { postgresErrorOf } from './sql-errors';

/** Sentence for the client that sent it. */
export const UNSTORABLE_TEXT =
  'The request contains the character U+0000, or half of a surrogate pair, which cannot be stored';

/** SQLSTATEs for text that Postgres rejects: 22P05 from jsonb, 22021 from text. */
const CODES = ['22P05', '22021'];
/** Message of jsonb for lone surrogates, whose code is that of any invalid JSON; text of clients is always valid JSON. */
const INVALID_TEXT = '22P02';

/** Data exceptions, and what exceeds a limit of Postgres: the same content fails each time. */
const CONTENT_CLASSES = ['22', '54'];

/** Whether Postgres has refused a value for characters that it can't hold; then nothing was stored. */
export function isUnstorableText(error: unknown): boolean {
  const failure = postgresErrorOf(error);
  if (!failure) return false;
  const { code, detail } = failure;
  return CODES.includes(code) || (code === INVALID_TEXT && detail.includes('surrogate'));
}

/** Whether a statement failed for what it was to store: repeated with the same content, it would fail again. */
export function isContentError(error: unknown): boolean {
  // What is too long or too deep for JSON or for a message to Postgres.
  if (error instanceof RangeError) return true;
  const failure = postgresErrorOf(error);
  return failure !== undefined && CONTENT_CLASSES.includes(failure.code.slice(0, 2));
}
