import { CronSchedule } from './cron-schedule';

const times = (dates: Date[]): string[] => dates.map((date) => date.toISOString().replace('.000Z', 'Z'));

function ticks(expression: string, from: string, count: number, timezone: string | null = null): string[] {
  return times(new CronSchedule(expression, timezone, null).between(new Date(from), new Date('2101-01-01'), count));
}

describe('the ticks of a cron', () => {
  it('come strictly after the given time', () => {
    expect(ticks('*/30 * * * *', '2026-11-21T10:30:00Z', 2)).toEqual(['2026-11-21T11:00:00Z', '2026-11-21T11:30:00Z']);
    expect(ticks('*/30 * * * *', '2026-11-21T10:29:59.999Z', 1)).toEqual(['2026-11-21T10:30:00Z']);
  });

  it('follow the sixth field to the second', () => {
    expect(ticks('* * * * * */20', '2026-11-21T10:59:30Z', 3)).toEqual([
      '2026-11-21T10:59:40Z',
      '2026-11-21T11:00:00Z',
      '2026-11-21T11:00:20Z',
    ]);
  });

  it('match either day field when both are restricted', () => {
    expect(ticks('0 0 13 * fri', '2026-11-10T00:00:00Z', 4)).toEqual([
      '2026-11-13T00:00:00Z',
      '2026-11-20T00:00:00Z',
      '2026-11-27T00:00:00Z',
      '2026-12-04T00:00:00Z',
    ]);
  });

  it("include a month's last day, its last Friday and its second Tuesday", () => {
    expect(ticks('0 0 L * *', '2027-12-30T00:00:00Z', 4)).toEqual([
      '2027-12-31T00:00:00Z',
      '2028-01-31T00:00:00Z',
      '2028-02-29T00:00:00Z',
      '2028-03-31T00:00:00Z',
    ]);
    expect(ticks('0 0 * * 5L', '2026-10-01T00:00:00Z', 2)).toEqual(['2026-10-30T00:00:00Z', '2026-11-27T00:00:00Z']);
    expect(ticks('0 0 * * tue#2', '2026-10-01T00:00:00Z', 2)).toEqual(['2026-10-13T00:00:00Z', '2026-11-10T00:00:00Z']);
  });

  it('skip a time that the change to daylight saving time skips', () => {
    expect(ticks('30 2 * * *', '2026-03-07T00:00:00Z', 2, 'America/New_York')).toEqual([
      '2026-03-07T07:30:00Z',
      '2026-03-09T06:30:00Z',
    ]);
  });

  it('come twice at a time that the change back repeats', () => {
    expect(ticks('30 1 * * *', '2026-11-01T00:00:00Z', 3, 'America/New_York')).toEqual([
      '2026-11-01T05:30:00Z',
      '2026-11-01T06:30:00Z',
      '2026-11-02T06:30:00Z',
    ]);
  });

  it('include the midnight that follows a clock change', () => {
    expect(ticks('0 0 * * mon', '2026-03-29T00:00:00Z', 1, 'Europe/Berlin')).toEqual(['2026-03-29T22:00:00Z']);
    expect(ticks('0 0 1 11 *', '2026-10-01T00:00:00Z', 1, 'America/New_York')).toEqual(['2026-11-01T04:00:00Z']);
  });

  it('follow a zone whose clock changes by half an hour', () => {
    expect(ticks('45 1,2 * * *', '2026-10-03T12:00:00Z', 2, 'Australia/Lord_Howe')).toEqual([
      '2026-10-03T15:15:00Z',
      '2026-10-03T15:45:00Z',
    ]);
  });

  it('end with the end time, which is included', () => {
    const schedule = new CronSchedule('0 * * * *', null, new Date('2026-11-21T12:00:00Z'));
    expect(times(schedule.between(new Date('2026-11-21T10:00:00Z'), new Date('2027-01-01'), 9))).toEqual([
      '2026-11-21T11:00:00Z',
      '2026-11-21T12:00:00Z',
    ]);
    expect(schedule.next(new Date('2026-11-21T12:00:00Z'))).toBeNull();
  });

  it('never fall on a date that does not exist', () => {
    for (const zone of [null, 'Europe/Berlin']) {
      expect(new CronSchedule('0 0 31 2 *', zone, null).next(new Date('2026-11-21T00:00:00Z'))).toBeNull();
    }
    expect(ticks('0 0 29 2 *', '2096-03-01T00:00:00Z', 1)).toEqual([]);
  });

  it('include the last one before a given time, however long ago it was', () => {
    const since = new Date('2020-01-01T00:00:00Z');
    const last = (expression: string, until: string): string | undefined =>
      new CronSchedule(expression, 'Europe/Berlin', null).last(since, new Date(until))?.toISOString();
    expect(last('* * * * * *', '2026-11-21T10:00:00.500Z')).toBe('2026-11-21T10:00:00.000Z');
    expect(last('0 9 * * mon', '2026-11-21T10:00:00Z')).toBe('2026-11-16T08:00:00.000Z');
    expect(last('0 9 29 2 *', '2026-11-21T10:00:00Z')).toBe('2024-02-29T08:00:00.000Z');
    expect(new CronSchedule('@yearly', null, null).last(new Date('2026-01-01'), new Date('2026-12-31'))).toBeNull();
    expect(new CronSchedule('@yearly', null, null).last(new Date('2025-12-31'), new Date('2026-01-01'))).toEqual(
      new Date('2026-01-01'),
    );
  });

  it('are distinguished from other times', () => {
    const schedule = new CronSchedule('0 9 * * *', 'Europe/Berlin', null);
    expect(schedule.isTick(new Date('2026-11-21T08:00:00Z'))).toBe(true);
    expect(schedule.isTick(new Date('2026-11-21T08:00:00.001Z'))).toBe(false);
    expect(schedule.isTick(new Date('2026-11-21T08:00:01Z'))).toBe(false);
  });
});
