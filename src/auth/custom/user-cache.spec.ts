import type { AuthUser } from '../../database/request-scope';
import type { AuthRequest } from './protocol';
import { UserCache } from './user-cache';

const request = (...headers: [string, string][]): AuthRequest => ({ method: 'GET', url: 'http://here/', headers });
const user = (identity: string): AuthUser => ({
  identity,
  display_name: identity,
  is_authenticated: true,
  permissions: [],
});

describe('the cache of users', () => {
  const settings = { headers: ['authorization', 'x-team'], ttlMs: 1_000, maxSize: 2 };

  it('recognizes a user by the configured headers for the configured time', () => {
    const cache = new UserCache(settings);
    cache.set(request(['Authorization', 'a'], ['accept', 'x']), user('alice'), 0);
    expect(cache.get(request(['authorization', 'a'], ['accept', 'y']), 999)).toEqual(user('alice'));
    expect(cache.get(request(['authorization', 'a']), 1_000)).toBeUndefined();
    expect(cache.get(request(['authorization', 'b']), 0)).toBeUndefined();
    expect(cache.get(request(['authorization', 'a'], ['x-team', 'blue']), 0)).toBeUndefined();
    expect(cache.get(request(['x-team', 'a']), 0)).toBeUndefined();
  });

  it('keeps no user whose request had none of these headers', () => {
    const cache = new UserCache(settings);
    cache.set(request(['cookie', 'a']), user('alice'), 0);
    expect(cache.get(request(['cookie', 'b']), 0)).toBeUndefined();
  });

  it('evicts the oldest entries when it is full', () => {
    const cache = new UserCache(settings);
    for (const name of ['a', 'b', 'c']) cache.set(request(['authorization', name]), user(name), 0);
    const known = ['a', 'b', 'c'].filter((name) => cache.get(request(['authorization', name]), 0));
    expect(known).toEqual(['b', 'c']);
  });
});
