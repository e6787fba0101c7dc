import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { type Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { ModernCaller } from '../support/mcp';
import { pythonForGraphs } from '../support/python';
import { tablesWith } from '../support/table-contents';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const PROJECT = join(__dirname, '..', 'support', 'encryption');
const TENANT = '00000000-0000-0000-0000-000000000000';
const KEYS = { 'X-Encryption-Context': Buffer.from('{"key":"k1"}').toString('base64') };

interface State {
  note?: string;
  seen: string[];
  messages: { content: string }[];
  answer?: unknown;
}

/** The custom encryption of langgraph.json, with graphs of both languages. */
describe('custom encryption', () => {
  const canaries: string[] = [];
  /** A text that must be in no table. */
  const secret = (): string => {
    const text = `canary-${randomBytes(12).toString('hex')}`;
    canaries.push(text);
    return text;
  };
  const receiver = new WebhookReceiver();
  let database: TestDatabase;
  let gantry: Gantry;
  let client: Client;
  /** Threads created before the encryption was configured, by their graph. */
  const earlier = new Map<string, string>();
  const env = { GANTRY_PYTHON: pythonForGraphs(), GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };

  beforeAll(async () => {
    await receiver.start();
    database = await createTestDatabase();
    const plain = await startGantry({ graphProcesses: 1, graphs: join(PROJECT, 'plain.json'), database, env });
    try {
      for (const graph of ['typescript', 'python']) {
        const thread = await plain.client().threads.create({ metadata: { earlier: 'plain' } });
        await plain.client().runs.wait(thread.thread_id, graph, { input: { note: 'of before' } });
        earlier.set(graph, thread.thread_id);
      }
    } finally {
      await plain.stop();
    }
    gantry = await startGantry({ graphProcesses: 1, graphs: join(PROJECT, 'langgraph.json'), database, env });
    client = new Client({ apiUrl: gantry.url, apiKey: null, defaultHeaders: KEYS });
  }, 300_000);

  afterAll(async () => {
    await gantry?.stop();
    await database?.drop();
    await receiver?.stop();
  });

  async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = KEYS) {
    const response = await fetch(gantry.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  describe.each(['typescript', 'python'])('a graph in %s', (graph) => {
    it('runs, streams, waits for an answer and is edited as without encryption', async () => {
      const [about, note, topic, why, edit] = [secret(), secret(), secret(), secret(), secret()];
      const thread = await client.threads.create({ metadata: { about, owner: `ann-${graph}` } });
      const id = thread.thread_id;
      expect(thread.metadata).toMatchObject({ about, owner: `ann-${graph}` });
      const seen: string[] = [];
      const events = client.runs.stream(id, graph, {
        input: { note, mode: 'ask' },
        config: { configurable: { topic } },
        metadata: { about },
        streamMode: ['values', 'updates', 'custom', 'messages', 'checkpoints', 'tasks'],
        webhook: receiver.url(`/${graph}`),
      });
      for await (const { event, data } of events) {
        expect(event).not.toBe('error');
        seen.push(JSON.stringify(data));
      }
      expect(seen.join('\n')).toContain(`about ${note}`);
      const asked = await client.threads.get<State>(id);
      expect(asked).toMatchObject({ status: 'interrupted', values: { note, seen: [note, topic] } });
      expect(JSON.stringify(asked.interrupts)).toContain(`why ${note}?`);
      const end = (await client.runs.wait(id, graph, { command: { resume: { why } } })) as unknown as State;
      expect(end).toMatchObject({ note, answer: { why } });
      await client.threads.updateState(id, { values: { note: edit }, asNode: 'ask' });
      const state = await client.threads.getState<State>(id);
      expect(state.values).toMatchObject({ note: edit, answer: { why } });
      expect(state.metadata).toMatchObject({ source: 'update' });
      const history = await client.threads.getHistory<State>(id);
      expect(history.map(({ values }) => values.note)).toContain(note);
      const copy = await client.threads.copy(id);
      expect((await client.threads.getState<State>((copy as { thread_id: string }).thread_id)).values.note).toBe(edit);
      expect((await client.threads.get(id)).metadata).toMatchObject({ about });
      const [run] = await client.runs.list(id);
      expect(run.metadata).toMatchObject({ about });
      const delivery = await waitFor('the webhook', () => receiver.received.find(({ path }) => path === `/${graph}`));
      expect(delivery.body).toContain(note);
    });

    it('continues earlier threads, with the values that no later step has written', async () => {
      const id = earlier.get(graph)!;
      expect((await client.threads.get(id)).metadata).toMatchObject({ earlier: 'plain' });
      await client.threads.update(id, { metadata: { added: secret() } });
      await client.runs.wait(id, graph, { input: { mode: 'none' } });
      await client.runs.wait(id, graph, { input: { mode: 'none' } });
      const { values } = await client.threads.getState<State>(id);
      expect(values).toMatchObject({ note: 'of before', seen: ['of before', 'of before', 'of before'] });
      expect((await client.threads.get(id)).metadata).toMatchObject({ earlier: 'plain', added: canaries.at(-1) });
    });

    it('keeps its errors and its items of the store', async () => {
      const note = secret();
      const thread = await client.threads.create();
      await expect(client.runs.wait(thread.thread_id, graph, { input: { note, mode: 'fail' } })).rejects.toThrow(
        `no good: ${note}`,
      );
      expect(JSON.stringify(await client.threads.get(thread.thread_id))).toContain(`no good: ${note}`);
      const item = await client.store.getItem(['notes'], `${graph}-${note.length}`);
      expect(item?.value).toEqual({ text: note });
    });

    it('runs by a cron and for an assistant', async () => {
      const [note, topic, about] = [secret(), secret(), secret()];
      const assistant = await client.assistants.create({
        graphId: graph,
        config: { configurable: { topic } },
        metadata: { about, owner: graph },
      });
      expect(assistant).toMatchObject({ config: { configurable: { topic } }, metadata: { about } });
      expect(await client.assistants.search({ metadata: { owner: graph } })).toHaveLength(1);
      const cron = await client.crons.create(assistant.assistant_id, {
        schedule: '0 0 1 1 *',
        input: { note },
        metadata: { about },
        onRunCompleted: 'keep',
      });
      const { cron_id: cronId } = cron as unknown as { cron_id: string };
      const { body: shown } = await request('GET', `/runs/crons/${cronId}`);
      expect(shown).toMatchObject({ payload: { input: { note } }, metadata: { about } });
      expect(JSON.stringify(shown)).not.toContain('encryption_context');
      await request('POST', `/runs/crons/${cronId}/trigger`, {});
      const found = await waitFor('the run of the cron', async () => {
        const threads = await client.threads.search<State>({ metadata: { assistant_id: assistant.assistant_id } });
        return threads.find(({ status }) => status === 'idle');
      });
      expect(found.values?.seen).toEqual([note, topic]);
    });
  });

  it('covers tasks and messages of agents', async () => {
    const text = secret();
    const message = { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text }] };
    const { body: assistants } = await request('POST', '/assistants/search', { graph_id: 'typescript', limit: 1 });
    const [{ assistant_id: id }] = assistants as unknown as { assistant_id: string }[];
    const { body } = await request('POST', `/a2a/${id}`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message },
    });
    const task = body.result as { id: string };
    const { body: read } = await request('POST', `/a2a/${id}`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/get',
      params: { id: task.id },
    });
    expect(JSON.stringify(read)).toContain(text);
  });

  it('encrypts an answer to one of several questions of an MCP task', async () => {
    const [note, first, second] = [secret(), secret(), secret()];
    const caller = new ModernCaller(gantry.url, undefined, KEYS);
    const { taskId } = await caller.call('typescript', { messages: 'hi', note, mode: 'ask for two' });
    const asked = await caller.task(taskId, 'input_required');
    for (const text of [first, second]) {
      const [key] = Object.keys(asked.inputRequests as object).slice(text === first ? 0 : 1);
      const inputResponses = { [key]: { action: 'accept', content: { text } } };
      await caller.request('tasks/update', { taskId, inputResponses });
    }
    const { result } = await caller.task(taskId, 'completed');
    for (const text of [note, first, second]) expect(JSON.stringify(result)).toContain(text);
  });

  it('keeps searchable what its handlers leave in plain text', async () => {
    const found = await client.threads.search({ metadata: { owner: 'ann-python' } });
    expect(found.length).toBeGreaterThan(0);
    expect(found[0].metadata).toMatchObject({ about: expect.stringContaining('canary-') as string });
  });

  it('leaves no plain values in any table', async () => {
    expect(canaries.length).toBeGreaterThan(15);
    expect(await tablesWith(gantry.sql, canaries)).toEqual([]);
  });

  it('uses the context of the caller, in the api, the worker and both kinds of graph processes', async () => {
    const events = await gantry.sql.query<{ data: string }>(
      `SELECT data FROM run_events WHERE data LIKE 'gantry-encrypted:%'`,
    );
    const heads = events.rows.map(({ data }) => Buffer.from(data.split(':')[1], 'base64').toString('latin1'));
    expect(heads.length).toBeGreaterThan(10);
    const blobs = await gantry.sql.query<{ blob: Buffer }>(
      `SELECT blob FROM langgraph.checkpoint_blobs WHERE position('gantry-encrypted'::bytea IN blob) > 0
       UNION ALL SELECT blob FROM langgraph.checkpoint_writes WHERE position('gantry-encrypted'::bytea IN blob) > 0`,
    );
    expect(blobs.rows.length).toBeGreaterThan(10);
    for (const head of [...heads, ...blobs.rows.map(({ blob }) => blob.toString('latin1'))]) {
      expect(head).toContain(`{"key":"k1","tenant":"${TENANT}"}`);
    }
    const { rows } = await gantry.sql.query<{ context: object }>(
      `SELECT value->'__encryption_context__' AS context FROM langgraph.store`,
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { context } of rows) expect(context).toEqual({ key: 'k1', tenant: TENANT });
  });

  it('refuses what cannot be encrypted, and stores nothing of it', async () => {
    const failed = await request('POST', '/threads', { metadata: { about: 'unencryptable' } });
    expect(failed).toMatchObject({ status: 500, body: { code: 'encryption_failed' } });
    const mistaken = await request('POST', '/threads', { metadata: { mistake: true } });
    expect(mistaken).toMatchObject({ status: 422, body: { code: 'encryption_refused' } });
    const marked = await request('POST', '/threads', { metadata: { __encryption_context__: {} } });
    expect(marked).toMatchObject({ status: 422, body: { code: 'encryption_refused' } });
    // Deeper than the process of the module could read.
    const deep = Buffer.from('{"a":'.repeat(1_500) + '1' + '}'.repeat(1_500)).toString('base64');
    for (const malformed of ['%%%', deep]) {
      const header = await request('POST', '/threads', { metadata: { a: 1 } }, { 'X-Encryption-Context': malformed });
      expect(header).toMatchObject({ status: 422, body: { code: 'encryption_context_malformed' } });
    }
    const before = await request('POST', '/threads/count', {});
    const run = await request('POST', '/runs/wait', { assistant_id: 'typescript', input: { note: 'unencryptable' } });
    expect(run).toMatchObject({ status: 500, body: { code: 'encryption_failed' } });
    const batch = ['fine', 'unencryptable'].map((note) => ({
      assistant_id: 'typescript',
      input: { note, mode: 'none' },
    }));
    const refused = await request('POST', '/runs/batch', batch);
    expect(refused).toMatchObject({ status: 500, body: { code: 'encryption_failed' } });
    expect(await request('POST', '/threads/count', {})).toEqual(before);
  });

  it('begins the runs beside one that cannot be decrypted, and deletes the thread of that one', async () => {
    const create = async (note: string) => {
      const { thread_id } = await client.threads.create();
      return client.runs.create(thread_id, 'typescript', { input: { note, mode: 'none' } });
    };
    const [lost, ...others] = await Promise.all(['undecryptable', ...Array<string>(7).fill('fine')].map(create));
    for (const { thread_id, run_id } of others)
      expect(await client.runs.join(thread_id, run_id)).toMatchObject({ note: 'fine' });
    const { rows } = await gantry.sql.query<{ attempt: number }>('SELECT attempt FROM runs WHERE run_id = ANY ($1)', [
      others.map(({ run_id }) => run_id),
    ]);
    expect(rows).toEqual(Array(7).fill({ attempt: 1 }));
    await client.threads.delete(lost.thread_id);
    await expect(client.threads.get(lost.thread_id)).rejects.toThrow(/404/);
  });

  it('restarts the module after its process has ended', async () => {
    const processes = graphProcessesOf(gantry.worker.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('encryption_process'),
    );
    expect(processes).toHaveLength(1);
    process.kill(processes[0], 'SIGKILL');
    const end = await client.runs.wait(null, 'typescript', { input: { note: 'later', mode: 'none' } });
    expect(end).toMatchObject({ note: 'later' });
  });

  it.each(['typescript', 'python'])('ends a run in %s whose state cannot be encrypted with an error', async (graph) => {
    const thread = await client.threads.create();
    const end = client.runs.wait(thread.thread_id, graph, { input: { note: 'fine', mode: 'secretive' } });
    await expect(end).rejects.toThrow('The custom encryption failed');
    const { values } = await client.threads.getState<State>(thread.thread_id);
    expect(values.seen ?? []).toEqual([]);
    const again = await client.runs.wait(thread.thread_id, graph, { input: { note: 'good', mode: 'none' } });
    expect(again).toMatchObject({ note: 'good' });
  });
});
