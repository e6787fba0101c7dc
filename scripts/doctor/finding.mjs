/** Time that a check waits for one answer, in milliseconds. */
export const TIMEOUT_MS = 5_000;

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
