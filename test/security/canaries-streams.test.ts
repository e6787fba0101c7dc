import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { STREAM_MODES, type StreamMode } from '../../src/graphs/host/protocol';
import { AgentCaller, type Task } from '../support/a2a';
import { Gantry } from '../support/gantry';
import { connectMcp, ModernCaller } from '../support/mcp';
import { pythonForGraphs } from '../support/python';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const GRAPHS = join(__dirname, '..', 'support', 'canaries', 'langgraph.json');
const API_KEY = 'development-key-0123456789';
const HEADERS = { 'x-user-token': 'canary-header' };
const INPUT = { messages: [{ role: 'user', content: 'hi' }] };
const CHANNELS = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];

const alone: StreamMode[][] = STREAM_MODES.map((mode) => [mode]);
const pairs: StreamMode[][] = STREAM_MODES.flatMap((mode, index) =>
  STREAM_MODES.slice(index + 1).map((other) => [mode, other]),
);

/** The values of selected headers, and everything about the user, are for the graph's config alone. */
describe('data for the graph only', () => {
  let gantry: Gantry;
  let client: Client;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    const keys = { GANTRY_API_KEY: API_KEY, GANTRY_INTERNAL_KEY: `gtry_${'i'.repeat(43)}` };
    const webhooks = { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };
    gantry = await Gantry.start({
      graphProcesses: 1,
      graphs: GRAPHS,
      env: { GANTRY_TRACING: 'on', GANTRY_AUTH: 'on', GANTRY_PYTHON: pythonForGraphs(), ...keys, ...webhooks },
    });
    client = gantry.client({ headers: HEADERS });
  }, 180_000);

  afterAll(async () => {
    await gantry?.stop();
    await receiver.stop();
  });

  /** Runs as the console lists them. */
  async function search(filter: object): Promise<unknown> {
    const response = await fetch(`${gantry.url}/runs/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...HEADERS },
      body: JSON.stringify(filter),
    });
    expect(response.status).toBe(200);
    return response.json();
  }

  /** Secrets may only be in the table that keeps the user for the run's config; the identity also in the audit log. */
  async function expectNoCanaryInTables(): Promise<void> {
    const { rows: tables } = await gantry.sql.query<{ name: string }>(
      `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables) {
      const { rows } = await gantry.sql.query<{ row: string }>(
        `SELECT * FROM (
           SELECT (to_jsonb(stored) #- '{kwargs,auth_user}' #- '{auth_user}' #- '{actor_id}')::text AS row FROM ${name} AS stored
         ) AS shown WHERE row LIKE '%canary-%' LIMIT 3`,
      );
      expect({ name, rows }).toEqual({ name, rows: [] });
    }
    // Values of channels are bytes.
    const { rows } = await gantry.sql.query(
      `SELECT channel FROM ${CHECKPOINT_SCHEMA}.checkpoint_blobs WHERE position('canary-'::bytea IN blob) > 0`,
    );
    expect(rows).toEqual([]);
  }

  async function streamed(modes: StreamMode[], subgraphs: boolean, graph = 'canary'): Promise<string> {
    const { thread_id } = await client.threads.create();
    const events: unknown[] = [];
    const options = { input: INPUT, streamMode: modes as never, streamSubgraphs: subgraphs };
    for await (const event of client.runs.stream(thread_id, graph, options)) events.push(event);
    const { values } = await client.threads.getState<{ known: number }>(thread_id);
    // The graph does know it.
    expect(values.known).toBe(4);
    return JSON.stringify(events);
  }

  it.each([...alone, ...pairs].map((modes) => [modes.join(' and '), modes] as const))(
    'is in no stream of %s',
    async (_, modes) => {
      const [whole, root] = await Promise.all([streamed(modes, true), streamed(modes, false)]);
      expect(whole).not.toContain('canary-');
      expect(root).not.toContain('canary-');
    },
  );

  it.each([...alone, [...STREAM_MODES]].map((modes) => [modes.join(' and '), modes] as const))(
    'is in no stream of a graph in Python of %s',
    async (_, modes) => {
      const events = await streamed(modes, true, 'canary_python');
      expect(events).toContain('"event"');
      expect(events).not.toContain('canary-');
    },
  );

  it.each(['canary', 'canary_python'])('is not emitted by the event protocol of %s', async (graph) => {
    const { thread_id } = await client.threads.create();
    const body = { id: 1, method: 'run.start', params: { assistant_id: graph, input: INPUT } };
    const started = await fetch(`${gantry.url}/threads/${thread_id}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...HEADERS },
      body: JSON.stringify(body),
    });
    expect(started.status).toBe(200);
    const stream = await SseReader.post(`${gantry.url}/threads/${thread_id}/stream/events`, { channels: CHANNELS });
    const events = await stream.until(({ event, data }) => {
      const { params } = data as { params: { namespace: string[]; data: { event?: string } } };
      return event === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running';
    });
    await stream.close();
    expect(JSON.stringify(events)).not.toContain('canary-');
    expect((await client.threads.getState<{ known: number }>(thread_id)).values.known).toBe(4);
  });

  it.each(['canary', 'canary_python'])(
    'is in no state, history, thread, run, interrupt or join of %s',
    async (graph) => {
      const { thread_id } = await client.threads.create();
      const waited = await client.runs.wait(thread_id, graph, { input: { ...INPUT, ask: true } });
      const [run] = await client.runs.list(thread_id);
      const answers = await Promise.all([
        client.threads.getState(thread_id, undefined, { subgraphs: true }),
        client.threads.getHistory(thread_id),
        client.threads.get(thread_id),
        client.threads.search(),
        search({ thread_id }),
        client.runs.get(thread_id, run.run_id),
        client.runs.join(thread_id, run.run_id),
        client.assistants.search(),
      ]);
      expect(waited).toHaveProperty('__interrupt__');
      expect(JSON.stringify([waited, answers])).not.toContain('canary-');
    },
  );

  it('is in no answer of A2A, MCP or a webhook', async () => {
    const [assistant] = await client.assistants.search({ graphId: 'canary' });
    const agent = new AgentCaller(gantry.url, assistant.assistant_id, { 'a2a-version': '1.0', ...HEADERS });
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
    const { task } = await agent.result<{ task: Task }>('SendMessage', { message });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const tools = await connectMcp(gantry.url, { era: '2025-11-25', headers: HEADERS });
    const called = await tools.callTool({ name: 'canary', arguments: { messages: 'hi' } });
    expect(called.isError).not.toBe(true);
    await tools.close();
    const caller = new ModernCaller(gantry.url, undefined, HEADERS);
    const { taskId } = await caller.call('canary', { messages: 'hi', ask: true });
    const waiting = await caller.task(taskId, 'input_required');
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'canary', { input: INPUT, webhook: receiver.url() });
    const delivery = await waitFor('the webhook', () => receiver.received[0]);
    expect(JSON.stringify([task, called, waiting, delivery])).not.toContain('canary-');
    expect(delivery.body).toContain(thread_id);
  });

  it('is in no table, trace or log', async () => {
    await waitFor('the traces', async () => {
      const { rows } = await gantry.sql.query(`SELECT 1 FROM trace_runs WHERE end_time IS NOT NULL LIMIT 50`);
      return rows.length === 50;
    });
    await expectNoCanaryInTables();
    // Fields of the user that are named like a secret are sealed.
    const { rows } = await gantry.sql.query<{ sealed: string }>(
      `SELECT kwargs #>> '{auth_user,token}' AS sealed FROM runs`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) expect(sealed).toMatch(/^gantry-sealed:/);
    expect(gantry.logs()).not.toContain('canary-');
  });
});
