import { generateApiKey, hashApiKey, hintOf } from './api-key';

describe('an API key', () => {
  it('has the form that secret scanners recognize, and is never generated twice', () => {
    const keys = Array.from({ length: 100 }, generateApiKey);
    for (const key of keys) expect(key).toMatch(/^gtry_[A-Za-z0-9_-]{49}$/);
    expect(new Set(keys).size).toBe(100);
  });

  it('is displayed as its first and last four characters', () => {
    const key = generateApiKey();
    expect(hintOf(key)).toBe(`${key.slice(0, 9)}…${key.slice(-4)}`);
  });

  it('is displayed as its last characters only when it is short', () => {
    expect(hintOf('gtry_0123456789ab')).toBe('…89ab');
    expect(hintOf('development-key-0123456789')).toBe('…6789');
  });

  it('is stored as a hash keyed with the secret of the deployment', () => {
    const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    expect(hashApiKey(one, 'key')).toEqual(hashApiKey(one, 'key'));
    expect(hashApiKey(one, 'key')).not.toEqual(hashApiKey(other, 'key'));
    expect(hashApiKey(one, 'key').includes('key')).toBe(false);
  });
});
