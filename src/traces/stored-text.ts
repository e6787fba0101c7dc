import { stringifyExactly } from '../http/exact-json';

/** Postgres holds any text but NUL: a user's stray NUL must not cost the batch that it came in. */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/**
 * JSON for a jsonb column, which refuses \u0000 and lone surrogates. Only the lone ones are written as escapes.
 * The look-behind skips an escaped backslash that happens to be followed by the letters u0000.
 */
export function storableJsonb(value: unknown): string {
  const text = stringifyExactly(value);
  return text.includes('\\u') ? text.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\\ufffd') : text;
}
