import { request } from 'node:http';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { ServerContext, Tool } from '@modelcontextprotocol/server';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { McpCallsService } from '../../src/mcp/mcp-calls.service';
import { startTestApi, type TestApi } from '../support/api';
import { EXAMPLE_GRAPHS, TEST_GRAPHS } from '../support/gantry';
import { waitFor } from '../support/wait-for';
import { connectMcp, ERAS, ModernCaller, postMcp } from '../support/mcp';

/** Types are read by compiling the graph's file, which takes long on a busy machine. */
const SCHEMAS_MS = 150_000;
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

/** A graph whose schemas can be read from nothing. */
const PLAIN_GRAPH = `
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ ...MessagesAnnotation.spec, approved: Annotation() });
export const graph = new StateGraph(State).addNode('work', () => ({})).addEdge(START, 'work').compile();
`;

describe('MCP with authentication on', () => {
  const keys = { a: 'key-of-tenant-a-0123456789', b: 'key-of-tenant-b-0123456789' };
  const tenants = { a: uuidv7() as TenantId, b: uuidv7() as TenantId };
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: 'dev-key-0123456789',
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_BODY_LIMIT_BYTES: String(64 * 1024),
    });
    const database = api.app.get<DataSource>(getDataSourceToken());
    for (const name of ['a', 'b'] as const) {
      const tenantId = tenants[name];
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
      await api.app.get(ApiKeysService, { strict: false }).register(tenantId, name, keys[name]);
    }
    await fetch(`${api.url}/assistants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': keys.a },
      body: JSON.stringify({ graph_id: 'three', name: 'of a', description: 'Only for a' }),
    });
  });

  afterAll(() => api?.close());

  it('asks for a key before anything else, also for broken JSON', async () => {
    expect((await postMcp(api.url, list)).status).toBe(401);
    expect((await postMcp(api.url, '{"')).status).toBe(401);
    expect((await postMcp(api.url, list, { 'x-api-key': 'nobody-has-this-key' })).status).toBe(401);
    expect((await fetch(`${api.url}/mcp`)).status).toBe(401);
  });

  it.each(ERAS)('shows each tenant its own assistants, in %s', async (era) => {
    const tools = async (name: 'a' | 'b') => {
      const client = await connectMcp(api.url, { era, headers: { 'x-api-key': keys[name] } });
      const listed = (await client.listTools()).tools;
      await client.close();
      return listed;
    };
    expect(await tools('a')).toContainEqual(
      expect.objectContaining({ name: 'of_a', title: 'of a', description: 'Only for a' }),
    );
    expect((await tools('b')).map(({ name }) => name)).not.toContain('of_a');
  });

  it('does not find the tool of another tenant', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'of_a', arguments: {} } };
    expect((await postMcp(api.url, call, { 'x-api-key': keys.b })).messages).toMatchObject([
      { error: { code: -32_602 } },
    ]);
  });

  it('does not treat the question of another tenant as answered, with any state of it', async () => {
    const state = { runId: uuidv7(), tool: 'ask' };
    const context = {
      http: { authInfo: { clientId: tenants.a, token: '', scopes: [], extra: { owner: tenants.a } } },
    } as unknown as ServerContext;
    const requestState = await api.app.get(McpCallsService, { strict: false }).states.mint(state, context);
    const answering = async (key: string) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const params = { name: 'ask', arguments: {}, requestState, inputResponses: {}, _meta };
      const { messages } = await postMcp(
        api.url,
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        { 'x-api-key': key, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask' },
      );
      return messages[0];
    };
    expect(await answering(keys.b)).toMatchObject({ error: { code: -32_602 } });
    expect(await answering(keys.a)).toMatchObject({ result: { isError: true } });
  });

  it('does not find the task of another tenant', async () => {
    const caller = (name: 'a' | 'b') => new ModernCaller(api.url, undefined, { 'x-api-key': keys[name] });
    // No worker serves here: the run waits, and its call becomes a task.
    const { taskId } = await caller('a').call('three');
    expect(await caller('a').request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const refused = caller('b').request(method, { taskId, inputResponses: {} });
      await expect(refused).rejects.toThrow(`-32602 Unknown task: ${String(taskId)}`);
    }
    expect(await caller('a').request('tasks/get', { taskId })).toMatchObject({ status: 'working' });
  });

  it('keeps a task that is polled, also one to which the release before has given a fixed end', async () => {
    const caller = new ModernCaller(api.url, undefined, { 'x-api-key': keys.a });
    const { taskId } = await caller.call('three');
    const database = api.app.get<DataSource>(getDataSourceToken());
    const ofTask = 'thread_id = (SELECT thread_id FROM mcp_tasks WHERE task_id = $1)';
    await database.query(
      `UPDATE threads SET delete_after = now() + interval '1 minute', ttl_strategy = NULL, ttl_minutes = NULL
       WHERE ${ofTask}`,
      [taskId],
    );
    expect(await caller.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    const ttl = await database.query<object[]>(
      `SELECT delete_after, ttl_strategy, ttl_minutes FROM threads WHERE ${ofTask}`,
      [taskId],
    );
    expect(ttl).toEqual([{ delete_after: null, ttl_strategy: 'delete', ttl_minutes: 7 * 24 * 60 }]);
  });

  it('does not accept the session of another tenant', async () => {
    const { headers } = await postMcp(api.url, initialize, { 'x-api-key': keys.a });
    const session = { 'mcp-session-id': headers.get('mcp-session-id')! };
    expect((await postMcp(api.url, list, { ...session, 'x-api-key': keys.a })).status).toBe(200);
    expect((await postMcp(api.url, list, { ...session, 'x-api-key': keys.b })).status).toBe(404);
  });

  it('reports in JSON-RPC what HTTP refuses: a body that is too large, an unknown key', async () => {
    const large = { ...list, params: { _meta: { x: 'x'.repeat(64 * 1024) } } };
    expect(await postMcp(api.url, large, { 'x-api-key': keys.a })).toMatchObject({
      status: 413,
      messages: [{ jsonrpc: '2.0', id: null, error: { code: -32_600 } }],
    });
    expect((await postMcp(api.url, list)).messages).toMatchObject([{ jsonrpc: '2.0', error: { code: -32_600 } }]);
  });

  it('reports to the model a character that cannot be stored', async () => {
    const params = { name: 'sleep', arguments: { note: '\u0000' } };
    const { messages } = await postMcp(
      api.url,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { 'x-api-key': keys.a },
    );
    expect(messages).toMatchObject([
      { result: { isError: true, content: [{ text: expect.stringContaining('U+0000') }] } },
    ]);
  });
});

describe('the tools of the example graphs', () => {
  let api: TestApi;
  let tools: Tool[];
  let firstCard: string;

  const cardOf = async (name: string): Promise<string> =>
    (await fetch(`${api.url}/a2a/${name}`, { headers: { 'a2a-version': '1.0' } })).text();

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: EXAMPLE_GRAPHS });
    firstCard = await cardOf('agent');
    const client = await connectMcp(api.url, { era: '2025-11-25' });
    // Until their types are read, tools have the names of their channels alone.
    ({ tools } = await client.listTools());
    expect(tools.map(({ name }) => name).sort()).toEqual(['agent', 'approval', 'memory', 'pipeline']);
    await waitFor(
      'the schemas of all tools',
      async () => {
        ({ tools } = await client.listTools());
        return tools.every(({ outputSchema }) => outputSchema !== undefined);
      },
      SCHEMAS_MS,
    );
    await client.close();
  }, 200_000);

  afterAll(() => api?.close());

  it('describe their input and output in a few lines', () => {
    expect(tools.map(({ name }) => name).sort()).toEqual(['agent', 'approval', 'memory', 'pipeline']);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description).toMatch(/\w+ \w+/);
      for (const schema of [inputSchema, outputSchema]) {
        expect(Object.keys(schema?.properties ?? {}).length).toBeGreaterThan(0);
        expect(JSON.stringify(schema).length).toBeLessThan(2_000);
      }
    }
  });

  it('accept a text where the schema was read from TypeScript types', () => {
    expect(tools.find(({ name }) => name === 'agent')).toMatchObject({
      inputSchema: { type: 'object', properties: { messages: { type: 'string' } } },
      outputSchema: { type: 'object', properties: { messages: { type: 'array', items: { type: 'object' } } } },
    });
  });

  it('have equally short cards as agents', async () => {
    for (const { name } of tools) expect((await cardOf(name)).length).toBeLessThan(5_000);
  });

  it('have a card before their types are read', () => {
    expect(JSON.parse(firstCard)).toMatchObject({
      name: 'agent',
      skills: [{ id: expect.any(String), description: expect.any(String) }],
    });
  });
});

describe('MCP on this machine', () => {
  const statusFor = (api: TestApi, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asking = request(
        `${api.url}/mcp`,
        {
          method: 'POST',
          headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asking.on('error', reject);
      asking.end(JSON.stringify(list));
    });

  it('refuses host names that a browser may have been made to resolve to it', async () => {
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    try {
      expect(await statusFor(api, { host: 'evil.example' })).toBe(403);
      expect(await statusFor(api, { host: 'evil.example', origin: 'http://evil.example' })).toBe(403);
      expect(await statusFor(api, { host: 'localhost:2024' })).toBe(200);
      expect(await statusFor(api, { host: '[::1]:2024', origin: 'http://[::1]:3000' })).toBe(200);
    } finally {
      await api.close();
    }
  });

  it.each([
    ['GANTRY_MCP_ALLOWED_HOSTS', 'studio.example.com,other.example', 200],
    ['GANTRY_MCP_ALLOWED_HOSTS', '*', 200],
    ['GANTRY_MCP_ALLOWED_HOSTS', 'other.example', 403],
    // Pages of the console are there.
    ['GANTRY_PUBLIC_URL', 'https://studio.example.com', 200],
  ])('accepts the hosts in %s=%s', async (setting, allowed, status) => {
    const key = 'gantry-key-of-a-page';
    const auth = { GANTRY_AUTH: 'on', GANTRY_API_KEY: key };
    const api = await startTestApi({ ...auth, GANTRY_CONFIG: TEST_GRAPHS, [setting]: allowed });
    try {
      const headers = { host: 'studio.example.com', origin: 'https://studio.example.com', 'x-api-key': key };
      expect(await statusFor(api, headers)).toBe(status);
    } finally {
      await api.close();
    }
  });

  it('notifies clients that listen when the types of a graph are read: until then, its channels are its schema', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-mcp-'));
    const graphs = { desk: `${join(dirname(TEST_GRAPHS), 'behaviours.ts')}:desk`, plain: './plain.mjs:graph' };
    writeFileSync(join(folder, 'langgraph.json'), JSON.stringify({ graphs }));
    writeFileSync(join(folder, 'plain.mjs'), PLAIN_GRAPH);
    symlinkSync(join(__dirname, '..', '..', 'node_modules'), join(folder, 'node_modules'));
    // No other process has read these types.
    const env = { GANTRY_CACHE_FOLDER: join(folder, 'cache') };
    const api = await startTestApi({ GANTRY_CONFIG: join(folder, 'langgraph.json'), ...env });
    try {
      const client = await connectMcp(api.url, { era: '2026-07-28' });
      let notified = false;
      client.setNotificationHandler('notifications/tools/list_changed', () => {
        notified = true;
      });
      const subscription = await client.listen({ toolsListChanged: true });
      const schemas = async () => {
        const { tools } = await client.listTools(undefined, { cacheMode: 'bypass' });
        return Object.fromEntries(tools.map(({ name, ...schemas }) => [name, schemas]));
      };
      const channels = { properties: { messages: { type: 'string' }, approved: {} }, required: ['messages'] };
      // JavaScript has no types that could be read.
      const plain = { inputSchema: channels };
      expect(await schemas()).toMatchObject({ desk: { inputSchema: channels }, plain });
      // A notification may be about the other graph.
      const read = await waitFor(
        'the types to be read',
        async () => {
          if (!notified) return false;
          notified = false;
          const now = await schemas();
          return now.desk.outputSchema !== undefined && now;
        },
        SCHEMAS_MS,
      );
      expect(read).toMatchObject({
        desk: { inputSchema: { properties: { approved: { type: 'boolean' } } } },
        plain,
      });
      await subscription.close();
      await client.close();
    } finally {
      await api.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 200_000);

  it('is absent when langgraph.json disables it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-mcp-'));
    const graphs = { three: `${join(dirname(TEST_GRAPHS), 'ten.ts')}:three` };
    writeFileSync(join(folder, 'langgraph.json'), JSON.stringify({ graphs, http: { disable_mcp: true } }));
    const api = await startTestApi({ GANTRY_CONFIG: join(folder, 'langgraph.json') });
    try {
      expect((await fetch(`${api.url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(404);
      const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: object };
      expect(Object.keys(paths)).not.toContain('/mcp');
      expect(await (await fetch(`${api.url}/info`)).json()).toMatchObject({ flags: { mcp: false } });
    } finally {
      await api.close();
      rmSync(folder, { recursive: true });
    }
  });
});
