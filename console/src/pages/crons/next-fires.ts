import { CronExpressionParser } from 'cron-parser';

/** Moves the seconds to the front, where the parser expects them; schedules of the API have them last. */
function withSecondsFirst(schedule: string): string {
  const fields = schedule.trim().split(/\s+/);
  return fields.length === 6 ? [fields[5], ...fields.slice(0, 5)].join(' ') : schedule;
}

/** The next times at which a schedule is due, at most `count`; empty if the schedule can't be parsed. */
export function nextFires(schedule: string, timezone: string | null, from: Date, count: number): Date[] {
  try {
    const parsed = CronExpressionParser.parse(withSecondsFirst(schedule), { currentDate: from, tz: timezone ?? 'UTC' });
    return parsed.take(count).map((each) => each.toDate());
  } catch {
    return [];
  }
}
