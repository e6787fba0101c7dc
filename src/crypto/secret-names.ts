/** Words that a secret's name ends in. */
const LAST_WORDS = new Set([
  'apikey',
  'authorization',
  'bearer',
  'cookie',
  'credential',
  'credentials',
  'passphrase',
  'passwd',
  'password',
  'pwd',
  'secret',
  'token',
]);
/** Words that make a `key` a secret. */
const KEYS_OF = new Set(['access', 'api', 'auth', 'client', 'encryption', 'private', 'secret', 'signing']);

/**
 * Whether a value with this name is taken for a secret: `api_key`, `openaiApiKey`, `X-Auth-Token`, `client_secret`. By its
 * last words, so that `max_tokens` and `token_count` aren't.
 */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1);
  if (last === undefined) return false;
  return LAST_WORDS.has(last) || (last === 'key' && KEYS_OF.has(words.at(-2) ?? ''));
}
