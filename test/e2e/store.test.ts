import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { pythonForGraphs, runPython } from '../support/python';
import { waitFor } from '../support/wait-for';

const STORE_GRAPHS = join(__dirname, '..', 'support', 'graphs', 'store-languages.json');
const SCRIPT = join(__dirname, '..', 'python', 'store_client.py');

const MEGABYTE = 1024 * 1024;

/** The store by the public clients, and the same store inside the nodes of graphs; api and worker as processes. */
describe('the store', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphProcesses: 1,
      graphs: STORE_GRAPHS,
      env: { GANTRY_PYTHON: pythonForGraphs() },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  describe('by the JavaScript SDK', () => {
    it('puts, gets, replaces and deletes an item', async () => {
      const namespace = ['js', 'user-1'];
      await client.store.putItem(namespace, 'likes', { text: 'tea' });
      const item = await client.store.getItem(namespace, 'likes');
      expect(item).toMatchObject({ namespace, key: 'likes', value: { text: 'tea' } });
      expect(Number.isNaN(Date.parse(item!.createdAt))).toBe(false);
      await client.store.putItem(namespace, 'likes', { text: 'coffee' }, { ttl: 5, index: false });
      const replaced = await client.store.getItem(namespace, 'likes', { refreshTtl: false });
      expect(replaced).toMatchObject({ value: { text: 'coffee' }, createdAt: item!.createdAt });
      await client.store.deleteItem(namespace, 'likes');
      expect(await client.store.getItem(namespace, 'likes')).toBeNull();
    });

    it('stores and returns a megabyte', async () => {
      const value = { text: '✓'.repeat(MEGABYTE / 3) };
      await client.store.putItem(['js', 'large'], 'k', value, { index: false });
      expect((await client.store.getItem(['js', 'large'], 'k'))!.value).toEqual(value);
      expect((await client.store.searchItems(['js', 'large'])).items[0].value).toEqual(value);
    });

    it('reports the labels that are not allowed', async () => {
      const put = (namespace: string[]): Promise<void> => client.store.putItem(namespace, 'k', {});
      await expect(put(['langgraph', 'x'])).rejects.toThrow(/400.*reserved/);
      await expect(put(['js', ''])).rejects.toThrow(/422.*namespace\.1/);
      await expect(put([])).rejects.toThrow(/400.*namespace/);
      // The client refuses this one itself.
      await expect(put(['js', 'a.b'])).rejects.toThrow(/periods/);
    });

    it('expires items after their time to live, and renews it when they are read', async () => {
      const there = async (key: string, refreshTtl: boolean): Promise<boolean> =>
        (await client.store.getItem(['js', 'ttl'], key, { refreshTtl })) !== null;
      await client.store.putItem(['js', 'ttl'], 'read', { n: 1 }, { ttl: 0.15, index: false });
      await client.store.putItem(['js', 'ttl'], 'left', { n: 2 }, { ttl: 0.15, index: false });
      await waitFor('the unread item to expire', async () => {
        await there('read', true);
        return !(await there('left', false));
      });
      expect((await client.store.searchItems(['js', 'ttl'])).items.map(({ key }) => key)).toEqual(['read']);
    });

    describe('searching', () => {
      beforeAll(async () => {
        for (const [key, text, rank, more] of [
          ['a', 'tea', 1, { list: [1, 2] }],
          ['b', 'coffee coffee', 2, { list: [2, 1] }],
          ['c', 'rain', 3, { nested: { deep: true, other: 1 } }],
        ] as const) {
          await client.store.putItem(['search', key], key, { text, rank, ...more });
        }
      });

      it('searches by namespace, filter, page and meaning', async () => {
        const found = async (options?: Parameters<Client['store']['searchItems']>[1]): Promise<string[]> =>
          (await client.store.searchItems(['search'], options)).items.map(({ key }) => key);
        expect(await found()).toEqual(['c', 'b', 'a']);
        expect(await found({ filter: { rank: { $gte: 2 } } })).toEqual(['c', 'b']);
        expect(await found({ limit: 1, offset: 1 })).toEqual(['b']);
        expect((await found({ query: 'a coffee, please' }))[0]).toBe('b');
        const [nearest] = (await client.store.searchItems(['search'], { query: 'coffee', limit: 1 })).items;
        expect(nearest.score).toBeGreaterThan(0.9);
      });

      it.each([
        [{ rank: 2 }, ['b']],
        [{ rank: { $eq: 2 } }, ['b']],
        [{ rank: { $ne: 2 } }, ['c', 'a']],
        [{ rank: { $gt: 1 } }, ['c', 'b']],
        [{ rank: { $lt: 2 } }, ['a']],
        [{ rank: { $lte: 2 }, text: 'tea' }, ['a']],
        [{ nested: { deep: true } }, ['c']],
        [{ list: [1, 2] }, ['a']],
      ])('filters by %j', async (filter, keys) => {
        const { items } = await client.store.searchItems(['search'], { filter });
        expect(items.map(({ key }) => key)).toEqual(keys);
      });

      it('lists namespaces by prefix, suffix, depth and page', async () => {
        const list = async (options: Parameters<Client['store']['listNamespaces']>[0]): Promise<string[][]> =>
          // The client's type says that the answer is the list itself.
          ((await client.store.listNamespaces(options)) as unknown as { namespaces: string[][] }).namespaces;
        const all = ['a', 'b', 'c'].map((label) => ['search', label]);
        expect(await list({ prefix: ['search'] })).toEqual(all);
        expect(await list({ prefix: ['search'], suffix: ['b'] })).toEqual([['search', 'b']]);
        expect(await list({ prefix: ['search'], maxDepth: 1 })).toEqual([['search']]);
        expect(await list({ prefix: ['search'], limit: 1, offset: 1 })).toEqual([['search', 'b']]);
      });
    });
  });

  it('offers all of that through the Python SDK', async () => {
    const item = {
      namespace: ['python', 'user-1'],
      key: 'likes',
      created_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
      updated_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
    };
    expect(JSON.parse(await runPython([SCRIPT, gantry.url]))).toEqual({
      missing: null,
      item: { ...item, value: { text: 'tea', rank: 1 } },
      found: [{ ...item, value: { text: 'tea', rank: 1 }, score: null }],
      by_filter: ['likes'],
      by_operator: {
        $eq: ['likes'],
        $ne: ['other'],
        $gt: ['other'],
        $gte: ['other', 'likes'],
        $lt: [],
        $lte: ['likes'],
      },
      by_meaning: ['likes'],
      namespaces: { namespaces: [['python', 'user-1']] },
      cut: { namespaces: [['python']] },
      large: 1024 * 1024,
      expired: [true, false],
      deleted: null,
      refused: { reserved: 400, none: 400, empty: 422, dotted: 'ValueError' },
      sync: { text: 'sync' },
    });
  });

  describe('in the nodes of a graph', () => {
    interface Remembered {
      found: string[];
      seen: Record<string, unknown>;
    }

    it.each(['memory', 'memory_python'])('shares its items with the API, in both directions, as %s', async (graph) => {
      const user = `ada of ${graph}`;
      await client.store.putItem(['notes', user], 'from-api', { text: 'hello' });
      const state = (await client.runs.wait(null, graph, {
        input: { user, note: 'from-node' },
      })) as unknown as Remembered;
      // A nested graph has the same store.
      expect(state.found).toEqual(['from-api=hello', 'from-node=from-node']);
      expect(state.seen).toEqual({
        fromApi: { text: 'hello' },
        createdAt: true,
        nothing: null,
        namespaces: expect.arrayContaining([['notes', user]]),
      });
      expect(await client.store.getItem(['notes', user], 'from-node')).toMatchObject({ value: { text: 'from-node' } });
      // And so has another thread, later.
      const later = (await client.runs.wait(null, graph, { input: { user } })) as unknown as Remembered;
      expect(later.found).toEqual(state.found);
    });

    it.each(['memory', 'memory_python'])('is available in every streaming mode, as %s', async (graph) => {
      const user = `eve of ${graph}`;
      const events = [];
      for await (const { event } of client.runs.stream(null, graph, {
        input: { user, note: 'streamed' },
        streamMode: ['events', 'values', 'updates', 'messages-tuple', 'debug', 'tasks', 'checkpoints'],
        streamSubgraphs: true,
      })) {
        events.push(event);
      }
      expect(events).not.toContain('error');
      expect(await client.store.getItem(['notes', user], 'streamed')).not.toBeNull();
    });

    it('accepts fields to embed and times to live, and refuses unsupported ones by name, one operation at a time', async () => {
      const { results } = (await client.runs.wait(null, 'operations', { input: {} })) as unknown as {
        results: { together: string[]; found: [string, boolean][]; polls: boolean };
      };
      // The library's wrapper around stores would look for operations a thousand times a second as long as a run lasts.
      expect(results.polls).toBe(false);
      expect(results.together).toEqual([
        'done',
        expect.stringMatching(/^InvalidNamespaceError: namespace\.0: .*reserved/),
        expect.stringMatching(/^InvalidNamespaceError: namespace\.0: .*period/),
        expect.stringMatching(/^StoreError: value: must be an object/),
        expect.stringMatching(/^StoreError: value: .*BigInt/),
        expect.stringMatching(/^StoreError: filter\.n: \$near is not an operator/),
      ]);
      expect(results.found[0]).toEqual(['indexed', true]);
      const { rows } = await gantry.sql.query<{ key: string; ttl_minutes: number; fields: string[] }>(
        `SELECT s.key, s.ttl_minutes, array_remove(array_agg(e.field), NULL) AS fields
         FROM langgraph.store s LEFT JOIN store_embeddings e USING (namespace_path, key)
         WHERE s.namespace_path LIKE '%:ops' GROUP BY 1, 2 ORDER BY 1`,
      );
      expect(rows).toEqual([
        { key: 'good', ttl_minutes: 1440, fields: [] },
        { key: 'indexed', ttl_minutes: 1.5, fields: ['other'] },
        { key: 'plain', ttl_minutes: 1440, fields: [] },
      ]);
    });
  });

  it('deletes what has expired', async () => {
    await client.store.putItem(['expired'], 'k', { text: 'tea' }, { ttl: 0.005 });
    const count = async (): Promise<number> => {
      const { rows } = await gantry.sql.query(`SELECT 1 FROM langgraph.store WHERE namespace_path LIKE '%:expired'`);
      return rows.length;
    };
    await waitFor('the sweep', async () => (await count()) === 0);
    const { rows } = await gantry.sql.query(`SELECT 1 FROM store_embeddings WHERE namespace_path LIKE '%:expired'`);
    expect(rows).toEqual([]);
  });
});
