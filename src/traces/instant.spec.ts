import { addDays, Instant, instantOf, toInstant, utcDay } from './instant';

describe('instants', () => {
  it.each([
    ['2026-11-20T10:00:00.123456+00:00', '2026-11-20T10:00:00.123456Z'],
    ['2026-11-20T10:00:00.123456789Z', '2026-11-20T10:00:00.123456Z'],
    ['2026-11-20T10:00:00.5', '2026-11-20T10:00:00.500000Z'],
    ['2026-11-20 10:00:00', '2026-11-20T10:00:00.000000Z'],
    ['2026-11-20T10:00', '2026-11-20T10:00:00.000000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000000Z'],
    ['2026-11-20T01:30:00.000001+02:00', '2026-11-19T23:30:00.000001Z'],
    ['2026-11-20T23:30:00-0130', '2026-11-21T01:00:00.000000Z'],
    [1795246594876, '2026-11-21T07:36:34.876000Z'],
    [1795246594876.5, '2026-11-21T07:36:34.876500Z'],
    [0, '1970-01-01T00:00:00.000000Z'],
  ])('reads %p', (given, expected) => {
    expect(toInstant(given)).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2026-11-20T25:00:00Z',
    '1969-01-01',
    NaN,
    -1,
    Infinity,
    null,
    {},
    true,
  ])('refuses %p', (given) => {
    expect(toInstant(given)).toBeUndefined();
  });

  it('gives the UTC day, and reads its own format', () => {
    const instant = instantOf(new Date('2026-11-20T23:59:59.999Z'));
    expect(utcDay(instant)).toBe('2026-11-20');
    expect(toInstant(instant)).toBe(instant);
  });

  it('moves to other days with its microseconds, and not beyond the range of times', () => {
    expect(addDays('2026-03-01T10:00:00.123456Z' as Instant, -1)).toBe('2026-02-28T10:00:00.123456Z');
    expect(addDays('9999-12-31T10:00:00.000001Z' as Instant, 1)).toBe('9999-12-31T23:59:59.999001Z');
  });
});
