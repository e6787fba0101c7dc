import { randomUUID } from 'node:crypto';
import { type ClientCapabilities, type ServerContext, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { TenantId } from '../auth/tenant';
import type { AuthUser } from '../database/request-scope';
import { readToken, signToken } from './signed-token';

/** Owner of a session or a question: a tenant or, with a custom auth, a user. */
export type SessionOwner = string;

export function ownerOf(tenantId: TenantId, user: AuthUser | undefined): SessionOwner {
  return user ? `${tenantId} ${user.identity}` : tenantId;
}

/** Owner of a call that is being served; empty for calls without HTTP. */
export function ownerOfCall({ http }: ServerContext): SessionOwner {
  return (http?.authInfo?.extra?.owner as SessionOwner | undefined) ?? '';
}

/**
 * Result of the handshake of the revisions before 2026-07-28. The session's id carries it, signed: no replica keeps sessions,
 * and each can serve all of them.
 */
export interface McpSession {
  id: string;
  owner: SessionOwner;
  protocolVersion: string;
  /** The client's capabilities that a server may use. */
  capabilities: ClientCapabilities;
}

const tokenSchema = z.object({
  i: z.string(),
  t: z.string(),
  v: z.string(),
  c: z.record(z.string(), z.looseObject({})),
});

/**
 * Issues the id of a session. It is a header of the answer and of each later request, so it carries nothing that a client can
 * make long.
 * @param requestedVersion revision that the client asks for; the session has the newest one where it isn't supported
 * @returns the id on the wire: visible ASCII, as the protocol wants it
 */
export function issueSession(
  key: Buffer,
  owner: SessionOwner,
  requestedVersion: string,
  { elicitation, sampling, roots }: ClientCapabilities,
): string {
  const isSupported = SUPPORTED_PROTOCOL_VERSIONS.includes(requestedVersion);
  const protocolVersion = isSupported ? requestedVersion : SUPPORTED_PROTOCOL_VERSIONS[0];
  const capabilities = {
    ...(elicitation && { elicitation: declared(elicitation, ['form', 'url']) }),
    ...(sampling && { sampling: declared(sampling, ['tools', 'context']) }),
    ...(roots && { roots: {} }),
  };
  const claim = { i: randomUUID(), t: owner, v: protocolVersion, c: capabilities };
  return signToken(key, claim);
}

/** Which of the modes a capability declares, without what it says of them. */
function declared(capability: Record<string, unknown>, modes: string[]): Record<string, object> {
  return Object.fromEntries(modes.filter((mode) => capability[mode] !== undefined).map((mode) => [mode, {}]));
}

/** @returns undefined for an id that this deployment didn't issue to this owner */
export function readSession(key: Buffer, owner: SessionOwner, token: string): McpSession | undefined {
  const claim = tokenSchema.safeParse(readToken(key, token));
  if (!claim.success || claim.data.t !== owner) return undefined;
  const { i: id, v: protocolVersion, c: capabilities } = claim.data;
  return { id, owner, protocolVersion, capabilities };
}
