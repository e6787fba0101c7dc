import { FilterError } from './filter-error';
import type { FilterLiteral } from './filter-ast';

export type Token =
  | { type: '(' | ')' | '[' | ']' | ',' | 'end'; position: number }
  | { type: 'name'; name: string; position: number }
  | { type: 'literal'; value: FilterLiteral; position: number };

const SPACE = /\s*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_.]*/y;
/** Dates may stand without quotes, as the grammar of the original language has them. */
const DATE = /\d{4}-\d{2}-\d{2}(?:T[0-9:.]+(?:Z|[+-]\d{2}:?\d{2})?)?/y;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const INTEGER = /^[+-]?\d+$/;
const PUNCTUATION = new Set(['(', ')', '[', ']', ',']);
const CONSTANTS = new Map<string, FilterLiteral>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['none', null],
]);
const ESCAPES: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '0': '\0' };

/** Cuts a filter into tokens; strings are unescaped. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    const [matched] = pattern.exec(text) ?? [];
    return matched;
  };
  for (;;) {
    position += take(SPACE)?.length ?? 0;
    const char = text[position];
    if (char === undefined) {
      tokens.push({ type: 'end', position });
      return tokens;
    }
    if (PUNCTUATION.has(char)) {
      tokens.push({ type: char as '(', position });
      position += 1;
      continue;
    }
    if (char === '"' || char === "'") {
      const { value, end } = readString(text, position);
      tokens.push({ type: 'literal', value, position });
      position = end;
      continue;
    }
    const word = take(NAME);
    if (word !== undefined) {
      const constant = CONSTANTS.get(word.toLowerCase());
      tokens.push(
        constant === undefined
          ? { type: 'name', name: word, position }
          : { type: 'literal', value: constant, position },
      );
      position += word.length;
      continue;
    }
    const date = take(DATE);
    const number = date === undefined ? take(NUMBER) : undefined;
    const matched = date ?? number;
    if (matched === undefined) throw new FilterError(`unexpected character ${JSON.stringify(char)}`, position);
    const value = date ?? numberOf(number ?? '');
    if (value === Infinity || value === -Infinity) throw new FilterError('the number is too large', position);
    tokens.push({ type: 'literal', value, position });
    position += matched.length;
  }
}

/** Integers keep all of their digits. */
function numberOf(text: string): number | bigint {
  const number = Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) && INTEGER.test(text) ? BigInt(text) : number;
}

function readString(text: string, start: number): { value: string; end: number } {
  const quote = text[start];
  let value = '';
  let position = start + 1;
  for (;;) {
    const char = text[position];
    if (char === undefined) throw new FilterError('the string is not closed', start);
    position += 1;
    if (char === quote) return { value, end: position };
    if (char !== '\\') {
      value += char;
      continue;
    }
    const escape = text[position];
    if (escape === undefined) throw new FilterError('the string is not closed', start);
    const digits = { u: 4, U: 8, x: 2 }[escape];
    if (digits === undefined) {
      value += ESCAPES[escape] ?? escape;
      position += 1;
      continue;
    }
    const hex = text.slice(position + 1, position + 1 + digits);
    const code = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : undefined;
    if (code === undefined || code > 0x10ffff) {
      throw new FilterError(`\\${escape} needs ${digits} hexadecimal digits of a character`, position - 1);
    }
    value += String.fromCodePoint(code);
    position += 1 + digits;
  }
}
