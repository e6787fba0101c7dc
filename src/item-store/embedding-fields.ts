/** A text of an item, and where in the value it is. */
export interface FieldText {
  /** Path of a field, such as `title` or `chapters[1].text`. */
  field: string;
  text: string;
}

/** More than that is a document to be split into items, and one call too many for an embedding provider. */
export const MAX_TEXTS = 1000;
/** Values that are looked at, and characters of texts, for one item: callers name the paths, and the process waits meanwhile. */
export const MAX_PLACES = 50_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * The texts at the given paths of a value: `$` for the whole, `a.b` for a field, `list[0]`, `list[-1]` and `list[*]` for
 * elements. Strings as they are, everything else as JSON; what isn't there, empty texts, and what exceeds the limits are left
 * out.
 */
export function textsAt(value: Record<string, unknown>, paths: readonly string[]): FieldText[] {
  const texts = new Map<string, string>();
  let characters = 0;
  for (const place of placesAt(value, paths)) {
    if (texts.has(place.field)) continue;
    const text = textOf(place.value);
    characters += text.length;
    if (characters > MAX_CHARACTERS) break;
    if (text !== '') texts.set(place.field, text);
    if (texts.size === MAX_TEXTS) break;
  }
  return [...texts].map(([field, text]) => ({ field, text }));
}

interface Place {
  field: string;
  value: unknown;
}

/** Values that the paths lead to; none once `MAX_PLACES` values have been looked at. */
function* placesAt(whole: Record<string, unknown>, paths: readonly string[]): Generator<Place> {
  let looked = 0;
  function* walk(value: unknown, tokens: string[], at: number, field: string): Generator<Place> {
    const token = tokens[at];
    looked += 1;
    if (looked > MAX_PLACES) return;
    if (token === undefined) {
      yield { field, value };
    } else if (token.startsWith('[')) {
      if (!Array.isArray(value)) return;
      for (const index of indexesOf(token, value.length)) {
        yield* walk(value[index], tokens, at + 1, `${field}[${index}]`);
        if (looked > MAX_PLACES) return;
      }
    } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, token)) {
      const name = field === '' ? token : `${field}.${token}`;
      yield* walk((value as Record<string, unknown>)[token], tokens, at + 1, name);
    }
  }
  for (const path of new Set(paths)) {
    if (path === '$') yield { field: '$', value: whole };
    else yield* walk(whole, tokensOf(path), 0, '');
  }
}

/** `chapters[*].text` → `chapters`, `[*]`, `text`. */
function tokensOf(path: string): string[] {
  return (path.startsWith('$.') ? path.slice(2) : path).match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
}

/** The elements that `[*]` or `[-1]` means, of a list of that length. */
function* indexesOf(token: string, length: number): Generator<number> {
  if (token === '[*]') {
    for (let index = 0; index < length; index += 1) yield index;
    return;
  }
  const position = Number(token.slice(1, -1));
  const index = position < 0 ? length + position : position;
  if (Number.isInteger(index) && index >= 0 && index < length) yield index;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}
