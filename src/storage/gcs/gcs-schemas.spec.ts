import { generateKeyPairSync } from 'node:crypto';
import { gcsCredentialsSchema } from './gcs-schemas';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = {
  type: 'service_account',
  client_email: 'a@b.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
};

const issueOf = (service_account_key: unknown): string | undefined =>
  gcsCredentialsSchema.safeParse({ service_account_key }).error?.issues[0].message;

describe('the key of a service account', () => {
  it('is taken as an object and as the text of its file, without what is not used of it', () => {
    const file = { ...KEY, project_id: 'p', token_uri: 'http://169.254.169.254/' };
    for (const given of [file, JSON.stringify(file)]) {
      expect(gcsCredentialsSchema.parse({ service_account_key: given })).toEqual({ service_account_key: KEY });
    }
  });

  it.each([
    ['no JSON', '{'],
    ['deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['deep in a field', JSON.stringify({ ...KEY, x: 0 }).replace('"x":0', `"x":${'['.repeat(9)}${']'.repeat(9)}`)],
    ['long', JSON.stringify({ ...KEY, x: Array(1_000).fill(0) })],
  ])('is refused as a text that is %s, before objects are made of it', (_, text) => {
    expect(issueOf(text)).toBe('must be the JSON of a service account key');
  });
});
