/** A text of an item, and where in the value it is. */
export interface FieldText {
  /** Such as `title` or `chapters[1].text`. */
  field: string;
  text: string;
}

/** More than that is a document to be split into items, and one call too many for an embedding provider. */
export const MAX_TEXTS = 1000;

/**
 * The texts at the given paths of a value: `$` for the whole, `a.b` for a field, `list[0]`, `list[-1]` and `list[*]` for
 * elements. Strings as they are, everything else as JSON; what isn't there, and empty texts, are left out.
 */
export function textsAt(value: Record<string, unknown>, paths: readonly string[]): FieldText[] {
  const texts = new Map<string, string>();
  for (const path of paths) {
    const found = path === '$' ? [{ field: '$', value: value as unknown }] : [...walk(value, tokens(path), '')];
    for (const each of found) {
      const text = textOf(each.value);
      if (text !== '') texts.set(each.field, text);
    }
  }
  return [...texts].map(([field, text]) => ({ field, text })).slice(0, MAX_TEXTS);
}

/** `chapters[*].text` → `chapters`, `[*]`, `text`. */
function tokens(path: string): string[] {
  return (path.startsWith('$.') ? path.slice(2) : path).match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
}

function* walk(
  value: unknown,
  [token, ...rest]: string[],
  field: string,
): Generator<{ field: string; value: unknown }> {
  if (token === undefined) {
    yield { field, value };
  } else if (token.startsWith('[')) {
    if (!Array.isArray(value)) return;
    const position = Number(token.slice(1, -1));
    for (const [index, element] of value.entries()) {
      const wanted = token === '[*]' || index === (position < 0 ? value.length + position : position);
      if (wanted) yield* walk(element, rest, `${field}[${index}]`);
    }
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, token)) {
    yield* walk((value as Record<string, unknown>)[token], rest, field === '' ? token : `${field}.${token}`);
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}
