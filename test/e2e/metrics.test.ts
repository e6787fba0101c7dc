import { Client as LangSmithClient } from 'langsmith';
import { AgentCaller } from '../support/a2a';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { type Gantry, startGantry } from '../support/gantry';
import { connectMcp, ERAS } from '../support/mcp';
import { freePort } from '../support/ports';
import { Exposition } from '../support/prometheus';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const TOKEN = 'scrape-me-if-you-can';
const SECRET = 'a-token-of-the-user';

describe('a whole Gantry, scraped', () => {
  let gantry: Gantry;
  let worker: string;
  let config: TemporaryConfig;
  const receiver = new WebhookReceiver();
  const authorization = { authorization: `Bearer ${TOKEN}` };
  const ofWorker = (): Promise<Exposition> => Exposition.get(`${worker}/metrics`, authorization);
  const ofApi = (): Promise<Exposition> => Exposition.get(`${gantry.url}/metrics`, authorization);

  beforeAll(async () => {
    const port = await freePort();
    worker = `http://127.0.0.1:${port}`;
    config = temporaryConfig({
      http: {
        configurable_headers: { includes: ['x-user-*', 'authorization'], excludes: ['x-user-hidden'] },
        logging_headers: { includes: ['*'] },
      },
    });
    await receiver.start();
    gantry = await startGantry({
      graphProcesses: 1,
      graphs: config.path,
      env: {
        GANTRY_TRACING: 'on',
        GANTRY_LOG_LEVEL: 'debug',
        GANTRY_WORKER_PORT: String(port),
        GANTRY_METRICS_TOKEN: TOKEN,
        GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      },
    });
  });

  afterAll(async () => {
    await gantry?.stop();
    await receiver.stop();
    config?.remove();
  });

  it('counts runs by graph and ending, how long they took, and how long they waited', async () => {
    const client = gantry.client();
    await client.runs.wait(null, 'three', { input: {} });
    await client.runs.wait(null, 'fail', { input: {}, raiseError: false });
    const exposition = await ofWorker();
    expect(exposition.value('gantry_runs_ended_total', { graph: 'three', status: 'success' })).toBe(1);
    expect(exposition.value('gantry_runs_ended_total', { graph: 'fail', status: 'error' })).toBe(1);
    expect(exposition.value('gantry_run_execution_seconds', { graph: 'three', status: 'success' })).toBe(1);
    expect(exposition.value('gantry_run_queue_wait_seconds', { graph: 'three' })).toBe(1);
    expect(exposition.value('gantry_run_attempts_total', { graph: 'three', outcome: 'finished' })).toBe(1);
    expect(exposition.value('gantry_runs_active')).toBe(0);
    expect(exposition.value('gantry_graph_threads')).toBeGreaterThan(0);
    expect(exposition.value('nodejs_heap_size_used_bytes')).toBeGreaterThan(0);
    const response = await fetch(`${worker}/metrics?format=json`, { headers: authorization });
    expect(await response.json()).toMatchObject({
      metrics: {
        gantry_run_execution_seconds: {
          series: expect.arrayContaining([
            expect.objectContaining({ labels: { graph: 'three', status: 'success' }, count: 1 }),
          ]),
        },
      },
    });
  });

  it('counts webhook attempts by outcome', async () => {
    const client = gantry.client();
    await client.runs.wait(null, 'three', { input: {}, webhook: receiver.url() });
    const exposition = await waitFor('the attempt in the metrics', async () => {
      const now = await ofWorker();
      return now.value('gantry_webhook_attempts_total', { outcome: 'delivered' }) ? now : undefined;
    });
    expect(exposition.value('gantry_webhook_deliveries_total', { status: 'delivered' })).toBe(1);
    expect(exposition.value('gantry_webhook_attempt_seconds', { outcome: 'delivered' })).toBe(1);
  });

  it('counts the clients that wait for a run, for as long as they do', async () => {
    const { thread_id } = await gantry.client().threads.create();
    const stream = await SseReader.post(`${gantry.url}/threads/${thread_id}/runs/stream`, {
      assistant_id: 'sleep',
      input: { sleep_ms: 60_000 },
    });
    await stream.until(({ event }) => event === 'metadata');
    expect((await ofApi()).value('gantry_stream_subscribers', { kind: 'events' })).toBe(1);
    expect((await ofWorker()).value('gantry_runs_active')).toBe(1);
    await stream.close();
    await waitFor('the subscription to end', async () => {
      return (await ofApi()).value('gantry_stream_subscribers', { kind: 'events' }) === 0;
    });
    const seen = { route: '/threads/:thread_id/runs/stream', status: '200' };
    expect((await ofApi()).value('gantry_http_requests_total', seen)).toBe(1);
    expect((await ofApi()).value('gantry_workers')).toBe(1);
    for (const run of await gantry.client().runs.list(thread_id))
      await gantry.client().runs.cancel(thread_id, run.run_id, true);
  });

  it('reports the health of a worker, and its metrics to the scraper only', async () => {
    expect(await (await fetch(`${worker}/ok`)).json()).toEqual({ ok: true });
    expect(await (await fetch(`${worker}/ready`)).json()).toEqual({ ready: true });
    expect((await fetch(`${worker}/metrics`)).status).toBe(401);
    expect((await fetch(`${worker}/metrics`, { headers: { authorization: `Bearer ${TOKEN}2` } })).status).toBe(401);
    expect((await fetch(`${worker}/nothing`)).status).toBe(404);
    expect((await fetch(`${worker}/ok`, { method: 'POST' })).status).toBe(405);
  });

  it('gives a second worker on the same machine its own port', async () => {
    const second = await gantry.startWorker();
    await waitFor('its address in the log', () => second.output.includes('Metrics of the worker'));
    expect(second.output).toMatch(/is taken/);
    await gantry.killWorker('SIGTERM', second);
  });

  describe('request headers', () => {
    const headers = {
      'X-User-Token': SECRET,
      'x-user-hidden': 'hidden',
      'x-other': 'other',
      Authorization: 'Bearer not-for-graphs',
    };

    it('reach the configurable of the graph under lower-case names, where langgraph.json selects them', async () => {
      const { thread_id } = await gantry.client().threads.create();
      const client = gantry.client({ headers });
      const result = await client.runs.wait(thread_id, 'headers', {
        input: {},
        config: { configurable: { 'x-user-token': 'of the body', 'x-body': 'kept' } },
      });
      expect(result).toEqual({ seen: { 'x-user-token': SECRET.length, 'x-body': 'kept'.length } });

      // With a context beside them, which a body's configurable may not have.
      const withContext = await client.runs.wait(null, 'headers', { input: {}, context: { a: 1 } });
      expect(withContext).toEqual({ seen: { 'x-user-token': SECRET.length } });
      const without = await gantry.client().runs.wait(null, 'headers', { input: {} });
      expect(without).toEqual({ seen: {} });
    });

    it('reach the graph of a run that an agent or an MCP client started', async () => {
      const agent = new AgentCaller(gantry.url, 'headers', { 'a2a-version': '1.0', ...headers });
      const task = await agent.send([{ data: {} }]);
      expect(task.artifacts?.[0].parts).toMatchObject([{ data: { seen: { 'x-user-token': SECRET.length } } }]);
      for (const era of ERAS) {
        const client = await connectMcp(gantry.url, { era, headers });
        const { structuredContent } = await client.callTool({ name: 'headers', arguments: {} });
        expect(structuredContent).toEqual({ seen: { 'x-user-token': SECRET.length } });
        await client.close();
      }
    });

    it('are in no answer, row, state, trace, webhook or log', async () => {
      const { thread_id } = await gantry.client().threads.create();
      const client = gantry.client({ headers });
      await client.runs.wait(thread_id, 'headers', { input: {}, webhook: receiver.url('/headers') });
      const [run] = await client.runs.list(thread_id);
      await waitFor('the webhook', () => receiver.received.some(({ path }) => path === '/headers'));
      const langsmith = new LangSmithClient({ apiUrl: `${gantry.url}/api/v1`, apiKey: 'none' });
      const traces = await waitFor('the trace', async () => {
        if (!(await langsmith.hasProject({ projectName: 'headers' }))) return undefined;
        const found = [];
        for await (const trace of langsmith.listRuns({ projectName: 'headers', traceId: run.run_id }))
          found.push(trace);
        return found.some(({ end_time: end }) => end) ? found : undefined;
      });
      const { rows } = await gantry.sql.query('SELECT * FROM runs WHERE run_id = $1', [run.run_id]);
      const shown = JSON.stringify([
        await client.threads.getState(thread_id),
        await client.threads.getHistory(thread_id),
        await client.threads.get(thread_id),
        run,
        rows,
        traces,
        receiver.received,
      ]);
      expect(shown).not.toContain(SECRET);
      expect(JSON.stringify(run)).not.toContain('sealed_headers');
      expect(gantry.logs()).toContain('request_headers');
      expect(gantry.logs()).not.toContain('not-for-graphs');
    });
  });

  it('counts the calls of agents and MCP clients, whatever names they make up', async () => {
    const agent = new AgentCaller(gantry.url, 'three', { 'a2a-version': '1.0' });
    await agent.send([{ data: {} }]);
    await agent.call('GetTask', { id: 'none' });
    await agent.call('made-up-method');
    const client = await connectMcp(gantry.url, { era: '2025-11-25' });
    await client.callTool({ name: 'three', arguments: {} });
    await client.callTool({ name: 'fail', arguments: {} });
    await client.callTool({ name: 'made-up-tool', arguments: {} }).catch(() => undefined);
    await client.close();
    const exposition = await ofApi();
    const calls = (method: string, outcome: string) => exposition.value('gantry_a2a_calls_total', { method, outcome });
    expect(calls('SendMessage', 'ok')).toBeGreaterThanOrEqual(1);
    expect(calls('GetTask', '-32001')).toBe(1);
    expect(calls('unknown', '-32601')).toBe(1);
    const toolCalls = (graph: string, outcome: string) =>
      exposition.value('gantry_mcp_tool_calls_total', { graph, outcome });
    expect([toolCalls('three', 'ok'), toolCalls('fail', 'error'), toolCalls('none', 'refused')]).toEqual([1, 1, 1]);
    expect(exposition.value('gantry_mcp_messages_total', { method: 'tools/call' })).toBeGreaterThanOrEqual(3);
    expect(exposition.labels().join()).not.toContain('made-up');
  });

  it('records the revision of the executing code on each run', async () => {
    const { thread_id } = await gantry.client().threads.create();
    await gantry.client().runs.wait(thread_id, 'three', { input: {} });
    const [run] = await gantry.client().runs.list(thread_id);
    const info = (await (await fetch(`${gantry.url}/info`)).json()) as { host: { revision_id: string } };
    expect(info.host.revision_id).toMatch(/^[0-9a-f]{12}$/);
    expect(run.metadata).toMatchObject({ revision_id: info.host.revision_id });
  });
});
