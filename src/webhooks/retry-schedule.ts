/**
 * The default waits are 1 s, 3 s, 10 s, 1 min, 5 min, 30 min, 2 h, 5 h, 8 h and 10 h: 11 attempts in
 * 1 + 3 + 10 + 60 + 300 + 1 800 + 7 200 + 18 000 + 28 800 + 36 000 = 92 174 s, 25.6 hours (30.7 with all the jitter).
 * The long tail is that of Standard Webhooks; its beginning is denser, since most failures are a receiver's restart.
 */
export class RetrySchedule {
  /** Up to a fifth more, never less: retries after an outage spread out, and no wait is shorter than documented. */
  private static readonly JITTER = 0.2;
  private static readonly LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;

  constructor(
    private readonly delaysMs: readonly number[],
    private readonly random: () => number = Math.random,
  ) {}

  get maxAttempts(): number {
    return this.delaysMs.length + 1;
  }

  /**
   * Wait after the failed `attempt` (1 is the first). A delay that the receiver asks for can only make it longer. A delivery that
   * was stored when the schedule was longer has more attempts than this one has waits: the last wait is then repeated.
   */
  delayAfter(attempt: number, retryAfterMs = 0): number {
    const planned = this.delaysMs[attempt - 1] ?? this.delaysMs.at(-1) ?? 0;
    const requested = Math.min(retryAfterMs, RetrySchedule.LONGEST_RETRY_AFTER_MS);
    return Math.round(Math.max(planned, requested) * (1 + this.random() * RetrySchedule.JITTER));
  }
}

/** Retry-After in milliseconds: seconds or a date, as RFC 9110 has it. Undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Every form of a date that RFC 9110 allows begins with a weekday; a bare number would be read as a year.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
