import { isSecretName } from './secret-names';

describe('names of secrets', () => {
  it.each([
    'api_key',
    'apiKey',
    'openai_api_key',
    'OPENAI_API_KEY',
    'openaiApiKey',
    'x-api-key',
    'X-Auth-Token',
    'access_token',
    'token',
    'client_secret',
    'aws_secret_access_key',
    'Authorization',
    'db.password',
    'credentials',
  ])('include %s', (name) => expect(isSecretName(name)).toBe(true));

  it.each(['max_tokens', 'token_count', 'tokenizer', 'key', 'thread_key', 'keyboard', 'secretary', 'model', '', '-'])(
    'do not include %s',
    (name) => expect(isSecretName(name)).toBe(false),
  );
});
