import type { TenantId } from '../database/tenant-id';
import { checkKey, checkLabels, checkNamespace, fromPath, MAX_NAMESPACE_BYTES, toPath } from './namespace';
import { StoreRefusal } from './store-refusal';

const TENANT = '0190aaaa-0000-7000-8000-000000000000' as TenantId;

describe('namespaces', () => {
  it.each([
    [['a']],
    [['a', 'b']],
    [['a:b']],
    [[':']],
    [['\\']],
    [['\\c']],
    [['a\\', ':b']],
    [['\\\\c:', 'x']],
    [['ü', '🫖']],
  ])('%j is restored from its path', (labels) => {
    const path = toPath(TENANT, labels);
    expect(fromPath(path)).toEqual(labels);
    expect(path.split(':')).toHaveLength(labels.length + 1);
  });

  it('have distinct paths', () => {
    const all = [['a', 'b'], ['a:b'], ['a\\cb'], ['a\\', 'b'], ['a\\:b'], ['a\\\\', 'b']];
    expect(new Set(all.map((labels) => toPath(TENANT, labels))).size).toBe(all.length);
  });

  it('are written as the library writes them unless a label has a colon or a backslash', () => {
    expect(toPath(TENANT, ['users', 'user_1', '100%'])).toBe(`${TENANT}:users:user_1:100%`);
  });

  const refusal = (check: () => void): Pick<StoreRefusal, 'path' | 'kind'> | undefined => {
    try {
      check();
    } catch (error) {
      if (error instanceof StoreRefusal) return { path: error.path, kind: error.kind };
      throw error;
    }
    return undefined;
  };

  it.each<[string[], string, string]>([
    [[], 'namespace', 'meaning'],
    [['langgraph'], 'namespace.0', 'meaning'],
    [['langgraph', 'a'], 'namespace.0', 'meaning'],
    [['a', ''], 'namespace.1', 'shape'],
    [['a.b'], 'namespace.0', 'shape'],
    [['a\0'], 'namespace.0', 'shape'],
    [['\ud83e'], 'namespace.0', 'shape'],
    [[7 as never], 'namespace.0', 'shape'],
    [['a'.repeat(MAX_NAMESPACE_BYTES + 1)], 'namespace', 'shape'],
    [[':'.repeat(MAX_NAMESPACE_BYTES / 2 + 1)], 'namespace', 'shape'],
  ])('%j are refused', (namespace, path, kind) => {
    expect(refusal(() => checkNamespace(namespace))).toEqual({ path, kind });
  });

  it('may contain the reserved name after the first label, and be searched by it', () => {
    expect(refusal(() => checkNamespace(['a', 'langgraph']))).toBeUndefined();
    expect(refusal(() => checkLabels(['langgraph'], 'prefix'))).toBeUndefined();
    expect(refusal(() => checkLabels([], 'prefix'))).toBeUndefined();
    expect(refusal(() => checkLabels(['a', 'b.c'], 'suffix'))).toEqual({ path: 'suffix.1', kind: 'shape' });
  });

  it('accept keys of any text that Postgres can store and index', () => {
    for (const key of ['', '.', ':', 'ü'.repeat(512)]) expect(refusal(() => checkKey(key))).toBeUndefined();
    for (const key of ['\0', '\udfff', 'ü'.repeat(513), 7, undefined]) {
      expect(refusal(() => checkKey(key))).toEqual({ path: 'key', kind: 'shape' });
    }
  });
});
