import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../crypto/derive-key';
import type { TenantId } from './tenant';

const PREFIX = 'gantry-traces';

/**
 * A key with which one tenant's run uploads its trace, and with which nothing else can be done: graph code can read the
 * memory that it is in.
 */
export function issueTraceToken(secretKey: Buffer, tenantId: string, expiresAt: Date): string {
  const claim = [PREFIX, tenantId, expiresAt.getTime()].join('.');
  return `${claim}.${sign(secretKey, claim).toString('base64url')}`;
}

/** Whose traces a token uploads, if it is genuine and not expired. */
export function tenantOfTraceToken(secretKey: Buffer, token: string, now: Date): TenantId | undefined {
  const [prefix, tenantId, expires, signature, ...more] = token.split('.');
  if (prefix !== PREFIX || signature === undefined || more.length > 0) return undefined;
  const expected = sign(secretKey, [prefix, tenantId, expires].join('.'));
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return Number(expires) > now.getTime() ? (tenantId as TenantId) : undefined;
}

function sign(secretKey: Buffer, claim: string): Buffer {
  return createHmac('sha256', deriveKey(secretKey, 'gantry trace token')).update(claim).digest();
}
