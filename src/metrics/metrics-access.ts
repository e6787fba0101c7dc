import { timingSafeEqual } from 'node:crypto';

/** Whether an Authorization header carries the scraper's token, as Prometheus sends it (`authorization.credentials`). */
export function carriesToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  const expected = Buffer.from(`Bearer ${token}`);
  const given = Buffer.from(authorization);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
