/**
 * A moment with microseconds, as `2026-11-21T09:30:00.123456Z`: always UTC, always 27 characters, so that the order of
 * the strings is the order of the moments. A JavaScript Date would cut the microseconds that order a trace's runs.
 */
export type Instant = string & { readonly brand: 'Instant' };

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;
/** The most common form, which needs no calendar: UTC with microseconds, on a day that every month has. */
const UTC_MICROS =
  /^((?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6})(?:Z|\+00:00)$/;
const CANONICAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;

/** Range of times as a number of milliseconds: years 1970 to 9999. */
const MAX_MILLISECONDS = 253_402_300_799_999;
const DAY_MS = 86_400_000;

/**
 * Reads a time of trace clients: ISO 8601 with an offset, with `Z` or naive (then UTC), and milliseconds since 1970.
 * @returns undefined when it is none of these.
 */
export function toInstant(value: unknown): Instant | undefined {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value < 0 || value > MAX_MILLISECONDS) return undefined;
    const micros = Math.round((value % 1) * 1000);
    return compose(Math.trunc(value) + Math.trunc(micros / 1000), String(micros % 1000).padStart(3, '0'));
  }
  if (typeof value !== 'string') return undefined;
  const utc = UTC_MICROS.exec(value);
  if (utc) return `${utc[1]}Z` as Instant;
  const match = ISO.exec(value.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const digits = fraction.padEnd(6, '0');
  const milliseconds = date.getTime() - offsetMs(zone) + Number(digits.slice(0, 3));
  return milliseconds < 0 || milliseconds > MAX_MILLISECONDS ? undefined : compose(milliseconds, digits.slice(3, 6));
}

export function isInstant(value: string): value is Instant {
  return CANONICAL.test(value) && toInstant(value) === value;
}

export function instantOf(date: Date): Instant {
  return compose(date.getTime(), '000');
}

/** The same time of another day, within the range of times. */
export function addDays(instant: Instant, days: number): Instant {
  const milliseconds = Date.parse(`${instant.slice(0, 23)}Z`) + days * DAY_MS;
  return compose(Math.min(milliseconds, MAX_MILLISECONDS), instant.slice(23, 26));
}

/** The UTC day of a moment, `2026-11-21`. */
export function utcDay(instant: Instant): string {
  return instant.slice(0, 10);
}

function compose(milliseconds: number, micros: string): Instant {
  return new Date(milliseconds).toISOString().replace('Z', `${micros}Z`) as Instant;
}

function offsetMs(zone: string | undefined): number {
  const match = zone ? /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) : null;
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}

/** Seconds with microseconds; null without an end. */
export function latencySeconds(start: Instant, end: Instant | null): number | null {
  if (end === null) return null;
  const micros = (instant: Instant): number =>
    Date.parse(`${instant.slice(0, 23)}Z`) * 1000 + Number(instant.slice(23, 26));
  return (micros(end) - micros(start)) / 1_000_000;
}
