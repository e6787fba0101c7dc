import { parseExpiry } from './expiry';

const NOW = new Date('2026-11-21T12:00:00Z');

describe('parseExpiry', () => {
  it.each([
    ['12h', '2026-11-22T00:00:00.000Z'],
    ['90d', '2027-02-19T12:00:00.000Z'],
    ['2w', '2026-12-05T12:00:00.000Z'],
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T10:00:00+02:00', '2027-01-31T08:00:00.000Z'],
  ])('understands %s', (text, expected) => {
    expect(parseExpiry(text, NOW).toISOString()).toBe(expected);
  });

  it.each(['', '90', 'd', '1.5d', '-3d', 'tomorrow', '2027-13-01', '99999999999999999d'])('refuses "%s"', (text) => {
    expect(() => parseExpiry(text, NOW)).toThrow(/is not an expiry/);
  });
});
