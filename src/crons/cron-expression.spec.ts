import { type CronFields, CronSyntaxError, parseCronExpression } from './cron-expression';

const EVERY_MONTH = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const EVERY_HOUR = Array.from({ length: 24 }, (_, hour) => hour);
const EVERY_MINUTE = Array.from({ length: 60 }, (_, minute) => minute);

const fields = (changes: Partial<CronFields>): CronFields => ({
  minutes: [0],
  hours: [0],
  months: EVERY_MONTH,
  seconds: [0],
  ...changes,
});

function faultOf(expression: string): { reason: string; position: number } {
  try {
    parseCronExpression(expression);
  } catch (error) {
    if (error instanceof CronSyntaxError) return { reason: error.reason, position: error.position };
    throw error;
  }
  throw new Error(`"${expression}" was taken`);
}

describe('a cron expression', () => {
  it.each<[string, Partial<CronFields>]>([
    ['0 0 * * *', {}],
    ['  30\t9 * * *  ', { minutes: [30], hours: [9] }],
    ['* * * * *', { minutes: EVERY_MINUTE, hours: EVERY_HOUR }],
    ['*/15 8-18/5 * * *', { minutes: [0, 15, 30, 45], hours: [8, 13, 18] }],
    ['5/20 0 * * *', { minutes: [5, 25, 45] }],
    ['0,30,5-7 0 * * *', { minutes: [0, 5, 6, 7, 30] }],
    ['0 0 1,15 * *', { daysOfMonth: { days: [1, 15], last: false } }],
    ['0 0 * jan,MAR-May *', { months: [1, 3, 4, 5] }],
    ['0 0 * * mon-fri', { weekdays: [{ weekdays: [1, 2, 3, 4, 5] }] }],
    ['0 0 * * 7', { weekdays: [{ weekdays: [0] }] }],
    ['0 0 * * 6-7', { weekdays: [{ weekdays: [0, 6] }] }],
    ['0 0 ? * sun', { weekdays: [{ weekdays: [0] }] }],
    ['0 0 13 * fri', { daysOfMonth: { days: [13], last: false }, weekdays: [{ weekdays: [5] }] }],
  ])('reads %s', (expression, changes) => {
    expect(parseCronExpression(expression)).toEqual(fields(changes));
  });

  it('reads seconds from the sixth field, as the clients of the public API write them', () => {
    expect(parseCronExpression('0 0 * * * */20')).toEqual(fields({ seconds: [0, 20, 40] }));
    expect(parseCronExpression('*/10 * * * * *')).toMatchObject({
      minutes: [0, 10, 20, 30, 40, 50],
      seconds: EVERY_MINUTE,
    });
  });

  it.each<[string, Partial<CronFields>]>([
    ['0 0 L * *', { daysOfMonth: { days: [], last: true } }],
    ['0 0 1,L * *', { daysOfMonth: { days: [1], last: true } }],
    ['0 0 * * 5#2', { weekdays: [{ weekdays: [5], nth: 2 }] }],
    ['0 0 * * fri#2,mon', { weekdays: [{ weekdays: [1] }, { weekdays: [5], nth: 2 }] }],
    ['0 0 * * 5L', { weekdays: [{ weekdays: [5], last: true }] }],
    ['0 0 * * L5', { weekdays: [{ weekdays: [5], last: true }] }],
    ['0 0 * * Lfri', { weekdays: [{ weekdays: [5], last: true }] }],
  ])('reads the last and n-th days of a month: %s', (expression, changes) => {
    expect(parseCronExpression(expression)).toEqual(fields(changes));
  });

  it.each([
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@Annually', '0 0 1 1 *'],
  ])('reads %s as %s', (macro, expression) => {
    expect(parseCronExpression(macro)).toEqual(parseCronExpression(expression));
  });

  it.each<[string, number, RegExp]>([
    ['', 0, /empty/],
    ['   ', 0, /empty/],
    ['* * * *', 7, /Five fields are needed.*here are 4/],
    ['* * * * * * 2026', 12, /at most six fields/],
    ['61 * * * *', 0, /"61".*0-59 in the field minute/],
    ['0 24 * * *', 2, /"24".*0-23 in the field hour/],
    ['0 0 32 * *', 4, /day of month/],
    ['0 0 0 * *', 4, /day of month/],
    ['0 0 * 13 *', 6, /month/],
    ['0 0 * foo *', 6, /month/],
    ['0 0 * * 8', 8, /day of week/],
    ['0 0 * * 5#6', 8, /day of week/],
    ['0 0 * * L', 8, /day of week/],
    ['0 0 * * * 60', 10, /second/],
    ['0,5,x * * * *', 4, /"x"/],
    ['0,,5 * * * *', 2, /item of the list is empty/],
    ['0 0   1,99 * *', 8, /"99"/],
    ['5-1 * * * *', 0, /Invalid range/],
    ['1- * * * *', 0, /"1-"/],
    ['*/0 * * * *', 0, /0/],
    ['*/90 * * * *', 0, /longer than the field/],
    ['H * * * *', 0, /hashed/],
    ['0 H(0-7) * * *', 2, /hashed/],
    ['R * * * *', 0, /"R"/],
    ['1.5 * * * *', 0, /"1.5"/],
    ['0 0 15W * *', 4, /"15W"/],
    ['@reboot', 0, /"@reboot" is not known: there are @yearly/],
    ['@daily 5', 7, /Nothing may follow/],
    ['TZ=Europe/Berlin 0 9 * * *', 0, /TZ=Europe\/Berlin/],
    ['every day at nine', 17, /Five fields/],
  ])('refuses "%s" at position %i', (expression, position, reason) => {
    const fault = faultOf(expression);
    expect(fault.position).toBe(position);
    expect(fault.reason).toMatch(reason);
  });
});
