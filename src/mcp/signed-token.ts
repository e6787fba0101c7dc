import { createHmac } from 'node:crypto';
import { isSame } from '../crypto/is-same';

/** A claim that a client carries for us and can't change: visible ASCII, as the protocol wants its ids. */
export function signToken(key: Buffer, claim: object): string {
  const body = Buffer.from(JSON.stringify(claim)).toString('base64url');
  return `${body}.${signatureOf(key, body)}`;
}

/** @returns undefined for what was not signed with this key */
export function readToken(key: Buffer, token: string): unknown {
  const [body, signature, ...rest] = token.split('.');
  if (!body || !signature || rest.length > 0 || !isSame(signature, signatureOf(key, body))) return undefined;
  return JSON.parse(Buffer.from(body, 'base64url').toString());
}

function signatureOf(key: Buffer, body: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}
