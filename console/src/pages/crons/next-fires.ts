import { CronExpressionParser } from 'cron-parser';

export interface Schedule {
  schedule: string;
  timezone: string | null;
  /** The last moment at which it may be due. */
  end_time?: string | null;
}

interface Range {
  from: Date;
  until?: Date;
  /** Maximum number of times. */
  count: number;
}

/** Moves the seconds to the front, where the parser expects them; schedules of the API have them last. */
function withSecondsFirst(schedule: string): string {
  const fields = schedule.trim().split(/\s+/);
  return fields.length === 6 ? [fields[5], ...fields.slice(0, 5)].join(' ') : schedule;
}

/** The times at which a schedule is due after `from`, up to `until` and its end; empty if the schedule can't be parsed. */
export function nextFires({ schedule, timezone, end_time: end }: Schedule, { from, until, count }: Range): Date[] {
  const ends = [end && new Date(end), until].filter((each) => each instanceof Date);
  try {
    const parsed = CronExpressionParser.parse(withSecondsFirst(schedule), {
      currentDate: from,
      tz: timezone ?? 'UTC',
      ...(ends.length > 0 && { endDate: new Date(Math.min(...ends.map(Number))) }),
    });
    return parsed.take(count).map((each) => each.toDate());
  } catch {
    return [];
  }
}
