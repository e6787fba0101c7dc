const UNITS = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/**
 * The end that a person at a terminal means: `12h`, `90d`, `4w` from now, or a date (its beginning, UTC) or an instant.
 * @throws {Error} saying what is understood
 */
export function parseExpiry(text: string, now: Date): Date {
  const [, count, unit] = /^(\d+)([hdw])$/.exec(text) ?? [];
  const time = count
    ? now.getTime() + Number(count) * UNITS[unit as keyof typeof UNITS]
    : /^\d{4}-\d{2}-\d{2}/.test(text)
      ? Date.parse(text)
      : NaN;
  const expiry = new Date(time);
  if (Number.isNaN(expiry.getTime()))
    throw new Error(`"${text}" is not an expiry: write 12h, 90d, 4w or a date such as 2027-01-31`);
  return expiry;
}
