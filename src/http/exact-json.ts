import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** An integer of 16 digits or more, since shorter ones are below 2^53. It may be inside a string as well. */
const LONG_INTEGER = /(?:^|[[:,\s])-?\d{16,}(?![\d.eE])/;

/** Thrown and caught here alone. */
const NOT_EXACT = new Error('JSON.stringify would round a number');

/** A number that JavaScript can't represent, as its digits. */
class ExactNumber extends LosslessNumber {
  toJSON(): never {
    throw NOT_EXACT;
  }
}

/** Whether a value of `parseExactly` is a number that JavaScript can't represent. */
export function isExactNumber(value: unknown): value is LosslessNumber {
  return value instanceof ExactNumber;
}

/** A number by its digits, exact where JavaScript would round it. */
export function exactNumber(digits: string): number | LosslessNumber {
  return isSafeNumber(digits, { approx: true }) ? Number(digits) : new ExactNumber(digits);
}

/** Whether a text of JSON may hold integers that JSON.parse would round. */
export function hasLongIntegers(text: string): boolean {
  return LONG_INTEGER.test(text);
}

/**
 * Like JSON.parse, except that integers beyond 2^53 become objects that only `stringifyExactly` can write. Nearly all texts
 * have none, and cost no more than with JSON.parse.
 */
export function parseExactly(text: string): unknown {
  if (!hasLongIntegers(text)) return JSON.parse(text);
  return parse(text, undefined, {
    parseNumber: exactNumber,
    // As JSON.parse does.
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** JSON.stringify for results of `parseExactly`. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error !== NOT_EXACT) throw error;
    return stringify(value) ?? 'null';
  }
}
