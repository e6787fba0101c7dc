import { callerOfToken, issueCallToken } from './call-token';
import { issueTraceToken, tenantOfTraceToken } from './trace-token';

const KEY = Buffer.alloc(32, 1);
const TENANT = '11111111-1111-4111-8111-111111111111';
const NOW = new Date('2026-11-21T00:00:00Z');
const END = new Date(NOW.getTime() + 60_000);

describe('trace token', () => {
  const token = issueTraceToken(KEY, TENANT, END);

  it('is valid for its tenant until it expires', () => {
    expect(tenantOfTraceToken(KEY, token, NOW)).toBe(TENANT);
    expect(tenantOfTraceToken(KEY, token, new Date(END.getTime() - 1))).toBe(TENANT);
    expect(tenantOfTraceToken(KEY, token, END)).toBeUndefined();
  });

  it.each([
    ['of another tenant', token.replace('1111', '2222')],
    ['with a later expiry', token.replace(/\.\d+\./, '.9999999999999.')],
    ['without a signature', token.slice(0, token.lastIndexOf('.'))],
    ['with trailing text', `${token}.x`],
    ['of another deployment', issueTraceToken(Buffer.alloc(32, 2), TENANT, END)],
    ['that calls the API', issueCallToken(KEY, TENANT, NOW)],
    ['that is empty', ''],
  ])('is refused %s', (_name, forged) => expect(tenantOfTraceToken(KEY, forged, NOW)).toBeUndefined());

  it('authorizes no other call', () => expect(callerOfToken(KEY, token, NOW)).toBeUndefined());
});
