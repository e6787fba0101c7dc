import { parseRetryAfter, RetrySchedule } from './retry-schedule';

const DEFAULT = [1, 3, 10, 60, 300, 1800, 7200, 18000, 28800, 36000].map((seconds) => seconds * 1000);

describe('retry schedule', () => {
  it('takes more than a day, and no more than a day and a half', () => {
    const total = (random: number) =>
      DEFAULT.reduce((sum, _, index) => sum + new RetrySchedule(DEFAULT, () => random).delayAfter(index + 1), 0) /
      3_600_000;
    expect(new RetrySchedule(DEFAULT).maxAttempts).toBe(11);
    expect(total(0)).toBeCloseTo(25.6, 1);
    expect(total(1)).toBeCloseTo(30.7, 1);
  });

  it('waits at least as long as the receiver requested, up to one day', () => {
    const schedule = new RetrySchedule(DEFAULT, () => 0);
    expect(schedule.delayAfter(1, 30_000)).toBe(30_000);
    expect(schedule.delayAfter(4, 30_000)).toBe(60_000);
    expect(schedule.delayAfter(1, 10 ** 12)).toBe(86_400_000);
  });

  it('repeats its last wait for a delivery with more attempts, from when it was longer', () => {
    const schedule = new RetrySchedule([1_000, 3_000, 10_000], () => 0);
    expect([3, 4, 10].map((attempt) => schedule.delayAfter(attempt))).toEqual([10_000, 10_000, 10_000]);
  });

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 21 Nov 2026 00:01:00 GMT', 60_000],
    ['Fri, 20 Nov 2026 00:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['99999999999', undefined],
    [undefined, undefined],
  ])('reads Retry-After %p', (value, expected) => {
    expect(parseRetryAfter(value, new Date('2026-11-21T00:00:00Z'))).toBe(expected);
  });
});
