import type { TenantId } from '../auth/tenant';
import { issueSession, readSession } from './mcp-session';

const key = Buffer.alloc(32, 1);
const tenant = '00000000-0000-0000-0000-00000000000a' as TenantId;

describe('a session id', () => {
  it('carries what the handshake negotiated, and is unique', () => {
    const capabilities = { elicitation: { form: {} }, roots: {}, experimental: { x: {} } };
    const token = issueSession(key, tenant, '2025-11-25', capabilities);
    expect(token).toMatch(/^[\x21-\x7e]+$/);
    expect(readSession(key, tenant, token)).toEqual({
      id: expect.any(String),
      owner: tenant,
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: { form: {} }, roots: {} },
    });
    expect(issueSession(key, tenant, '2025-11-25', capabilities)).not.toBe(token);
  });

  it('stays short, whatever the client sends', () => {
    const long = { x: 'x'.repeat(100_000) };
    const capabilities = {
      elicitation: { url: long, y: long },
      sampling: { tools: long },
      roots: { listChanged: true },
    };
    const token = issueSession(key, tenant, '2'.repeat(100_000), capabilities);
    expect(token.length).toBeLessThan(500);
    expect(readSession(key, tenant, token)).toMatchObject({
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: { url: {} }, sampling: { tools: {} }, roots: {} },
    });
  });

  it('is invalid for another tenant, when modified, and when signed with another key', () => {
    const token = issueSession(key, tenant, '2025-11-25', {});
    expect(readSession(key, '00000000-0000-0000-0000-00000000000b' as TenantId, token)).toBeUndefined();
    expect(readSession(key, tenant, `x${token}`)).toBeUndefined();
    expect(readSession(key, tenant, token.slice(0, -2))).toBeUndefined();
    expect(readSession(Buffer.alloc(32, 2), tenant, token)).toBeUndefined();
    expect(readSession(key, tenant, '')).toBeUndefined();
  });
});
