import { deriveKey } from '../crypto/derive-key';
import { readClaim, signClaim } from '../crypto/signed-claim';
import type { AuthUser } from '../database/request-scope';
import type { TenantId } from './tenant';

const PREFIX = 'gantry-call';
const LIFETIME_MS = 60_000;
/** Limit so that the token fits into a header; for a larger user the custom fields are left out. */
const MAX_USER_BYTES = 8_192;

/** The tenant and user on whose behalf this deployment calls its own API. */
export interface InternalCaller {
  tenantId: TenantId;
  /** The user of the custom auth, if any: the call has this user's rights and no others. */
  user?: AuthUser;
}

/**
 * An API key for one minute, or as long as a run may take, with which this deployment calls its own API on behalf of a tenant,
 * or of one of its users (a relative webhook, a client in graph code). It gives the rights of a key of the tenant, or of the
 * user, and no others.
 */
export function issueCallToken(
  secretKey: Buffer,
  tenantId: string,
  now: Date,
  user?: AuthUser,
  lifetimeMs = LIFETIME_MS,
): string {
  const parts = [PREFIX, tenantId, now.getTime() + lifetimeMs, ...(user ? [encodeUser(user)] : [])];
  return signClaim(signingKey(secretKey), parts.join('.'));
}

/** The caller of a valid token; undefined for any other text. */
export function callerOfToken(secretKey: Buffer, token: string, now: Date): InternalCaller | undefined {
  // Most keys are clients' keys, for which no signature is computed.
  if (!token.startsWith(`${PREFIX}.`)) return undefined;
  const [, tenantId, expires, userPart] = readClaim(signingKey(secretKey), token)?.split('.') ?? [];
  if (expires === undefined || Number(expires) <= now.getTime()) return undefined;
  const user = userPart !== undefined && (JSON.parse(Buffer.from(userPart, 'base64url').toString()) as AuthUser);
  return { tenantId: tenantId as TenantId, ...(user && { user }) };
}

function encodeUser(user: AuthUser): string {
  const whole = Buffer.from(JSON.stringify(user));
  if (whole.length <= MAX_USER_BYTES) return whole.toString('base64url');
  const { identity, display_name, is_authenticated, permissions } = user;
  return Buffer.from(JSON.stringify({ identity, display_name, is_authenticated, permissions })).toString('base64url');
}

function signingKey(secretKey: Buffer): Buffer {
  return deriveKey(secretKey, 'gantry call token');
}
