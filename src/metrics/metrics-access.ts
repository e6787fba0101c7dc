import { isSame } from '../crypto/is-same';

/** Whether an Authorization header carries the scraper's token, as Prometheus sends it (`authorization.credentials`). */
export function carriesToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  return isSame(authorization, `Bearer ${token}`);
}
