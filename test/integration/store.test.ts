import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresStore } from '@langchain/langgraph-checkpoint-postgres/store';
import { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../src/auth/tenant';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { StoreRepository } from '../../src/item-store/store.repository';
import { startTestApi, type TestApi } from '../support/api';
import { waitFor } from '../support/wait-for';

const TENANT = '00000000-0000-0000-0000-000000000000' as TenantId;

interface Answer<T = unknown> {
  status: number;
  text: string;
  body: T;
}
interface Refusal {
  detail: string;
  errors: { path: string }[];
}
interface Item {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  score?: number | null;
}

/** The routes of the store against a real Postgres. */
describe('the store', () => {
  let api: TestApi;
  let sql: Pool;
  let namespaceOf = 0;
  /** A namespace that no other test uses. */
  let ns: string;

  beforeAll(async () => {
    api = await startTestApi();
    sql = new Pool({ connectionString: api.database.url, max: 2 });
  });

  afterAll(async () => {
    await sql?.end();
    await api?.close();
  });

  beforeEach(() => {
    namespaceOf += 1;
    ns = `ns-${namespaceOf}`;
  });

  async function ask<T = unknown>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch(`${api.url}/store${path}`, {
      method,
      ...(body !== undefined && {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, text, body: (isJson && text !== '' ? JSON.parse(text) : undefined) as T };
  }

  const put = async (namespace: string[], key: string, value: object, more: object = {}): Promise<void> => {
    const { status, text } = await ask('PUT', '/items', { namespace, key, value, ...more });
    expect([status, text]).toEqual([204, '']);
  };
  const get = async (namespace: string[], key: string, more = ''): Promise<Item | null> => {
    const query = new URLSearchParams({ namespace: namespace.join('.'), key });
    const { status, body } = await ask<Item | null>('GET', `/items?${query.toString()}${more}`);
    expect(status).toBe(200);
    return body;
  };
  const search = async (body: object): Promise<Item[]> => {
    const { status, body: found, text } = await ask<{ items: Item[] }>('POST', '/items/search', body);
    expect([status, text]).toEqual([200, expect.any(String)]);
    return found.items;
  };
  const keys = async (body: object): Promise<string[]> => (await search(body)).map(({ key }) => key);
  const namespaces = async (body: object): Promise<string[][]> => {
    const { status, body: found } = await ask<{ namespaces: string[][] }>('POST', '/namespaces', body);
    expect(status).toBe(200);
    return found.namespaces;
  };

  describe('an item', () => {
    it('is returned as it was put, with its times', async () => {
      const value = { text: 'likes tea ✓ 🫖', deep: { list: [1, 2.5, null, true, { a: [] }] } };
      await put([ns, 'ada'], 'likes', value);
      expect(await get([ns, 'ada'], 'likes')).toEqual({
        namespace: [ns, 'ada'],
        key: 'likes',
        value,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
      });
    });

    it('is replaced as a whole, and keeps its time of creation', async () => {
      await put([ns], 'a', { one: 1 });
      const before = await get([ns], 'a');
      await put([ns], 'a', { two: 2 });
      const after = await get([ns], 'a');
      expect(after!.value).toEqual({ two: 2 });
      expect(after!.created_at).toBe(before!.created_at);
      expect(after!.updated_at > before!.updated_at).toBe(true);
    });

    it('is null in JSON when it does not exist', async () => {
      const { status, text } = await ask('GET', `/items?namespace=${ns}&key=nothing`);
      expect([status, text]).toEqual([200, 'null']);
    });

    it('is gone when it is deleted, and can be deleted again', async () => {
      await put([ns], 'a', {});
      for (let time = 0; time < 2; time += 1) {
        const { status, text } = await ask('DELETE', '/items', { namespace: [ns], key: 'a' });
        expect([status, text]).toEqual([204, '']);
        expect(await get([ns], 'a')).toBeNull();
      }
    });

    it('may have any text as its key, also the empty one', async () => {
      for (const key of ['', 'a/b?c#d&e', 'with space', '%', '_', 'a.b:c', '✓', "';--"]) {
        await put([ns], key, { key });
        expect((await get([ns], key))!.value).toEqual({ key });
      }
      expect(await keys({ namespace_prefix: [ns], limit: 20 })).toHaveLength(8);
    });

    it('may have a size of one megabyte', async () => {
      const value = { text: 'x'.repeat(500_000), list: Array.from({ length: 30_000 }, (_, index) => `entry ${index}`) };
      await put([ns], 'large', value);
      expect((await get([ns], 'large'))!.value).toEqual(value);
      expect((await search({ namespace_prefix: [ns] }))[0].value).toEqual(value);
    });

    it('is found by labels in repeated parameters as well', async () => {
      await put([ns, 'b'], 'k', { found: true });
      const { body } = await ask<Item>('GET', `/items?namespace=${ns}&namespace=b&key=k`);
      expect(body.value).toEqual({ found: true });
    });

    it('is one of fifty concurrent puts, complete', async () => {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => put([ns], 'contended', { index, text: String(index).repeat(1000) })),
      );
      const { value } = (await get([ns], 'contended'))!;
      expect(value.text).toBe(String(value.index).repeat(1000));
      expect(await search({ namespace_prefix: [ns] })).toHaveLength(1);
    });
  });

  describe('a namespace', () => {
    const odd = [
      ['a%b'],
      ['a_b'],
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['a\\b'],
      ['a\\c', 'b'],
      ['ü', '✓'],
      ['*'],
      ['a'.repeat(500)],
    ];

    it.each(odd.map((labels) => [labels]))('may be %j', async (labels) => {
      const namespace = [ns, ...labels];
      await put(namespace, 'k', { labels });
      expect((await get(namespace, 'k'))!.namespace).toEqual(namespace);
      expect((await search({ namespace_prefix: namespace }))[0].namespace).toEqual(namespace);
      expect(await namespaces({ prefix: [ns] })).toEqual([namespace]);
    });

    it('includes what is below it, and not what only has a common prefix', async () => {
      for (const labels of [['mem'], ['mem', 'x'], ['memories'], ['mem-2'], ['other']]) {
        await put([ns, ...labels], labels.join('/'), {});
      }
      expect((await keys({ namespace_prefix: [ns, 'mem'] })).sort()).toEqual(['mem', 'mem/x']);
      expect(await namespaces({ prefix: [ns, 'mem'] })).toEqual([
        [ns, 'mem'],
        [ns, 'mem', 'x'],
      ]);
    });

    it.each([
      ['empty', [], 400, 'namespace'],
      ['of a reserved root', ['langgraph', 'x'], 400, 'namespace.0'],
      ['with an empty label', ['a', ''], 422, 'namespace.1'],
      ['with a period in a label', ['a', 'b.c'], 422, 'namespace.1'],
      ['with U+0000', ['a\0b'], 422, 'namespace.0'],
      ['with half a character', ['a\ud800'], 422, 'namespace.0'],
      ['that is too long', ['a'.repeat(1100)], 422, 'namespace'],
      ['of numbers', [7], 422, 'namespace.0'],
      ['that is a text', 'a.b', 422, 'namespace'],
      ['that is absent', undefined, 422, 'namespace'],
    ])('is refused when it is one %s', async (_, namespace, status, path) => {
      for (const [method, body] of [
        ['PUT', { namespace, key: 'k', value: {} }],
        ['DELETE', { namespace, key: 'k' }],
      ] as const) {
        const answer = await ask<Refusal>(method, '/items', body);
        expect([answer.status, answer.body.errors[0].path]).toEqual([status, path]);
        expect(answer.body.detail).toContain(path);
      }
    });

    it('is not created by reading it, and disappears with its last item', async () => {
      await get([ns, 'ghost'], 'k');
      await ask('DELETE', '/items', { namespace: [ns, 'ghost'], key: 'k' });
      expect(await namespaces({ prefix: [ns] })).toEqual([]);
      await put([ns, 'real'], 'k', {});
      expect(await namespaces({ prefix: [ns] })).toEqual([[ns, 'real']]);
      await ask('DELETE', '/items', { namespace: [ns, 'real'], key: 'k' });
      expect(await namespaces({ prefix: [ns] })).toEqual([]);
    });

    it('is listed by prefix, suffix, wildcards, depth and page', async () => {
      const all = [
        [ns, 'users', 'ada', 'notes'],
        [ns, 'users', 'ada', 'prefs'],
        [ns, 'users', 'bob', 'notes'],
        [ns, 'users', 'bob', 'notes', 'old'],
        [ns, 'teams', 'x', 'notes'],
      ];
      for (const namespace of all) await put(namespace, 'k', {});
      const sorted = [all[4], all[0], all[1], all[2], all[3]];
      expect(await namespaces({ prefix: [ns] })).toEqual(sorted);
      expect(await namespaces({ prefix: [ns, 'users', '*', 'notes'] })).toEqual([all[0], all[2], all[3]]);
      expect(await namespaces({ prefix: [ns], suffix: ['notes'] })).toEqual([all[4], all[0], all[2]]);
      expect(await namespaces({ prefix: [ns], suffix: ['ada', '*'] })).toEqual([all[0], all[1]]);
      expect(await namespaces({ prefix: [ns], max_depth: 2 })).toEqual([
        [ns, 'teams'],
        [ns, 'users'],
      ]);
      expect(await namespaces({ prefix: [ns], limit: 2, offset: 1 })).toEqual(sorted.slice(1, 3));
      expect(await namespaces({ prefix: [ns], limit: 0 })).toEqual([]);
      expect(await namespaces({ prefix: [ns, 'users', 'ada', 'notes', 'deeper'] })).toEqual([]);
      expect(await namespaces({})).toEqual(expect.arrayContaining(all));
    });
  });

  describe('a search', () => {
    it('lists the last written first, in all namespaces when it names none', async () => {
      for (const key of ['a', 'b', 'c']) await put([ns, key], key, {});
      await put([ns, 'a'], 'a', { again: true });
      expect(await keys({ namespace_prefix: [ns] })).toEqual(['a', 'c', 'b']);
      expect(await keys({ limit: 3 })).toEqual(['a', 'c', 'b']);
      expect(await keys({ namespace_prefix: null, limit: 3 })).toEqual(['a', 'c', 'b']);
      expect(await keys({ namespace_prefix: [], limit: 1 })).toEqual(['a']);
    });

    it('has pages, of ten items unless a limit is given', async () => {
      for (let index = 0; index < 12; index += 1) await put([ns], `k${index}`, {});
      expect(await keys({ namespace_prefix: [ns] })).toHaveLength(10);
      expect(await keys({ namespace_prefix: [ns], offset: 10 })).toEqual(['k1', 'k0']);
      expect(await keys({ namespace_prefix: [ns], limit: 0 })).toEqual([]);
      expect(await keys({ namespace_prefix: [ns], limit: 1000 })).toHaveLength(12);
      for (const [field, value] of [
        ['limit', 1001],
        ['limit', -1],
        ['limit', 1.5],
        ['offset', -1],
        ['query', 'x'.repeat(100_001)],
      ] as const) {
        const { status, body } = await ask<Refusal>('POST', '/items/search', { [field]: value });
        expect([status, body.errors[0].path]).toEqual([422, field]);
      }
      const wrong = { namespace_prefix: ['a\ud800'], limit: 0 };
      expect((await ask<Refusal>('POST', '/items/search', wrong)).status).toBe(422);
    });

    it('ignores a query when nothing is embedded, and gives no scores', async () => {
      await put([ns], 'a', { text: 'tea' });
      const items = await search({ namespace_prefix: [ns], query: 'coffee' });
      expect(items).toEqual([expect.objectContaining({ key: 'a', score: null })]);
    });

    describe('with a filter', () => {
      const values: Record<string, object> = {
        ada: {
          name: 'Ada',
          age: 36,
          tags: ['a', 'b'],
          at: '2024-03-01T10:00:00Z',
          address: { city: 'Oslo', zip: 150 },
        },
        bob: { name: 'Bob', age: '41', tags: ['b', 'a'], at: '2025-01-01T00:00:00Z', address: { city: 'Rome' } },
        cat: { name: 'Cat', age: null, active: true, address: 'Oslo' },
        dog: { name: 'Dog', active: false, age: 'unknown', big: 1e300 },
      };
      const prefix = ['filters'];

      beforeAll(async () => {
        for (const [key, value] of Object.entries(values)) await put(prefix, key, value);
      });

      it.each([
        [{}, 'ada bob cat dog'],
        [{ name: 'Ada' }, 'ada'],
        [{ name: 'ada' }, ''],
        [{ age: 36 }, 'ada'],
        [{ age: 36.0, name: 'Ada' }, 'ada'],
        [{ age: '36' }, ''],
        [{ age: 36, name: 'Bob' }, ''],
        [{ active: true }, 'cat'],
        [{ active: null }, 'ada bob'],
        [{ age: null }, 'cat'],
        [{ tags: ['a', 'b'] }, 'ada'],
        [{ tags: ['a'] }, ''],
        [{ address: { city: 'Oslo' } }, 'ada'],
        [{ address: { city: { $ne: 'Oslo' } } }, 'bob'],
        [{ address: { zip: { $gt: 100 } } }, 'ada'],
        [{ address: {} }, 'ada bob'],
        [{ name: { $eq: 'Bob' } }, 'bob'],
        [{ address: { $eq: { city: 'Rome' } } }, 'bob'],
        [{ name: { $ne: 'Bob' } }, 'ada cat dog'],
        [{ active: { $ne: true } }, 'ada bob dog'],
        [{ active: { $ne: null } }, 'cat dog'],
        [{ age: { $gt: 36 } }, 'bob'],
        [{ age: { $gte: 36 } }, 'ada bob'],
        [{ age: { $lt: 40 } }, 'ada'],
        [{ age: { $lte: '41' } }, 'ada bob'],
        [{ age: { $gt: 36, $lt: 41 } }, ''],
        [{ big: { $gt: 1e299 } }, 'dog'],
        [{ at: { $gte: '2024-06-01' } }, 'bob'],
        [{ at: { $lt: '2024-06-01' } }, 'ada'],
        [{ name: { $in: ['Ada', 'Dog', 7] } }, 'ada dog'],
        [{ name: { $in: [] } }, ''],
        [{ name: { $nin: ['Ada', 'Dog'] } }, 'bob cat'],
        [{ active: { $nin: [true] } }, 'ada bob dog'],
        [{ active: { $exists: true } }, 'cat dog'],
        [{ active: { $exists: false } }, 'ada bob'],
        [{ "na'me": 'x' }, ''],
        [{ 'address.city': 'Oslo' }, ''],
        [{ 'a"b,{}': { $exists: true } }, ''],
      ])('%j finds %s', async (filter, expected) => {
        expect((await keys({ namespace_prefix: prefix, filter })).sort().join(' ')).toBe(expected);
      });

      it.each([
        [{ age: { $near: 1 } }, 'filter.age'],
        [{ $or: [{ age: 1 }] }, 'filter.$or'],
        [{ age: { $gt: true } }, 'filter.age'],
        [{ age: { $gt: null } }, 'filter.age'],
        [{ age: { $in: 7 } }, 'filter.age'],
        [{ age: { $exists: 'yes' } }, 'filter.age'],
        [{ address: { city: { $regex: 'O' } } }, 'filter.address.city'],
        [{ age: { $gt: 1, zip: 2 } }, 'filter.age'],
        [Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}`, index])), 'filter'],
      ])('%j is refused with a 400 that names the field', async (filter, path) => {
        const { status, body } = await ask<Refusal>('POST', '/items/search', { namespace_prefix: prefix, filter });
        expect([status, body.errors[0].path]).toEqual([400, path]);
      });

      it('that is not an object, or contains U+0000, is a 422', async () => {
        for (const filter of [[], 'a', { a: 'x\0' }, { 'a\0': 1 }]) {
          const { status } = await ask('POST', '/items/search', { namespace_prefix: prefix, filter });
          expect(status).toBe(422);
        }
      });
    });
  });

  describe('invalid requests', () => {
    it.each([
      ['a value that is not an object', { value: 'text' }, 'value'],
      ['a value that is an array', { value: [] }, 'value'],
      ['no value', { value: null }, 'value'],
      ['no key', { key: undefined }, 'key'],
      ['a key that is a number', { key: 7 }, 'key'],
      ['a key with U+0000', { key: 'a\0' }, 'key'],
      ['a key that is too long', { key: 'k'.repeat(1025) }, 'key'],
      ['a value with U+0000', { value: { text: 'a\0b' } }, 'value'],
      ['a name with U+0000', { value: { 'a\0b': 1 } }, 'value'],
      ['a value with half a character', { value: { text: '\udc00' } }, 'value'],
      ['a ttl of zero', { ttl: 0 }, 'ttl'],
      ['a ttl that is negative', { ttl: -1 }, 'ttl'],
      ['a ttl above the limit', { ttl: 1e9 }, 'ttl'],
      ['a ttl that is a text', { ttl: '5' }, 'ttl'],
      ['an index that is true', { index: true }, 'index'],
    ])('%s is a 422 that names the field', async (_, wrong, path) => {
      const { status, body } = await ask<Refusal>('PUT', '/items', { namespace: [ns], key: 'k', value: {}, ...wrong });
      expect([status, body.errors?.[0].path]).toEqual([status, path]);
      expect(status).toBe(422);
      expect(await search({ namespace_prefix: [ns] })).toEqual([]);
    });

    it('do not include a text that only looks like an escape', async () => {
      const value = { text: '\\u0000 and \\\\ud800' };
      await put([ns], 'k', value);
      expect((await get([ns], 'k'))!.value).toEqual(value);
    });

    it.each([
      ['key', `/items?namespace=a`],
      ['namespace', `/items?key=a`],
      ['namespace', `/items?namespace=&key=a`],
      ['namespace.1', `/items?namespace=a..b&key=a`],
    ])('a get without its %s is a 422', async (path, url) => {
      const { status, body } = await ask<Refusal>('GET', url);
      expect(status).toBe(422);
      expect(body.detail).toContain(path);
    });

    it('a value that is nested too deeply is a 422', async () => {
      const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
      const { status } = await ask('PUT', '/items', `{"namespace":["${ns}"],"key":"k","value":${deep}}`);
      expect(status).toBe(422);
    });
  });

  describe('time to live', () => {
    it('expires an item after fractions of a minute, without a sweep', async () => {
      await put([ns], 'short', {}, { ttl: 0.01 });
      await put([ns], 'long', {});
      expect(await get([ns], 'short', '&refresh_ttl=false')).not.toBeNull();
      await waitFor('the item to expire', async () => (await get([ns], 'short', '&refresh_ttl=false')) === null);
      expect(await keys({ namespace_prefix: [ns] })).toEqual(['long']);
      const { rows } = await sql.query(`SELECT key FROM ${CHECKPOINT_SCHEMA}.store WHERE key = 'short'`);
      expect(rows).toHaveLength(1);
      expect(await new StoreRepository(sql).deleteExpired(10)).toBe(1);
      expect(await new StoreRepository(sql).deleteExpired(10)).toBe(0);
    });

    const expiry = async (): Promise<number> => {
      const { rows } = await sql.query<{ expires_at: Date }>(
        `SELECT expires_at FROM ${CHECKPOINT_SCHEMA}.store WHERE namespace_path = $1`,
        [`${TENANT}:${ns}`],
      );
      return rows[0].expires_at.getTime();
    };
    /** Moves the item's times back, as if it had been put a while ago. */
    const age = async (): Promise<number> => {
      await sql.query(
        `UPDATE ${CHECKPOINT_SCHEMA}.store SET expires_at = expires_at - interval '30 seconds' WHERE namespace_path = $1`,
        [`${TENANT}:${ns}`],
      );
      return expiry();
    };

    it('starts again when the item is read, without changing the item', async () => {
      await put([ns], 'k', {}, { ttl: 1 });
      const { updated_at } = (await get([ns], 'k'))!;
      let aged = await age();
      await get([ns], 'k', '&refresh_ttl=false');
      expect(await expiry()).toBe(aged);
      await get([ns], 'k');
      expect(await expiry()).toBeGreaterThan(aged);
      aged = await age();
      await search({ namespace_prefix: [ns], refresh_ttl: false });
      expect(await expiry()).toBe(aged);
      await search({ namespace_prefix: [ns] });
      expect(await expiry()).toBeGreaterThan(aged);
      expect((await get([ns], 'k'))!.updated_at).toBe(updated_at);
    });

    it('is that of the last put, and none when that gives none', async () => {
      await put([ns], 'k', {}, { ttl: 1 });
      await put([ns], 'k', {});
      const { rows } = await sql.query(`SELECT expires_at FROM ${CHECKPOINT_SCHEMA}.store WHERE namespace_path = $1`, [
        `${TENANT}:${ns}`,
      ]);
      expect(rows).toEqual([{ expires_at: null }]);
    });

    it('passes nothing on to an item that replaces an expired one', async () => {
      await put([ns], 'k', { old: true }, { ttl: 0.005 });
      const before = await get([ns], 'k', '&refresh_ttl=false');
      await waitFor('the item to expire', async () => (await get([ns], 'k', '&refresh_ttl=false')) === null);
      await put([ns], 'k', { fresh: true });
      expect((await get([ns], 'k'))!.created_at > before!.created_at).toBe(true);
    });
  });

  describe('shared with other users of the tables', () => {
    it('is read by the library, and reads what the library wrote, below the tenant', async () => {
      const library = new PostgresStore({
        connectionOptions: api.database.url,
        schema: CHECKPOINT_SCHEMA,
        ensureTables: false,
      });
      try {
        await put([ns, 'a'], 'k', { by: 'gantry' });
        expect((await library.get([TENANT, ns, 'a'], 'k'))!.value).toEqual({ by: 'gantry' });
        await library.put([TENANT, ns, 'b'], 'k', { by: 'library' });
        expect((await get([ns, 'b'], 'k'))!.value).toEqual({ by: 'library' });
        // A row without a tenant can't be written at all.
        await expect(library.put([ns], 'k', {})).rejects.toThrow(/uuid/);
      } finally {
        await library.stop();
      }
    });
  });
});

describe('two tenants', () => {
  let api: TestApi;
  const tenants = { ada: uuidv7(), bob: uuidv7() };
  const apiKeys = { ada: 'gantry-key-of-ada-0001', bob: 'gantry-key-of-bob-0001' };

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: apiKeys.ada, GANTRY_TENANT_ID: tenants.ada });
    const other = await startTestApi(
      { GANTRY_AUTH: 'on', GANTRY_API_KEY: apiKeys.bob, GANTRY_TENANT_ID: tenants.bob },
      api.database,
    );
    await other.app.close();
  });

  afterAll(() => api?.close());

  async function ask<T>(who: keyof typeof apiKeys, method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${api.url}/store${path}`, {
      method,
      headers: { 'x-api-key': apiKeys[who], ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
    const text = await response.text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  it('have separate stores, even with the same names', async () => {
    const item = { namespace: ['shared', 'name'], key: 'k' };
    await ask('ada', 'PUT', '/items', { ...item, value: { of: 'ada' } });
    expect(await ask('bob', 'GET', '/items?namespace=shared.name&key=k')).toBeNull();
    expect(await ask('bob', 'POST', '/items/search', {})).toEqual({ items: [] });
    expect(await ask('bob', 'POST', '/namespaces', {})).toEqual({ namespaces: [] });
    await ask('bob', 'DELETE', '/items', item);
    expect(await ask('ada', 'GET', '/items?namespace=shared.name&key=k')).toMatchObject({ value: { of: 'ada' } });
    await ask('bob', 'PUT', '/items', { ...item, value: { of: 'bob' } });
    expect(await ask('ada', 'GET', '/items?namespace=shared.name&key=k')).toMatchObject({ value: { of: 'ada' } });
    expect(await ask('bob', 'POST', '/items/search', {})).toMatchObject({ items: [{ value: { of: 'bob' } }] });
  });

  it("do not reach each other with the other's id as a label", async () => {
    expect(await ask('bob', 'GET', `/items?namespace=${tenants.ada}.shared.name&key=k`)).toBeNull();
    expect(await ask('bob', 'POST', '/items/search', { namespace_prefix: [tenants.ada] })).toEqual({ items: [] });
    expect(await ask('bob', 'POST', '/namespaces', { suffix: ['name'], prefix: ['*'] })).toEqual({
      namespaces: [['shared', 'name']],
    });
  });
});

/** An embedding without a model: counts of a few words, and the length of the text. */
const EMBEDDER = `
  const words = ['tea', 'coffee', 'rain'];
  export const calls = [];
  export async function embed(texts) {
    if (texts.some((text) => text.includes('explode'))) throw new RangeError('the model is away');
    if (texts.some((text) => text.includes('short'))) return texts.map(() => [1]);
    return texts.map((text) => [...words.map((word) => text.toLowerCase().split(word).length - 1), text.includes('zero') ? 0 : 0.1]);
  }
`;

describe('a store that embeds what it holds', () => {
  let api: TestApi;
  let folder: string;
  let sql: Pool;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-store-'));
    writeFileSync(join(folder, 'embed.mjs'), EMBEDDER);
    writeFileSync(
      join(folder, 'langgraph.json'),
      JSON.stringify({
        graphs: { talk: `${join(__dirname, '..', 'support', 'graphs', 'behaviours.ts')}:talk` },
        store: {
          index: { dims: 4, embed: './embed.mjs:embed', fields: ['text', 'notes[*].text'] },
          ttl: { default_ttl: 60 },
        },
      }),
    );
    api = await startTestApi({ GANTRY_CONFIG: join(folder, 'langgraph.json') });
    sql = new Pool({ connectionString: api.database.url, max: 2 });
  });

  afterAll(async () => {
    await sql?.end();
    await api?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
    const response = await fetch(`${api.url}/store${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
  }
  const put = async (namespace: string[], key: string, value: object, more: object = {}): Promise<void> => {
    expect(await ask('PUT', '/items', { namespace, key, value, ...more })).toEqual({ status: 204, body: undefined });
  };
  const search = async (body: object): Promise<[string, number | null][]> => {
    const { status, body: found } = await ask<{ items: Item[] }>('POST', '/items/search', body);
    expect(status).toBe(200);
    return found.items.map(({ key, score }) => [key, score!]);
  };
  const fields = async (key: string): Promise<string[]> => {
    const { rows } = await sql.query<{ field: string }>(
      `SELECT field FROM store_embeddings WHERE key = $1 ORDER BY 1`,
      [key],
    );
    return rows.map(({ field }) => field);
  };

  it('finds the nearest first, by exact cosine over the best field of each item', async () => {
    const ns = ['near'];
    await put(ns, 'tea', { text: 'tea' });
    await put(ns, 'both', { text: 'tea coffee' });
    await put(ns, 'notes', { text: 'rain', notes: [{ text: 'rain rain' }, { text: 'tea tea tea' }] });
    await put(ns, 'none', { other: 'tea' });
    await put(ns, 'unindexed', { text: 'tea' }, { index: false });
    const found = await search({ namespace_prefix: ns, query: 'tea' });
    expect(found.map(([key]) => key)).toEqual(['tea', 'notes', 'both', 'unindexed', 'none']);
    const cosine = (a: number[], b: number[]): number =>
      a.reduce((sum, x, at) => sum + x * b[at], 0) / (Math.hypot(...a) * Math.hypot(...b));
    const query = [1, 0, 0, 0.1];
    expect(found[0][1]).toBeCloseTo(1, 5);
    expect(found[1][1]).toBeCloseTo(cosine(query, [3, 0, 0, 0.1]), 5);
    expect(found[2][1]).toBeCloseTo(cosine(query, [1, 1, 0, 0.1]), 5);
    expect(found.slice(3).map(([, score]) => score)).toEqual([null, null]);
    // Pages continue after those that have a score.
    expect((await search({ namespace_prefix: ns, query: 'tea', limit: 2, offset: 2 })).map(([key]) => key)).toEqual([
      'both',
      'unindexed',
    ]);
    expect(await search({ namespace_prefix: ns, query: 'tea', filter: { text: 'rain' } })).toEqual([
      ['notes', expect.any(Number)],
    ]);
    // Without a query it lists.
    expect((await search({ namespace_prefix: ns }))[0]).toEqual(['unindexed', null]);
  });

  it('embeds the fields that a put names, and forgets those of an earlier value', async () => {
    await put(['fields'], 'item', { text: 'tea', notes: [{ text: 'a' }, { text: 'b' }] });
    expect(await fields('item')).toEqual(['notes[0].text', 'notes[1].text', 'text']);
    await put(['fields'], 'item', { text: 'tea', notes: [{ text: 'a' }] }, { index: ['notes[0].text', '$'] });
    expect(await fields('item')).toEqual(['$', 'notes[0].text']);
    await put(['fields'], 'item', { text: 'tea' }, { index: false });
    expect(await fields('item')).toEqual([]);
    await put(['fields'], 'item', { text: 'tea' });
    await ask('DELETE', '/items', { namespace: ['fields'], key: 'item' });
    expect(await fields('item')).toEqual([]);
  });

  it('has the embeddings of one value, out of fifty concurrent puts', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        put(['contended'], 'contended', {
          index,
          text: 'tea',
          notes: Array.from({ length: index % 7 }, () => ({ text: 'rain' })),
        }),
      ),
    );
    const { body } = await ask<Item>('GET', '/items?namespace=contended&key=contended');
    expect(await fields('contended')).toHaveLength(1 + (body.value.notes as unknown[]).length);
  });

  it('stores nothing when the embedding function fails, and reports its error', async () => {
    for (const [text, reason] of [
      ['explode', 'the model is away'],
      ['short', 'a vector of 1 numbers, while store.index.dims is 4'],
    ]) {
      const refused = await ask<Refusal>('PUT', '/items', { namespace: ['broken'], key: text, value: { text } });
      expect(refused.status).toBe(502);
      expect(refused.body.detail).toContain(reason);
      expect((await ask('GET', `/items?namespace=broken&key=${text}`)).body).toBeNull();
    }
    expect((await ask('POST', '/items/search', { query: 'explode' })).status).toBe(502);
    await put(['broken'], 'fine', { text: 'tea' });
  });

  it('gives items the default time to live, or none with null', async () => {
    await put(['ttl'], 'default', { text: 'zero' });
    await put(['ttl'], 'own', {}, { ttl: 5 });
    await put(['ttl'], 'ever', {}, { ttl: null });
    const { rows } = await sql.query(
      `SELECT key, ttl_minutes FROM ${CHECKPOINT_SCHEMA}.store WHERE namespace_path LIKE '%:ttl' ORDER BY key`,
    );
    expect(rows).toEqual([
      { key: 'default', ttl_minutes: 60 },
      { key: 'ever', ttl_minutes: null },
      { key: 'own', ttl_minutes: 5 },
    ]);
    // A vector of zeros has no direction.
    expect(await fields('default')).toEqual([]);
  });
});
