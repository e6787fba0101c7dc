import { testConfig } from '../../../test/support/config';
import { FeedbackLinks } from './feedback-links';

const TENANT = '0199aaaa-0000-7000-8000-00000000000a';
const RUN = '0199aaaa-0000-7000-8000-00000000000b';

describe('feedback links', () => {
  const links = new FeedbackLinks(testConfig('postgres://nobody@127.0.0.1:1/none'));
  const tokenOf = (createdAt: Date): string => links.of(TENANT, RUN, createdAt, ['thumb']).thumb.split('/').at(-1)!;

  it('are the same each time, and authorize one feedback key on one run', () => {
    const createdAt = new Date();
    expect(tokenOf(createdAt)).toBe(tokenOf(createdAt));
    expect(links.open(tokenOf(createdAt))).toEqual({ tenantId: TENANT, runId: RUN, key: 'thumb' });
  });

  it('authorize nothing after they expire', () => {
    expect(links.open(tokenOf(new Date(Date.now() - 8 * 86_400_000)))).toBeUndefined();
  });

  it('authorize nothing when they were modified, or made with another key', () => {
    const token = tokenOf(new Date());
    const [payload, signature] = token.split('.');
    const other = Buffer.from(payload, 'base64url').toString().replace('thumb', 'other');
    expect(links.open(`${Buffer.from(other).toString('base64url')}.${signature}`)).toBeUndefined();
    expect(links.open(payload)).toBeUndefined();
    expect(links.open('')).toBeUndefined();
    const elsewhere = new FeedbackLinks(
      testConfig('postgres://nobody@127.0.0.1:1/none', { GANTRY_SECRET_KEY: Buffer.alloc(32, 8).toString('base64') }),
    );
    expect(elsewhere.open(token)).toBeUndefined();
  });
});
