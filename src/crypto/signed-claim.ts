import { createHmac } from 'node:crypto';
import { isSame } from './is-same';

/** A claim that a client carries and can't change: the claim itself, a dot, and its signature. */
export function signClaim(key: Buffer, claim: string): string {
  return `${claim}.${signatureOf(key, claim)}`;
}

/** The claim of a signed text; undefined for what was not signed with this key. */
export function readClaim(key: Buffer, signed: string): string | undefined {
  const dot = signed.lastIndexOf('.');
  const claim = signed.slice(0, Math.max(dot, 0));
  return dot > 0 && isSame(signed.slice(dot + 1), signatureOf(key, claim)) ? claim : undefined;
}

function signatureOf(key: Buffer, claim: string): string {
  return createHmac('sha256', key).update(claim).digest('base64url');
}
