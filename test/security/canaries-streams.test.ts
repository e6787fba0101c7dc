import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { STREAM_MODES, type StreamMode } from '../../src/graphs/host/protocol';
import { AgentCaller, answerFrom, type Task, threadOf } from '../support/a2a';
import { Gantry } from '../support/gantry';
import { connectMcp, ERAS, ModernCaller } from '../support/mcp';
import { pythonForGraphs } from '../support/python';
import { SseReader } from '../support/sse';
import { type SocketEvent, socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const GRAPHS = join(__dirname, '..', 'support', 'canaries', 'langgraph.json');
const API_KEY = 'development-key-0123456789';
const HEADERS = { 'x-user-token': 'canary-header' };
/** Values of an assistant's configuration whose names say that they are secret. */
const CONFIG = {
  configurable: { api_key: 'canary-configured', provider: { accessToken: 'canary-configured-inside' } },
};
/** Secrets that the graph counts. */
const SECRETS = 5;
const INPUT = { messages: [{ role: 'user', content: 'hi' }] };
const CHANNELS = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];

const alone: StreamMode[][] = STREAM_MODES.map((mode) => [mode]);
const pairs: StreamMode[][] = STREAM_MODES.flatMap((mode, index) =>
  STREAM_MODES.slice(index + 1).map((other) => [mode, other]),
);

const toolOf = (graph: string): string => `${graph}_with_secrets`;

const isLastOfRun = ({ method, params }: SocketEvent): boolean =>
  method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running';

/** The values of selected headers and of secret names, and everything about the user, are for the graph's config alone. */
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
  });

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

  describe.each(['canary', 'canary_python'])('of the graph %s', (graph) => {
    /** An assistant of the graph, with a secret in its configuration. */
    let assistant: string;

    beforeAll(async () => {
      const name = toolOf(graph);
      ({ assistant_id: assistant } = await client.assistants.create({ graphId: graph, name, config: CONFIG }));
    });

    const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;

    /** The graph does know its secrets, wherever its answers don't show them. */
    async function expectKnown(threadId: string): Promise<void> {
      expect((await client.threads.getState<{ known: number }>(threadId)).values.known).toBe(SECRETS);
    }

    async function streamed(modes: StreamMode[], subgraphs: boolean): Promise<string> {
      const threadId = await createThread();
      const events: unknown[] = [];
      const options = { input: INPUT, streamMode: modes as never, streamSubgraphs: subgraphs };
      for await (const event of client.runs.stream(threadId, assistant, options)) events.push(event);
      await expectKnown(threadId);
      return JSON.stringify(events);
    }

    it.each([...alone, ...pairs, [...STREAM_MODES]].map((modes) => [modes.join(' and '), modes] as const))(
      'is in no stream of %s',
      async (_, modes) => {
        // The streams without nested graphs differ by mode, and not by pairs of modes.
        const isPair = modes.length === 2;
        const streams = [streamed(modes, true), ...(isPair ? [] : [streamed(modes, false)])];
        for (const events of await Promise.all(streams)) {
          expect(events).toContain('"event"');
          expect(events).not.toContain('canary-');
        }
      },
    );

    it('is in no stream of all modes as the context of the run', async () => {
      const threadId = await createThread();
      const events: unknown[] = [];
      const options = { input: INPUT, streamMode: [...STREAM_MODES] as never, streamSubgraphs: true };
      const context = { api_key: 'canary-context' };
      for await (const event of client.runs.stream(threadId, graph, { ...options, context })) events.push(event);
      expect(JSON.stringify(events)).not.toContain('canary-');
      await expectKnown(threadId);
    });

    it('is not emitted by the stream of its thread', async () => {
      const threadId = await createThread();
      const stream = await SseReader.get(
        `${gantry.url}/threads/${threadId}/stream?stream_modes=run_modes,lifecycle,state_update`,
      );
      const options = { input: INPUT, streamMode: [...STREAM_MODES] as never, streamSubgraphs: true };
      await client.runs.create(threadId, assistant, options);
      const events = await stream.until(({ data }) => (data as { status?: string } | null)?.status === 'run_done');
      await client.threads.updateState(threadId, { values: { ask: false } });
      events.push(...(await stream.until(() => true)));
      await stream.close();
      expect(events.length).toBeGreaterThan(20);
      expect(JSON.stringify(events)).not.toContain('canary-');
      await expectKnown(threadId);
    });

    it('is not emitted by the event protocol', async () => {
      const threadId = await createThread();
      const body = { id: 1, method: 'run.start', params: { assistant_id: assistant, input: INPUT } };
      const started = await fetch(`${gantry.url}/threads/${threadId}/commands`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...HEADERS },
        body: JSON.stringify(body),
      });
      expect(started.status).toBe(200);
      const stream = await SseReader.post(`${gantry.url}/threads/${threadId}/stream/events`, { channels: CHANNELS });
      const events = await stream.until(({ data }) => isLastOfRun(data as SocketEvent));
      await stream.close();
      expect(JSON.stringify(events)).not.toContain('canary-');
      await expectKnown(threadId);
    });

    it('is not emitted by the event protocol on a WebSocket', async () => {
      const threadId = await createThread();
      const socket = await ThreadSocket.open(socketUrl(gantry.url, threadId), { headers: HEADERS });
      await socket.subscribe({ channels: CHANNELS });
      await socket.command('run.start', { assistant_id: assistant, input: INPUT });
      await socket.until(isLastOfRun);
      const { result } = await socket.command('state.get', {});
      await socket.close();
      expect(socket.events.length).toBeGreaterThan(10);
      expect(result).toBeDefined();
      expect(JSON.stringify(socket.received)).not.toContain('canary-');
      await expectKnown(threadId);
    });

    it('is in no state, history, thread, run, interrupt or join', async () => {
      const threadId = await createThread();
      const waited = await client.runs.wait(threadId, assistant, { input: { ...INPUT, ask: true } });
      const [run] = await client.runs.list(threadId);
      const answers = await Promise.all([
        client.threads.getState(threadId, undefined, { subgraphs: true }),
        client.threads.getHistory(threadId),
        client.threads.get(threadId),
        client.threads.search(),
        search({ thread_id: threadId }),
        client.runs.get(threadId, run.run_id),
        client.runs.join(threadId, run.run_id),
        client.assistants.search(),
      ]);
      expect(waited).toHaveProperty('__interrupt__');
      expect(JSON.stringify([waited, answers])).not.toContain('canary-');
    });

    it('is in no answer and no stream of A2A', async () => {
      const agent = new AgentCaller(gantry.url, assistant, { 'a2a-version': '1.0', ...HEADERS });
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
      const { task } = await agent.result<{ task: Task }>('SendMessage', { message });
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      await expectKnown(threadOf(task)!);
      const again = { message: { ...message, messageId: randomUUID() } };
      const items = await (await agent.stream('SendStreamingMessage', again)).rest();
      expect(answerFrom(items)).toBe('well said');
      const legacy = agent.as(HEADERS);
      const oldMessage = {
        messageId: randomUUID(),
        role: 'user',
        kind: 'message',
        parts: [{ kind: 'text', text: 'hi' }],
      };
      const oldItems = await (await legacy.stream('message/stream', { message: oldMessage })).rest();
      expect(JSON.stringify(oldItems)).toContain('artifact-update');
      const old = await legacy.result('tasks/get', { id: task.id });
      const listed = await agent.result('ListTasks', {});
      expect(JSON.stringify([task, items, oldItems, old, listed])).not.toContain('canary-');
    });

    it.each(ERAS)('is in no result, progress, tool or resource of MCP %s', async (era) => {
      const tools = await connectMcp(gantry.url, { era, headers: HEADERS });
      const progress: unknown[] = [];
      const called = await tools.callTool(
        { name: toolOf(graph), arguments: { messages: 'hi' } },
        { onprogress: (each) => progress.push(each) },
      );
      expect(called.structuredContent).toMatchObject({ known: SECRETS });
      expect(progress.length).toBeGreaterThan(2);
      const listed = [await tools.listTools(), await tools.listResources()];
      const { thread_id } = (await client.threads.search({ metadata: { graph_id: graph }, limit: 1 }))[0];
      const read = await tools.readResource({ uri: `gantry://threads/${thread_id}` });
      await tools.close();
      expect(JSON.stringify(read)).toContain('known');
      expect(JSON.stringify([called, progress, listed, read])).not.toContain('canary-');
    });

    it('is in no task of MCP', async () => {
      const caller = new ModernCaller(gantry.url, undefined, HEADERS);
      const { taskId } = await caller.call(toolOf(graph), { messages: 'hi', ask: true });
      const waiting = await caller.task(taskId, 'input_required');
      const inputResponses = Object.fromEntries(
        Object.keys(waiting.inputRequests as object).map((key) => [
          key,
          { action: 'accept', content: { answer: 'yes' } },
        ]),
      );
      await caller.request('tasks/update', { taskId, inputResponses });
      const done = await caller.task(taskId, 'completed');
      expect(done.result).toMatchObject({ structuredContent: { known: SECRETS } });
      expect(JSON.stringify([waiting, done])).not.toContain('canary-');
    });

    it('is not sent to a webhook', async () => {
      const threadId = await createThread();
      await client.runs.wait(threadId, assistant, { input: INPUT, webhook: receiver.url(`/${graph}`) });
      const delivery = await waitFor('the webhook', () => receiver.received.find(({ path }) => path === `/${graph}`));
      expect(delivery.body).toContain(threadId);
      expect(JSON.stringify(delivery)).not.toContain('canary-');
    });
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
