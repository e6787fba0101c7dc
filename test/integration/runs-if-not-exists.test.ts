import type { Client } from '@langchain/langgraph-sdk';
import { v4 as uuidv4 } from 'uuid';
import { Gantry, startGantry } from '../support/gantry';
import { SseReader } from '../support/sse';

const DONE = ['node_1', 'node_2', 'node_3'];

/** Runs on a thread that doesn't exist. */
describe('if_not_exists', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  /** The three ways to make a run on a thread. */
  const WAYS = ['', '/wait', '/stream'];

  const post = (thread: string, way: string, body: object): Promise<Response> =>
    fetch(`${gantry.url}/threads/${thread}/runs${way}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'three', input: {}, ...body }),
    });

  const countRuns = async (thread: string): Promise<number> =>
    (await gantry.sql.query('SELECT 1 FROM runs WHERE thread_id = $1', [thread])).rows.length;

  describe.each(WAYS)('on POST /threads/{thread_id}/runs%s', (way) => {
    it.each([{}, { if_not_exists: 'reject' }, { if_not_exists: null }])(
      '%j: 404, and nothing is created',
      async (body) => {
        const thread = uuidv4();
        const response = await post(thread, way, body);
        expect(response.status).toBe(404);
        expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
        expect(await response.text()).toBe(`Thread with ID ${thread} not found`);
        await expect(client.threads.get(thread)).rejects.toThrow(/404/);
        expect(await countRuns(thread)).toBe(0);
      },
    );

    it('create: the thread is created with the run, and is like any other', async () => {
      const thread = uuidv4();
      const response = await post(thread, way, {
        if_not_exists: 'create',
        metadata: { topic: 'trains' },
        config: { metadata: { topic: 'ships', from: 'config' }, tags: ['a'] },
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-location')).toContain(`/threads/${thread}/runs/`);
      await response.text();
      const [{ run_id, assistant_id }] = await client.runs.list(thread);
      await client.runs.join(thread, run_id);
      expect(await client.threads.get(thread)).toMatchObject({
        status: 'idle',
        values: { done: DONE },
        metadata: { graph_id: 'three', assistant_id, topic: 'trains', from: 'config' },
      });
      // The thread exists now: the next run uses it as it is.
      await (await post(thread, way, { if_not_exists: 'create', metadata: { topic: 'planes' } })).text();
      expect(await countRuns(thread)).toBe(2);
      expect((await client.threads.get(thread)).metadata).toMatchObject({ topic: 'trains' });
      expect((await client.threads.search({ ids: [thread] })).length).toBe(1);
    });

    it('create: no thread is created for a run that is refused', async () => {
      const thread = uuidv4();
      const response = await post(thread, way, { if_not_exists: 'create', assistant_id: 'nobody' });
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('nobody')]);
      await expect(client.threads.get(thread)).rejects.toThrow(/404/);
    });

    it('refuses another value, naming the field', async () => {
      const response = await post(uuidv4(), way, { if_not_exists: 'maybe' });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ errors: [{ path: 'if_not_exists' }] });
    });
  });

  it('creates one thread for two concurrent runs', async () => {
    const thread = uuidv4();
    const body = { if_not_exists: 'create' };
    const responses = await Promise.all([post(thread, '/wait', body), post(thread, '/wait', body)]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(responses.map((response) => response.text()));
    expect((await client.runs.list(thread)).map(({ status }) => status)).toEqual(['success', 'success']);
  });

  it('streams from the beginning of a run whose thread it creates', async () => {
    const thread = uuidv4();
    const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
      assistant_id: 'three',
      input: {},
      stream_mode: 'updates',
      if_not_exists: 'create',
    });
    const events = await stream.rest();
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'updates', 'updates']);
  });

  it('is `ifNotExists` of the SDK', async () => {
    const thread = uuidv4();
    await expect(client.runs.wait(thread, 'three', { input: {} })).rejects.toThrow(/404/);
    expect(await client.runs.wait(thread, 'three', { input: {}, ifNotExists: 'create' })).toMatchObject({ done: DONE });
  });
});
