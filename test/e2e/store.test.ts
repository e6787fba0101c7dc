import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { runPython } from '../support/python';
import { waitFor } from '../support/wait-for';

const STORE_GRAPHS = join(__dirname, '..', 'support', 'graphs', 'store.json');
const SCRIPT = join(__dirname, '..', 'python', 'store_client.py');

/** The store by the public clients, and the same store inside the nodes of graphs; api and worker as processes. */
describe('the store', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphs: STORE_GRAPHS });
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
      await expect(client.store.putItem(['langgraph'], 'k', {})).rejects.toThrow(/400.*reserved/);
    });

    it('searches by namespace, filter, page and meaning, and lists namespaces', async () => {
      for (const [key, text, rank] of [
        ['a', 'tea', 1],
        ['b', 'coffee coffee', 2],
        ['c', 'rain', 3],
      ] as const) {
        await client.store.putItem(['search', key], key, { text, rank });
      }
      const found = async (options?: Parameters<Client['store']['searchItems']>[1]): Promise<string[]> =>
        (await client.store.searchItems(['search'], options)).items.map(({ key }) => key);
      expect(await found()).toEqual(['c', 'b', 'a']);
      expect(await found({ filter: { rank: { $gte: 2 } } })).toEqual(['c', 'b']);
      expect(await found({ limit: 1, offset: 1 })).toEqual(['b']);
      expect((await found({ query: 'a coffee, please' }))[0]).toBe('b');
      const [nearest] = (await client.store.searchItems(['search'], { query: 'coffee', limit: 1 })).items;
      expect(nearest.score).toBeGreaterThan(0.9);
      const { namespaces } = (await client.store.listNamespaces({
        prefix: ['search'],
        maxDepth: 1,
      })) as unknown as { namespaces: string[][] };
      expect(namespaces).toEqual([['search']]);
    });
  });

  it('does all of that by the Python SDK', async () => {
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
      by_meaning: ['likes'],
      namespaces: { namespaces: [['python', 'user-1']] },
      deleted: null,
      reserved: 400,
      sync: { text: 'sync' },
    });
  });

  describe('in the nodes of a graph', () => {
    interface Remembered {
      found: string[];
      seen: Record<string, unknown>;
    }

    it('has what the API wrote, and the API has what a node wrote', async () => {
      await client.store.putItem(['notes', 'ada'], 'from-api', { text: 'hello' });
      const state = (await client.runs.wait(null, 'memory', {
        input: { user: 'ada', note: 'from-node' },
      })) as unknown as Remembered;
      // A nested graph has the same store.
      expect(state.found).toEqual(['from-api=hello', 'from-node=from-node']);
      expect(state.seen).toEqual({
        fromApi: { text: 'hello' },
        createdAt: true,
        nothing: null,
        namespaces: [['notes', 'ada']],
      });
      expect(await client.store.getItem(['notes', 'ada'], 'from-node')).toMatchObject({ value: { text: 'from-node' } });
      // And so has another thread, later.
      const later = (await client.runs.wait(null, 'memory', { input: { user: 'ada' } })) as unknown as Remembered;
      expect(later.found).toEqual(state.found);
    });

    it('is there in every mode of streaming', async () => {
      const events = [];
      for await (const { event } of client.runs.stream(null, 'memory', {
        input: { user: 'eve', note: 'streamed' },
        streamMode: ['events', 'values', 'updates', 'messages-tuple', 'debug', 'tasks', 'checkpoints'],
        streamSubgraphs: true,
      })) {
        events.push(event);
      }
      expect(events).not.toContain('error');
      expect(await client.store.getItem(['notes', 'eve'], 'streamed')).not.toBeNull();
    });

    it('takes paths to embed and times to live, and refuses by name, one operation at a time', async () => {
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

  it('removes what has expired', async () => {
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
