import { atMost, LATE } from '../../time/at-most';

export type FindingState = 'ok' | 'warning' | 'failure';

/** Outcome of one check of the deployment. */
export interface Finding {
  name: string;
  state: FindingState;
  /** Description of the state that was found, without secrets. */
  detail: string;
  /** Advice; null when nothing needs to be done. */
  remedy: string | null;
}

/** One check. It resolves to what it found, and throws a Problem for what needs attention. */
export interface Check {
  name: string;
  look: () => Promise<string> | string;
  /** Advice for an error that the check doesn't expect, such as a service that doesn't answer. */
  remedy: string;
}

/** Time that a check waits for one answer, in milliseconds. */
export const ANSWER_TIMEOUT_MS = 3_000;
/** Time after which a check counts as failed, in milliseconds: a few answers. */
export const CHECK_TIMEOUT_MS = 5_000;

/**
 * Difference between clocks, in milliseconds, that is reported. S3 refuses signatures from 15 minutes on; timers and
 * retention suffer long before.
 */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAILURE_MS = 60_000;

/** Something that needs attention, and what to do about it. */
export class Problem extends Error {
  constructor(
    detail: string,
    readonly remedy: string,
    readonly state: FindingState = 'failure',
  ) {
    super(detail);
  }
}

/** Carries out a check. Its own failure, and that it doesn't end in time, are findings as well. */
export async function findingOf({ name, look, remedy }: Check, timeoutMs = CHECK_TIMEOUT_MS): Promise<Finding> {
  try {
    const detail = await atMost(timeoutMs, Promise.resolve().then(look));
    if (detail === LATE) return { name, state: 'failure', detail: `no answer within ${timeoutMs / 1000} s`, remedy };
    return { name, state: 'ok', detail, remedy: null };
  } catch (error) {
    if (error instanceof Problem) return { name, state: error.state, detail: error.message, remedy: error.remedy };
    return { name, state: 'failure', detail: messageOf(error), remedy };
  }
}

/** The message of an error, and where it has none, as that of several attempts to connect, those of its parts. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : error.name;
}

/**
 * Compares another clock with this process's. The other one was read between the request and the answer.
 * @param whose as in "the clock of the database"
 */
export function compareClock(whose: string, theirMs: number, askedAt: number): string {
  const skew = theirMs - (askedAt + Date.now()) / 2;
  const detail = `the clock of ${whose} differs by ${(skew / 1000).toFixed(1)} s`;
  const remedy = 'Let both machines take their time from NTP.';
  if (Math.abs(skew) > SKEW_FAILURE_MS) throw new Problem(detail, remedy);
  if (Math.abs(skew) > SKEW_WARNING_MS) throw new Problem(detail, remedy, 'warning');
  return detail;
}
