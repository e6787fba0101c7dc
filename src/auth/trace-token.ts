import { deriveKey } from '../crypto/derive-key';
import { readClaim, signClaim } from '../crypto/signed-claim';
import type { TenantId } from './tenant';

const PREFIX = 'gantry-traces';

/** A key with which a run can only upload its trace, since graph code can read it in memory. */
export function issueTraceToken(secretKey: Buffer, tenantId: string, expiresAt: Date): string {
  return signClaim(signingKey(secretKey), [PREFIX, tenantId, expiresAt.getTime()].join('.'));
}

/** The tenant whose traces a token uploads, if it is genuine and not expired. */
export function tenantOfTraceToken(secretKey: Buffer, token: string, now: Date): TenantId | undefined {
  if (!token.startsWith(`${PREFIX}.`)) return undefined;
  const [, tenantId, expires] = readClaim(signingKey(secretKey), token)?.split('.') ?? [];
  return Number(expires) > now.getTime() ? (tenantId as TenantId) : undefined;
}

function signingKey(secretKey: Buffer): Buffer {
  return deriveKey(secretKey, 'gantry trace token');
}
