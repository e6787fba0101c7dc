import type { TenantId } from '../auth/tenant';
import { SchemasCache } from './schemas-cache';

const [A, B] = ['a', 'b'] as TenantId[];

describe('a cache of schemas', () => {
  let reads: string[];
  const assistant = (assistantId: string, version = 1, createdAt = new Date(0)) => ({
    assistantId,
    graphId: 'graph',
    version,
    createdAt,
  });
  const reader = (name: string) => (): Promise<string> => {
    reads.push(name);
    return Promise.resolve(`schemas of ${name}`);
  };

  beforeEach(() => (reads = []));

  it('reads those of a graph once, for all assistants at once', async () => {
    const cache = new SchemasCache<string>({ isFixed: () => true });
    const found = await Promise.all([
      cache.get(A, assistant('1'), reader('1')),
      cache.get(A, assistant('2'), reader('2')),
      cache.get(B, assistant('3'), reader('3')),
    ]);
    expect([found, reads]).toEqual([Array(3).fill('schemas of 1'), ['1']]);
  });

  it('keeps those of a graph that a function makes for one version of one assistant', async () => {
    const cache = new SchemasCache<string>({ isFixed: () => false });
    expect(await cache.get(A, assistant('1'), reader('1'))).toBe('schemas of 1');
    expect(await cache.get(B, assistant('2'), reader('2'))).toBe('schemas of 2');
    expect(await cache.get(A, assistant('1', 2), reader('1, changed'))).toBe('schemas of 1, changed');
    expect(await cache.get(B, assistant('1'), reader('1 of another tenant'))).toBe('schemas of 1 of another tenant');
    expect(await cache.get(A, assistant('1'), reader('1'))).toBe('schemas of 1');
    expect(await cache.get(B, assistant('2'), reader('2'))).toBe('schemas of 2');
    expect(reads).toEqual(['1', '2', '1, changed', '1 of another tenant']);
  });

  it('reads those of an assistant again that was deleted and created with the same id', async () => {
    const cache = new SchemasCache<string>({ isFixed: () => false });
    await cache.get(A, assistant('1'), reader('1'));
    expect(await cache.get(A, assistant('1', 1, new Date(1)), reader('its successor'))).toBe(
      'schemas of its successor',
    );
  });

  it('reads again after a failure', async () => {
    const cache = new SchemasCache<string>({ isFixed: () => false });
    const failing = (): Promise<string> => Promise.reject(new Error('not loaded'));
    await expect(cache.get(A, assistant('1'), failing)).rejects.toThrow('not loaded');
    await cache.get(A, assistant('1'), reader('1'));
    await expect(cache.get(A, assistant('2'), failing)).rejects.toThrow('not loaded');
    expect(await cache.get(A, assistant('2'), reader('2'))).toBe('schemas of 2');
  });
});
