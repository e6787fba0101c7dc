/** U+0000, which Postgres can't hold, and halves of surrogate pairs, which jsonb refuses and text silently replaces. */
const UNSTORABLE = /\0|\p{Surrogate}/u;
const UNSTORABLE_ALL = new RegExp(UNSTORABLE, 'gu');
/**
 * Both in JSON text as JSON.stringify writes it: only halves of pairs are escapes there. The lookbehind skips an escaped
 * backslash that happens to be followed by such letters.
 */
const UNSTORABLE_ESCAPES = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;
/** The halves alone. */
const HALF_ESCAPES = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** End of the error about a text that `isStorable` refuses, after the name of its field. */
export const STORABLE_RULE = 'must be text without U+0000 and halves of surrogate pairs';

/** Whether text and jsonb columns hold the text as it is. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Text in a form that text and jsonb columns can store: without U+0000 and halves of surrogate pairs. */
export function storableText(text: string): string {
  return isStorable(text) ? text : text.replace(UNSTORABLE_ALL, '\ufffd');
}

/** JSON text, as JSON.stringify writes it, for a jsonb column, which refuses \u0000 and halves of surrogate pairs. */
export function storableJson(json: string): string {
  return json.includes('\\u') ? json.replace(UNSTORABLE_ESCAPES, '$1\\ufffd') : json;
}

/** JSON text, as JSON.stringify writes it, for strict parsers, which refuse halves of surrogate pairs. */
export function wellFormedJson(json: string): string {
  return json.includes('\\ud') ? json.replace(HALF_ESCAPES, '$1\\ufffd') : json;
}
