import { addressTextOf } from '../../console/src/pages/playground/address-text';

describe('the text of a configuration in an address', () => {
  it.each([
    'api_key',
    'openaiApiKey',
    'X-Auth-Token',
    'authtoken',
    'passwords',
    'db_pwd',
    'passphrase',
    'session_cookie',
    'bearer',
    'auth_key',
    'client_key',
    'encryptionKey',
    'signing_key',
  ])('leaves out %s', (name) => {
    expect(addressTextOf({ [name]: 'x' })).toBeUndefined();
    expect(addressTextOf({ model: { [name]: 'x', tries: [1, { [name]: { a: 'x' } }] } })).toBe(
      '{"model":{"tries":[1,{}]}}',
    );
  });

  it('keeps other names', () => {
    const value = { max_tokens: 5, thread_key: 'a', key: 'b', model: null };
    expect(addressTextOf(value)).toBe(JSON.stringify(value));
  });

  it.each([[undefined], [{}]])('is none for %j', (value) => {
    expect(addressTextOf(value)).toBeUndefined();
  });
});
