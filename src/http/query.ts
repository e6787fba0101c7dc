import { z } from 'zod';
import { parseJson } from './json-limits';

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes']);

/** A flag in a query string, as clients of either language write it. Older clients repeat what a `Location` has: the last counts. */
export const queryFlag = z
  .union([z.string(), z.array(z.string()).min(1)])
  .transform((given) => YES.has([given].flat().at(-1)!.toLowerCase()))
  .optional();

/** A list in a query string: repeated keys, a JSON array, or one value; with a separator also several in one. */
export function queryList<T extends z.ZodType<unknown, string>>(item: T, separator?: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => {
      const values = Array.isArray(given) ? given : [given];
      return values.flatMap((value) => {
        if (value.startsWith('[')) return parseArray(value);
        return separator === undefined ? [value] : value.split(separator);
      });
    })
    .pipe(z.array(item))
    .optional();
}

function parseArray(text: string): string[] {
  try {
    const parsed: unknown = parseJson(text);
    return Array.isArray(parsed) ? parsed.map(String) : [text];
  } catch {
    // Not JSON after all: the item's own schema says what is wrong with the value.
    return [text];
  }
}

/** A whole number in a query string. */
export const queryInteger = (bounds: { min: number; max?: number; default: number }) =>
  z.coerce
    .number()
    .int()
    .min(bounds.min)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER)
    .default(bounds.default);
