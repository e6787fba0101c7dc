import { CronExpressionParser } from 'cron-parser';

/** The parser wants seconds first, where schedules of the API have them last. */
function withSecondsFirst(schedule: string): string {
  const fields = schedule.trim().split(/\s+/);
  return fields.length === 6 ? [fields[5], ...fields.slice(0, 5)].join(' ') : schedule;
}

/** The next times at which a schedule is due, at most `count`; none where the schedule can't be read. */
export function nextFires(schedule: string, timezone: string | null, from: Date, count: number): Date[] {
  try {
    const parsed = CronExpressionParser.parse(withSecondsFirst(schedule), { currentDate: from, tz: timezone ?? 'UTC' });
    return parsed.take(count).map((each) => each.toDate());
  } catch {
    return [];
  }
}
