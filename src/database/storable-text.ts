/** Text in a form that text and jsonb columns can store: without U+0000 and halves of surrogate pairs. */
export function storableText(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(UNSTORABLE_ALL, '\ufffd') : text;
}

const UNSTORABLE = /\0|\p{Surrogate}/u;
const UNSTORABLE_ALL = new RegExp(UNSTORABLE, 'gu');

/**
 * JSON text, as JSON.stringify writes it, for a jsonb column, which refuses \u0000 and halves of surrogate pairs. Only the
 * halves are written as escapes. The lookbehind skips an escaped backslash that happens to be followed by such letters.
 */
export function storableJson(json: string): string {
  return json.includes('\\u') ? json.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\\ufffd') : json;
}
