import { readClaim, signClaim } from '../crypto/signed-claim';

/** A claim that a client carries for us and can't change: visible ASCII, as the protocol wants its ids. */
export function signToken(key: Buffer, claim: object): string {
  return signClaim(key, Buffer.from(JSON.stringify(claim)).toString('base64url'));
}

/** @returns undefined for what was not signed with this key */
export function readToken(key: Buffer, token: string): unknown {
  const claim = readClaim(key, token);
  return claim === undefined ? undefined : JSON.parse(Buffer.from(claim, 'base64url').toString());
}
