import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, SHAPE_GRAPHS, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const UNKNOWN_ID = '7e4d2c3b-0000-4000-8000-000000000000';

/** Assistants as in the reference API, through the public client and, for what the client hides, on the wire. */
describe('assistants', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: SHAPE_GRAPHS });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(gantry.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  describe('creating', () => {
    it('stores the given fields, with the same defaults as every other server', async () => {
      const made = await client.assistants.create({ graphId: 'configured', context: { model: 'small' } });
      expect(made).toMatchObject({
        graph_id: 'configured',
        name: 'Untitled',
        description: null,
        config: {},
        context: { model: 'small' },
        metadata: {},
        version: 1,
      });
    });

    it('refuses an id that is taken, or returns the existing assistant', async () => {
      const assistantId = randomUUID();
      const first = await client.assistants.create({ graphId: 'configured', assistantId, name: 'mine' });
      await expect(client.assistants.create({ graphId: 'configured', assistantId })).rejects.toThrow(/409/);
      const again = await client.assistants.create({
        graphId: 'configured',
        assistantId,
        name: 'other',
        ifExists: 'do_nothing',
      });
      expect(again).toEqual(first);
    });

    it('takes a UUID of any version, in either case', async () => {
      const assistantId = '00000000-0000-0000-0000-00000000000A';
      const made = await client.assistants.create({ graphId: 'three', assistantId });
      expect(made.assistant_id).toBe(assistantId.toLowerCase());
      for (const id of [assistantId, made.assistant_id]) expect(await client.assistants.get(id)).toEqual(made);
      const { thread_id } = await client.threads.create();
      expect(await client.runs.wait(thread_id, assistantId, { input: {} })).toMatchObject({ done: expect.anything() });
      expect(await client.crons.search({ assistantId })).toEqual([]);
      expect(await client.assistants.update(assistantId, { name: 'derived' })).toMatchObject({ version: 2 });
      await client.assistants.delete(assistantId);
      await expect(client.assistants.get(assistantId)).rejects.toThrow(/404/);
    });

    it('refuses a graph that is not served, and context beside configurable', async () => {
      expect((await post('/assistants', { graph_id: 'nothing' })).status).toBe(404);
      const both = { graph_id: 'configured', context: { a: 1 }, config: { configurable: { b: 1 } } };
      expect((await post('/assistants', both)).status).toBe(400);
      const oneEmpty = { graph_id: 'configured', context: {}, config: { configurable: { b: 1 } } };
      expect((await post('/assistants', oneEmpty)).status).toBe(200);
    });

    it('drops the keys that the server itself writes', async () => {
      const response = await post('/assistants', {
        graph_id: 'configured',
        config: { configurable: { langgraph_auth_user: { identity: 'root' }, __pregel_store: 1, mine: 1 }, tags: null },
        metadata: { run_id: 'x', team: 'support' },
      });
      expect(await response.json()).toMatchObject({
        config: { configurable: { mine: 1 } },
        metadata: { team: 'support' },
      });
    });
  });

  describe('searching', () => {
    beforeAll(async () => {
      for (const name of ['beta', 'Alpha', 'gamma']) {
        await client.assistants.create({ graphId: 'typed', name, metadata: { desk: { id: 7, open: ['a', 'b'] } } });
      }
    });

    const named = async (query: Parameters<Client['assistants']['search']>[0]): Promise<string[]> => {
      const found = await client.assistants.search({ ...query, limit: 100 });
      return found.map(({ name }) => name);
    };

    it('sorts names as people do', async () => {
      const metadata = { desk: { id: 7 } };
      expect(await named({ metadata, sortBy: 'name', sortOrder: 'asc' })).toEqual(['Alpha', 'beta', 'gamma']);
      expect(await named({ metadata, sortBy: 'created_at', sortOrder: 'desc' })).toEqual(['gamma', 'Alpha', 'beta']);
    });

    it('finds by part of the name, by graph and by metadata', async () => {
      expect(await named({ name: 'ALPH' })).toEqual(['Alpha']);
      expect((await named({ graphId: 'typed' })).sort()).toEqual(['Alpha', 'beta', 'gamma', 'typed']);
      expect(await named({ metadata: { desk: { open: ['b'] } } as never })).toHaveLength(3);
      expect(await named({ metadata: { desk: { id: 8 } } as never })).toEqual([]);
      expect(await client.assistants.count({ metadata: { desk: { id: 7 } } as never })).toBe(3);
    });

    it('shows only the selected fields, and announces further pages', async () => {
      const page = await client.assistants.search({
        metadata: { desk: { id: 7 } } as never,
        limit: 2,
        select: ['name', 'version'],
        includePagination: true,
      });
      expect(page.assistants.map((each) => Object.keys(each).sort())).toEqual([
        ['name', 'version'],
        ['name', 'version'],
      ]);
      expect(page.next).toBe('2');
      expect((await post('/assistants/search', { select: ['nothing'] })).status).toBe(422);
      expect((await post('/assistants/search', { limit: 1001 })).status).toBe(422);
    });
  });

  describe('versions', () => {
    it('are numbered from the highest, restore everything that a version stored, and answer 404 for unknown numbers', async () => {
      const { assistant_id } = await client.assistants.create({
        graphId: 'configured',
        name: 'one',
        context: { model: 'small' },
        metadata: { a: 1 },
      });
      await client.assistants.update(assistant_id, { graphId: 'typed', name: 'two', context: {}, metadata: { b: 2 } });
      const third = await client.assistants.update(assistant_id, {});
      expect(third).toMatchObject({ version: 3, name: 'two', graph_id: 'typed', metadata: { a: 1, b: 2 } });
      expect(await client.assistants.setLatest(assistant_id, 1)).toMatchObject({
        version: 1,
        name: 'one',
        graph_id: 'configured',
        context: { model: 'small' },
        metadata: { a: 1 },
      });
      expect(await client.assistants.update(assistant_id, { name: 'four' })).toMatchObject({
        version: 4,
        graph_id: 'configured',
      });
      const lists = (item: string) => ({ tags: [item], configurable: { tools: [item, { name: item }] } });
      await client.assistants.update(assistant_id, { config: lists('one') });
      expect((await client.assistants.update(assistant_id, { config: lists('two') })).config).toEqual(lists('two'));
      const versions = await client.assistants.getVersions(assistant_id, { limit: 2 });
      expect(versions.map(({ version }) => version)).toEqual([6, 5]);
      expect(versions[0]).not.toHaveProperty('updated_at');
      expect(await client.assistants.getVersions(assistant_id, { metadata: { b: 2 } })).toHaveLength(2);
      await expect(client.assistants.getVersions(assistant_id, { metadata: { b: 3 } })).rejects.toThrow(/404/);
      await expect(client.assistants.setLatest(assistant_id, 9)).rejects.toThrow(/404/);
    });
  });

  describe('deleting', () => {
    it('interrupts its runs, and leaves the threads', async () => {
      const { assistant_id } = await client.assistants.create({ graphId: 'sleep' });
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, assistant_id, { input: { sleep_ms: 600_000 } });
      await waitFor('the run to run', async () => (await client.runs.get(thread_id, run_id)).status === 'running');
      await client.assistants.delete(assistant_id);
      await expect(client.assistants.get(assistant_id)).rejects.toThrow(/404/);
      await waitFor('its end', async () => (await client.runs.get(thread_id, run_id)).status === 'interrupted');
      expect((await client.threads.get(thread_id)).metadata).toMatchObject({ assistant_id });
    });

    it('deletes its threads on request, and no others', async () => {
      const { assistant_id } = await client.assistants.create({ graphId: 'three' });
      const mine = await client.threads.create();
      await client.runs.wait(mine.thread_id, assistant_id, { input: {} });
      const other = await client.threads.create();
      await client.runs.wait(other.thread_id, 'three', { input: {} });
      await client.assistants.delete(assistant_id, { deleteThreads: true });
      await expect(client.threads.get(mine.thread_id)).rejects.toThrow(/404/);
      expect(await client.threads.get(other.thread_id)).toMatchObject({ status: 'idle' });
    });

    it('is a 409 for the default one of a graph, and a 404 for an unknown one', async () => {
      await expect(client.assistants.delete('typed')).rejects.toThrow(/409/);
      await expect(client.assistants.delete(UNKNOWN_ID)).rejects.toThrow(/404/);
    });
  });

  it('run with their configuration, in either of the two ways to read it', async () => {
    const { assistant_id } = await client.assistants.create({
      graphId: 'configured',
      config: { configurable: { model: 'small', tone: 'dry' } },
      metadata: { desk: 'north' },
    });
    const { thread_id } = await client.threads.create({ metadata: { user: 'ada' } });
    const run = await client.runs.create(thread_id, assistant_id, {
      input: {},
      context: { model: 'large' },
      metadata: { by: 'run' },
      config: { metadata: { from: 'config', run_id: 'not mine' } } as never,
    });
    const values = (await client.runs.join(thread_id, run.run_id)) as unknown as {
      given: string;
      from_context: string;
    };
    expect(JSON.parse(values.given)).toMatchObject({ model: 'large', tone: 'dry', thread_id, run_id: run.run_id });
    expect(values.from_context).toBe('large');
    expect(run.metadata).toEqual({
      desk: 'north',
      user: 'ada',
      by: 'run',
      from: 'config',
      graph_id: 'configured',
      assistant_id,
      revision_id: expect.any(String),
    });
    expect((await client.threads.get(thread_id)).metadata).toEqual({
      user: 'ada',
      graph_id: 'configured',
      assistant_id,
    });
    const { metadata } = await client.threads.getState(thread_id);
    expect(metadata).toMatchObject({ by: 'run', from: 'config', run_id: run.run_id, thread_id });
  });
});
