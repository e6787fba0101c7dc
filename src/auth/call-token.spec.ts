import { issueCallToken, tenantOfCallToken } from './call-token';

const KEY = Buffer.alloc(32, 1);
const TENANT = '11111111-1111-4111-8111-111111111111';
const NOW = new Date('2026-11-21T00:00:00Z');

describe('call token', () => {
  const token = issueCallToken(KEY, TENANT, NOW);

  it('is the tenant’s for a minute', () => {
    expect(tenantOfCallToken(KEY, token, NOW)).toBe(TENANT);
    expect(tenantOfCallToken(KEY, token, new Date(NOW.getTime() + 59_999))).toBe(TENANT);
    expect(tenantOfCallToken(KEY, token, new Date(NOW.getTime() + 60_000))).toBeUndefined();
  });

  it.each([
    ['of another tenant', token.replace('1111', '2222')],
    ['with a longer life', token.replace(/\.\d+\./, '.9999999999999.')],
    ['without a signature', token.slice(0, token.lastIndexOf('.'))],
    ['with an empty signature', token.slice(0, token.lastIndexOf('.') + 1)],
    ['with more behind it', `${token}.x`],
    ['of another kind', 'lsv2_pt_0123456789abcdef'],
    ['that is nothing', ''],
  ])('is refused %s', (_name, forged) => {
    expect(tenantOfCallToken(KEY, forged, NOW)).toBeUndefined();
  });

  it('is refused under another key', () => {
    expect(tenantOfCallToken(Buffer.alloc(32, 2), token, NOW)).toBeUndefined();
  });
});
