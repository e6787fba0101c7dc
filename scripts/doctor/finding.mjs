/** Time that a check waits for one answer, in milliseconds. */
export const TIMEOUT_MS = 5_000;
/**
 * Difference between clocks, in milliseconds, that is reported. S3 refuses signatures from 15 minutes on; timers and
 * retention suffer long before.
 */
const SKEW_WARN_MS = 2_000;
const SKEW_FAIL_MS = 60_000;

/** A problem, and what to do about it. */
export class Finding extends Error {
  /**
   * @param {string} message
   * @param {string} hint
   * @param {'FAIL' | 'WARN'} [level]
   */
  constructor(message, hint, level = 'FAIL') {
    super(message);
    this.hint = hint;
    this.level = level;
  }
}

/**
 * @param {string} whose
 * @param {number} theirMs
 * @param {number} askedAt
 */
export function describeSkew(whose, theirMs, askedAt) {
  // The other clock was read between the request and the answer.
  const skew = theirMs - (askedAt + Date.now()) / 2;
  const text = `the clock of ${whose} differs by ${(skew / 1000).toFixed(1)} s`;
  const hint = 'let both machines take their time from NTP';
  if (Math.abs(skew) > SKEW_FAIL_MS) throw new Finding(text, hint);
  if (Math.abs(skew) > SKEW_WARN_MS) throw new Finding(text, hint, 'WARN');
  return text;
}
