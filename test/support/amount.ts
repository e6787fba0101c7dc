/** Set by `npm run chaos`. */
const IS_FULL = process.env.GANTRY_TEST_FULL === '1';

/** Amount of work of a test: what is enough to prove its property in `npm test`, and the full amount in `npm run chaos`. */
export function amount<T>(bounded: T, full: T): T {
  return IS_FULL ? full : bounded;
}
