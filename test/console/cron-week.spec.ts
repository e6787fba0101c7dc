import { nextFires } from '../../console/src/pages/crons/next-fires';
import { weekOf } from '../../console/src/pages/crons/week';

/** A moment in the reader's time zone, which is that of the process. */
const NOW = new Date(2026, 10, 28, 9, 30);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const cron = (schedule: string, end?: Date, status: 'active' | 'paused' = 'active') => ({
  schedule,
  timezone: zone,
  end_time: end ? end.toISOString() : null,
  status,
});
const countsOf = (...crons: ReturnType<typeof cron>[]): number[] => weekOf(crons, NOW).map(({ fires }) => fires.length);

describe('the week of crons', () => {
  it('has times on each of its days, the first from now and the others from midnight', () => {
    const [first, second] = weekOf([cron('0 */6 * * *')], NOW);
    const hours = ({ fires }: typeof first) => fires.map(({ at }) => at.getHours());
    expect(hours(first)).toEqual([12, 18]);
    expect(hours(second)).toEqual([0, 6, 12, 18]);
  });

  it('has each day of a cron that is due every few minutes, and says that it leaves times out', () => {
    const days = weekOf([cron('*/15 * * * *')], NOW);
    expect(days.map(({ fires, isCut }) => [fires.length, isCut])).toEqual(Array.from({ length: 7 }, () => [24, true]));
    expect(weekOf([cron('0 * * * *')], NOW)[1]).toMatchObject({ fires: { length: 24 }, isCut: false });
  });

  it('has the times of several crons in their order, of those that are active, up to their end', () => {
    const daily = cron('0 10 * * *');
    const ending = cron('0 8 * * *', new Date(2026, 10, 30, 8));
    expect(countsOf(daily, ending, cron('0 9 * * *', undefined, 'paused'))).toEqual([1, 2, 2, 1, 1, 1, 1]);
    expect(weekOf([daily, ending], NOW)[1].fires.map((fire) => fire.cron)).toEqual([ending, daily]);
  });
});

describe('the next times of a cron', () => {
  it('end with the cron', () => {
    const ending = cron('0 8 * * *', new Date(2026, 10, 30, 8));
    expect(nextFires(ending, { from: NOW, count: 5 })).toEqual([new Date(2026, 10, 29, 8), new Date(2026, 10, 30, 8)]);
    expect(nextFires(ending, { from: new Date(2026, 11, 1), count: 5 })).toEqual([]);
  });
});
