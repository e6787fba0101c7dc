import type { TenantId } from '../auth/tenant';
import { StateCache } from './state-cache';

const thread = { tenantId: 'a' as TenantId, threadId: 't', version: '1' };

describe('a cache of states', () => {
  let cache: StateCache;
  let reads: number;

  beforeEach(() => {
    cache = new StateCache();
    reads = 0;
  });

  const read = (state = '{}') => {
    return () => {
      reads += 1;
      return Promise.resolve(state);
    };
  };

  it('reads a version of a thread once, and another version again', async () => {
    expect(await cache.get(thread, undefined, read('one'))).toBe('one');
    expect(await cache.get(thread, undefined, read('other'))).toBe('one');
    expect(await cache.get({ ...thread, version: '2' }, undefined, read('two'))).toBe('two');
    expect(await cache.get({ ...thread, version: '2' }, undefined, read('other'))).toBe('two');
    expect(reads).toBe(2);
  });

  it('keeps tenants, threads and selected fields apart', async () => {
    const asked = [
      [thread, undefined],
      [{ ...thread, tenantId: 'b' as TenantId }, undefined],
      [{ ...thread, threadId: 'u' }, undefined],
      [thread, ['values']],
      [thread, ['next']],
    ] as const;
    for (const [index, [of, select]] of asked.entries())
      expect(await cache.get(of, select && [...select], read(String(index)))).toBe(String(index));
    for (const [index, [of, select]] of asked.entries())
      expect(await cache.get(of, select && [...select], read('other'))).toBe(String(index));
  });

  it('keeps nothing of a read that fails', async () => {
    await expect(cache.get(thread, undefined, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(await cache.get(thread, undefined, read('one'))).toBe('one');
  });

  it('does not keep a very long state', async () => {
    const long = 'x'.repeat(2 * 1024 * 1024);
    await cache.get(thread, undefined, read(long));
    expect(await cache.get(thread, undefined, read('other'))).toBe('other');
  });

  it('drops the states that were used longest ago', async () => {
    const state = 'x'.repeat(1000 * 1024);
    const of = (index: number) => ({ ...thread, threadId: String(index) });
    for (let index = 0; index < 16; index += 1) await cache.get(of(index), undefined, read(state));
    await cache.get(of(0), undefined, read());
    await cache.get(of(16), undefined, read(state));
    expect(reads).toBe(17);
    await cache.get(of(0), undefined, read());
    expect(reads).toBe(17);
    await cache.get(of(1), undefined, read());
    expect(reads).toBe(18);
  });
});
