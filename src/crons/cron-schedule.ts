import type { CronCalendar, CronDays } from '../temporal/cron-orchestrator';
import { type CronFields, parseCronExpression } from './cron-expression';

const SECOND = 1_000;
const QUARTER = 15 * 60 * SECOND;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
/** 29 February on a given weekday occurs every 28 years, or 40 around a century: a date that isn't within that never occurs. */
const HORIZON_DAYS = 41 * 366;
/** Temporal's calendars end here. */
const LAST_YEAR = 2100;
/** How far back the last tick is looked for, step by step: a frequent one is found in the first. */
const LOOK_BACK = [60 * SECOND, HOUR, DAY, 32 * DAY, 366 * DAY, HORIZON_DAYS * DAY];

const LONG = [1, 3, 5, 7, 8, 10, 12];
const SHORT = [4, 6, 9, 11];
const LEAP_YEARS = [{ start: 2000, end: 2096, step: 4 }];
const COMMON_YEARS = [
  { start: 2001, end: 2097, step: 4 },
  { start: 2002, end: 2098, step: 4 },
  { start: 2003, end: 2099, step: 4 },
  { start: LAST_YEAR, end: LAST_YEAR, step: 1 },
];

/** Months by their length: what is counted from a month's end is another date in each. */
const MONTH_LENGTHS: { length: number; months: number[]; years?: typeof LEAP_YEARS }[] = [
  { length: 31, months: LONG },
  { length: 30, months: SHORT },
  { length: 29, months: [2], years: LEAP_YEARS },
  { length: 28, months: [2], years: COMMON_YEARS },
];

/**
 * The times at which a cron is due. The rules are those of the Temporal Schedule that wakes it: wall-clock times are matched
 * literally, so a time that the change to summer time skips doesn't occur, and one that the change back repeats occurs twice.
 * As in every cron, a day matches one of the two day fields when both are restricted.
 */
export class CronSchedule {
  private readonly fields: CronFields;
  private readonly clock: WallClock;
  private readonly endMs: number;

  /**
   * @param timezone IANA name; UTC when null
   * @param endTime the last moment at which a tick may be
   * @throws {CronSyntaxError} for an expression that can't be read
   */
  constructor(
    readonly expression: string,
    timezone: string | null,
    endTime: Date | null,
  ) {
    this.fields = parseCronExpression(expression);
    this.clock = new WallClock(timezone ?? 'UTC');
    this.endMs = endTime?.getTime() ?? Date.UTC(LAST_YEAR + 1, 0, 1);
  }

  /** The first tick after a moment; null when there is none any more. */
  next(after: Date): Date | null {
    const { months, hours, minutes, seconds } = this.fields;
    let at = Math.floor(after.getTime() / SECOND) * SECOND + SECOND;
    const limit = Math.min(this.endMs, at + HORIZON_DAYS * DAY);
    while (at <= limit) {
      const wall = new Date(at + this.clock.offset(at));
      const toMonth = Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 1) - wall.getTime();
      const timeOfDay = wall.getTime() % DAY;
      const toDay = DAY - timeOfDay;
      const toHour = HOUR - (timeOfDay % HOUR);
      if (!months.includes(wall.getUTCMonth() + 1)) {
        at = this.clock.skip(at, toMonth, toDay, toHour);
      } else if (!this.matchesDay(wall)) {
        at = this.clock.skip(at, toDay, toHour);
      } else if (!hours.includes(wall.getUTCHours())) {
        at = this.clock.skip(at, toHour);
      } else if (!minutes.includes(wall.getUTCMinutes())) {
        at += 60 * SECOND - (timeOfDay % (60 * SECOND));
      } else if (!seconds.includes(wall.getUTCSeconds())) {
        at += SECOND;
      } else {
        return new Date(at);
      }
    }
    return null;
  }

  isTick(moment: Date): boolean {
    return this.next(new Date(moment.getTime() - 1))?.getTime() === moment.getTime();
  }

  /** The newest tick in `(after, until]`; null when there is none. */
  last(after: Date, until: Date): Date | null {
    for (const span of LOOK_BACK) {
      const from = new Date(Math.max(after.getTime(), until.getTime() - span - 1));
      const ticks = this.between(from, until, Infinity);
      if (ticks.length > 0) return ticks[ticks.length - 1];
      if (from.getTime() === after.getTime()) return null;
    }
    return null;
  }

  /** The ticks in `(after, until]`, oldest first, up to a number of them. */
  between(after: Date, until: Date, limit: number): Date[] {
    const ticks: Date[] = [];
    for (let tick = this.next(after); tick && tick <= until && ticks.length < limit; tick = this.next(tick)) {
      ticks.push(tick);
    }
    return ticks;
  }

  /** The same ticks as a Temporal Schedule describes them: all of the calendars together. */
  calendars(): CronCalendar[] {
    const { seconds, minutes, hours, months } = this.fields;
    return this.days().flatMap((days) => {
      const matching = days.months ? days.months.filter((month) => months.includes(month)) : months;
      return matching.length > 0 ? [{ seconds, minutes, hours, ...days, months: matching }] : [];
    });
  }

  private days(): CronDays[] {
    const { daysOfMonth, weekdays } = this.fields;
    if (!daysOfMonth && !weekdays) return [{}];
    const days: CronDays[] = [];
    if (daysOfMonth && daysOfMonth.days.length > 0) days.push({ daysOfMonth: daysOfMonth.days });
    if (daysOfMonth?.last) days.push(...fromTheEnd(1));
    for (const { weekdays: on, nth, last } of weekdays ?? []) {
      if (nth) days.push({ weekdays: on, daysOfMonth: range(nth * 7 - 6, Math.min(31, nth * 7)) });
      else if (last) days.push(...fromTheEnd(7).map((end) => ({ ...end, weekdays: on })));
      else days.push({ weekdays: on });
    }
    return days;
  }

  private matchesDay(wall: Date): boolean {
    const { daysOfMonth, weekdays } = this.fields;
    if (!daysOfMonth && !weekdays) return true;
    const day = wall.getUTCDate();
    const length = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate();
    if (daysOfMonth && (daysOfMonth.days.includes(day) || (daysOfMonth.last && day === length))) return true;
    return (weekdays ?? []).some(
      ({ weekdays: on, nth, last }) =>
        on.includes(wall.getUTCDay()) && (!nth || Math.ceil(day / 7) === nth) && (!last || day > length - 7),
    );
  }
}

/** The last days of each month. */
function fromTheEnd(count: number): CronDays[] {
  return MONTH_LENGTHS.map(({ length, months, years }) => ({
    daysOfMonth: range(length - count + 1, length),
    months,
    ...(years && { years }),
  }));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** The offset of a time zone from UTC, in milliseconds. */
class WallClock {
  private readonly format: Intl.DateTimeFormat;
  private readonly isUtc: boolean;
  /** Offsets change at quarters of an hour only, so one is good for a whole quarter. */
  private quarter = NaN;
  private known = 0;

  constructor(timezone: string) {
    this.format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
    this.isUtc = timezone === 'UTC';
  }

  offset(at: number): number {
    if (this.isUtc) return 0;
    const quarter = Math.floor(at / QUARTER);
    if (quarter !== this.quarter) {
      this.known = this.read(at);
      this.quarter = quarter;
    }
    return this.known;
  }

  /** Advances by the longest span without a change of the clock; if all are too long, to the next quarter. */
  skip(at: number, ...spans: number[]): number {
    const span = spans.find((each) => this.isUtc || this.read(at) === this.read(at + each));
    return span === undefined ? (Math.floor(at / QUARTER) + 1) * QUARTER : at + span;
  }

  private read(at: number): number {
    const name = this.format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign, hours, minutes = '0'] = /^GMT(?:([+-])(\d+):?(\d+)?)?$/.exec(name) ?? [];
    if (!sign) return 0;
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * 60 * SECOND);
  }
}
