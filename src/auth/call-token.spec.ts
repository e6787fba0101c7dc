import { issueCallToken, callerOfToken } from './call-token';

const KEY = Buffer.alloc(32, 1);
const TENANT = '11111111-1111-4111-8111-111111111111';
const NOW = new Date('2026-11-21T00:00:00Z');

describe('call token', () => {
  const token = issueCallToken(KEY, TENANT, NOW);

  it('is valid for its tenant for one minute', () => {
    expect(callerOfToken(KEY, token, NOW)).toEqual({ tenantId: TENANT });
    expect(callerOfToken(KEY, token, new Date(NOW.getTime() + 59_999))).toEqual({ tenantId: TENANT });
    expect(callerOfToken(KEY, token, new Date(NOW.getTime() + 60_000))).toBeUndefined();
  });

  it.each([
    ['of another tenant', token.replace('1111', '2222')],
    ['with a later expiry', token.replace(/\.\d+\./, '.9999999999999.')],
    ['without a signature', token.slice(0, token.lastIndexOf('.'))],
    ['with an empty signature', token.slice(0, token.lastIndexOf('.') + 1)],
    ['with trailing text', `${token}.x`],
    ['of another kind', 'lsv2_pt_0123456789abcdef'],
    ['that is empty', ''],
  ])('is refused %s', (_name, forged) => {
    expect(callerOfToken(KEY, forged, NOW)).toBeUndefined();
  });

  it('carries the user on whose behalf it calls, with only the essential fields of a large one', () => {
    const user = { identity: 'alice', display_name: 'Alice', is_authenticated: true, permissions: ['read'] };
    const whole = { ...user, team: 'blue' };
    expect(callerOfToken(KEY, issueCallToken(KEY, TENANT, NOW, whole), NOW)).toEqual({ tenantId: TENANT, user: whole });
    const large = { ...user, picture: 'x'.repeat(10_000) };
    expect(callerOfToken(KEY, issueCallToken(KEY, TENANT, NOW, large), NOW)).toEqual({ tenantId: TENANT, user });
    const [prefix, tenant, expires, , signature] = issueCallToken(KEY, TENANT, NOW, whole).split('.');
    const other = Buffer.from(JSON.stringify({ ...user, identity: 'root' })).toString('base64url');
    expect(callerOfToken(KEY, [prefix, tenant, expires, other, signature].join('.'), NOW)).toBeUndefined();
    expect(callerOfToken(KEY, [prefix, tenant, expires, signature].join('.'), NOW)).toBeUndefined();
  });

  it('is refused under another signing key', () => {
    expect(callerOfToken(Buffer.alloc(32, 2), token, NOW)).toBeUndefined();
  });
});
