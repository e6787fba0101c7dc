import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../crypto/derive-key';
import type { TenantId } from './tenant';

const PREFIX = 'gantry-call';
const LIFETIME_MS = 60_000;

/**
 * An API key for one minute, with which this deployment calls its own API on behalf of a tenant (a relative webhook).
 * It opens what any key of the tenant opens and nothing else: to the guard it is a key like all others.
 */
export function issueCallToken(secretKey: Buffer, tenantId: string, now: Date): string {
  const claim = `${PREFIX}.${tenantId}.${now.getTime() + LIFETIME_MS}`;
  return `${claim}.${sign(secretKey, claim).toString('base64url')}`;
}

/** The tenant of a call token that is genuine and not expired; undefined for everything else. */
export function tenantOfCallToken(secretKey: Buffer, token: string, now: Date): TenantId | undefined {
  const [prefix, tenantId, expires, signature, ...rest] = token.split('.');
  if (prefix !== PREFIX || !tenantId || !expires || !signature || rest.length > 0) return undefined;
  const expected = sign(secretKey, `${prefix}.${tenantId}.${expires}`);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return Number(expires) > now.getTime() ? (tenantId as TenantId) : undefined;
}

function sign(secretKey: Buffer, claim: string): Buffer {
  return createHmac('sha256', deriveKey(secretKey, 'gantry call token')).update(claim).digest();
}
