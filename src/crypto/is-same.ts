import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time, for keys of the same length. */
export function isSame(given: string, expected: string | undefined): boolean {
  if (expected === undefined) return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
