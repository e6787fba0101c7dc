import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { TenantId } from '../auth/tenant';

/**
 * What the handshake of the revisions before 2026-07-28 settled. The session's id carries it, signed: no replica keeps
 * sessions, and each can serve all of them.
 */
export interface McpSession {
  id: string;
  tenantId: TenantId;
  protocolVersion: string;
  /** The client's, as far as a server may ask for them. */
  capabilities: ClientCapabilities;
}

const tokenSchema = z.object({
  i: z.string(),
  t: z.string(),
  v: z.string(),
  c: z.record(z.string(), z.looseObject({})),
});

/** @returns the session's id on the wire: visible ASCII, as the protocol wants it */
export function issueSession(
  key: Buffer,
  tenantId: TenantId,
  protocolVersion: string,
  { elicitation, sampling, roots }: ClientCapabilities,
): string {
  const capabilities = { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots }) };
  const claim = { i: randomUUID(), t: tenantId, v: protocolVersion, c: capabilities };
  const body = Buffer.from(JSON.stringify(claim)).toString('base64url');
  return `${body}.${sign(key, body)}`;
}

/** @returns undefined for an id that this deployment didn't issue to this tenant */
export function readSession(key: Buffer, tenantId: TenantId, token: string): McpSession | undefined {
  const [body, signature, ...rest] = token.split('.');
  if (!body || !signature || rest.length > 0 || !isSame(signature, sign(key, body))) return undefined;
  const claim = tokenSchema.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()));
  if (!claim.success || claim.data.t !== tenantId) return undefined;
  const { i: id, v: protocolVersion, c: capabilities } = claim.data;
  return { id, tenantId, protocolVersion, capabilities };
}

function sign(key: Buffer, body: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
