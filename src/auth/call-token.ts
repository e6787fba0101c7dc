import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../crypto/derive-key';
import type { AuthUser } from '../database/request-scope';
import type { TenantId } from './tenant';

const PREFIX = 'gantry-call';
const LIFETIME_MS = 60_000;
/** A header has to hold it; of a larger user the custom fields stay behind. */
const MAX_USER_BYTES = 8_192;

/** In whose name this deployment calls its own API. */
export interface InternalCaller {
  tenantId: TenantId;
  /** The user of the custom auth, if it is one's call: it has this user's rights and no others. */
  user?: AuthUser;
}

/**
 * An API key for one minute, or as long as a run may take, with which this deployment calls its own API on behalf of a tenant,
 * or of one of its users (a relative webhook, a client in graph code). It opens what any key of the tenant opens, or what the user may do, and nothing else.
 */
export function issueCallToken(
  secretKey: Buffer,
  tenantId: string,
  now: Date,
  user?: AuthUser,
  lifetimeMs = LIFETIME_MS,
): string {
  const parts = [PREFIX, tenantId, now.getTime() + lifetimeMs, ...(user ? [userPart(user)] : [])];
  const claim = parts.join('.');
  return `${claim}.${sign(secretKey, claim).toString('base64url')}`;
}

/** Who calls with a token that is genuine and not expired; undefined for everything else. */
export function callerOfToken(secretKey: Buffer, token: string, now: Date): InternalCaller | undefined {
  const parts = token.split('.');
  const [prefix, tenantId, expires] = parts;
  if (prefix !== PREFIX || parts.length < 4 || parts.length > 5) return undefined;
  const expected = sign(secretKey, parts.slice(0, -1).join('.'));
  const given = Buffer.from(parts.at(-1)!, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  if (Number(expires) <= now.getTime()) return undefined;
  const user = parts.length === 5 && (JSON.parse(Buffer.from(parts[3], 'base64url').toString()) as AuthUser);
  return { tenantId: tenantId as TenantId, ...(user && { user }) };
}

function userPart(user: AuthUser): string {
  const whole = Buffer.from(JSON.stringify(user));
  if (whole.length <= MAX_USER_BYTES) return whole.toString('base64url');
  const { identity, display_name, is_authenticated, permissions } = user;
  return Buffer.from(JSON.stringify({ identity, display_name, is_authenticated, permissions })).toString('base64url');
}

function sign(secretKey: Buffer, claim: string): Buffer {
  return createHmac('sha256', deriveKey(secretKey, 'gantry call token')).update(claim).digest();
}
