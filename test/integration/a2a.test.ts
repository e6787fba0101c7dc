import { randomUUID } from 'node:crypto';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { AgentCaller, type RpcAnswer, type Task, threadOf, toMessage } from '../support/a2a';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';

const BODY_LIMIT = 64 * 1024;
const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  invalidParams: -32602,
  taskNotFound: -32001,
  contentType: -32005,
};
const url = 'http://127.0.0.1:9/hook';

/** An api alone: tasks are made and wait for a worker. */
describe('A2A of two tenants', () => {
  const keys = { a: 'key-of-tenant-a-0123456789', b: 'key-of-tenant-b-0123456789' };
  let api: TestApi;
  let hers: { task: Task; assistantId: string; configId: string };

  const caller = (of: 'a' | 'b', agent = 'talk', version = '1.0'): AgentCaller =>
    new AgentCaller(api.url, agent, { 'x-api-key': keys[of], 'a2a-version': version });

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: 'dev-key-0123456789',
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_BODY_LIMIT_BYTES: String(BODY_LIMIT),
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    });
    const database = api.app.get<DataSource>(getDataSourceToken());
    for (const name of ['a', 'b'] as const) {
      const tenantId = uuidv7() as TenantId;
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
      await api.app.get(ApiKeysService, { strict: false }).register(tenantId, name, keys[name]);
    }
    const response = await fetch(`${api.url}/assistants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': keys.a },
      body: JSON.stringify({ graph_id: 'talk', name: 'of a' }),
    });
    const { assistant_id: assistantId } = (await response.json()) as { assistant_id: string };
    const task = await caller('a').say('Count', {}, { returnImmediately: true });
    const { id: configId } = await caller('a').result<{ id: string }>('CreateTaskPushNotificationConfig', {
      taskId: task.id,
      url,
    });
    hers = { task, assistantId, configId };
  });

  afterAll(() => api?.close());

  it('asks for a key before anything else, also for cards and broken JSON', async () => {
    const stranger = new AgentCaller(api.url, 'talk', { 'x-api-key': 'nobody-has-this-key' });
    for (const body of ['{"', '{}', '[]']) {
      const refused = await stranger.post(body);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('X-API-Key'),
      ]);
    }
    for (const path of ['/a2a/talk', '/.well-known/agent-card.json?assistant_id=talk']) {
      expect((await fetch(api.url + path)).status).toBe(401);
    }
  });

  it.each<[string, (taskId: string, configId: string) => [method: string, params: object]]>([
    ['1.0', (id) => ['GetTask', { id }]],
    ['1.0', (id) => ['CancelTask', { id }]],
    ['1.0', (id) => ['SubscribeToTask', { id }]],
    ['1.0', (taskId) => ['SendMessage', toMessage([{ text: 'And?' }], { taskId })]],
    ['1.0', (taskId) => ['SendStreamingMessage', toMessage([{ text: 'And?' }], { taskId })]],
    ['1.0', (taskId) => ['CreateTaskPushNotificationConfig', { taskId, url }]],
    ['1.0', (taskId, id) => ['GetTaskPushNotificationConfig', { taskId, id }]],
    ['1.0', (taskId) => ['ListTaskPushNotificationConfigs', { taskId }]],
    ['1.0', (taskId, id) => ['DeleteTaskPushNotificationConfig', { taskId, id }]],
    ['0.3', (id) => ['tasks/get', { id }]],
    ['0.3', (id) => ['tasks/cancel', { id }]],
    ['0.3', (id) => ['tasks/resubscribe', { id }]],
    ['0.3', (id) => ['tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig: { url } }]],
    ['0.3', (id, config) => ['tasks/pushNotificationConfig/get', { id, pushNotificationConfigId: config }]],
    ['0.3', (id) => ['tasks/pushNotificationConfig/list', { id }]],
    ['0.3', (id, config) => ['tasks/pushNotificationConfig/delete', { id, pushNotificationConfigId: config }]],
  ])('%s: the resources of another look as if they did not exist: %#', async (version, call) => {
    const him = caller('b', 'talk', version);
    const said = async (taskId: string, configId: string): Promise<string> => {
      const answer = await him.call(...call(taskId, configId));
      expect(answer.error?.code).toBe(CODES.taskNotFound);
      return JSON.stringify(answer).replaceAll(taskId, '<task>').replaceAll(configId, '<config>');
    };
    expect(await said(hers.task.id, hers.configId)).toBe(await said(randomUUID(), randomUUID()));
  });

  it('lists no tasks of other users, not by their context either', async () => {
    for (const filter of [{}, { contextId: hers.task.contextId }]) {
      expect(await caller('b').result('ListTasks', filter)).toMatchObject({ tasks: [], totalSize: 0 });
      expect(await caller('a').result('ListTasks', filter)).toMatchObject({ tasks: [{ id: hers.task.id }] });
    }
  });

  it('admits no user to another’s context', async () => {
    const { contextId } = hers.task;
    const tasksIn = async (of: 'a' | 'b'): Promise<string[]> =>
      (await caller(of).result<{ tasks: Task[] }>('ListTasks', { contextId })).tasks.map(({ id }) => id);
    const before = await tasksIn('a');
    // For another user, the same id is a context of their own with nothing in it.
    const his = await caller('b').say('Count', { contextId }, { returnImmediately: true });
    expect(await tasksIn('b')).toEqual([his.id]);
    expect(await tasksIn('a')).toEqual(before);
    expect(his.history).toHaveLength(1);
    // A context id that a user chooses means their own context, whichever other user has chosen it.
    const mine = { contextId: 'project-1' };
    const [one, other] = await Promise.all(
      (['a', 'b'] as const).map((of) => caller(of).say('Count', mine, { returnImmediately: true })),
    );
    expect(threadOf(one)).not.toBe(threadOf(other));
  });

  it('does not find the agents of another', async () => {
    for (const path of [
      `/a2a/${hers.assistantId}`,
      `/a2a/${hers.assistantId}/.well-known/agent-card.json`,
      `/.well-known/agent-card.json?assistant_id=${hers.assistantId}`,
    ]) {
      const status = async (of: 'a' | 'b') =>
        (await fetch(api.url + path, { headers: { 'x-api-key': keys[of] } })).status;
      expect([path, await status('a'), await status('b')]).toEqual([path, 200, 404]);
    }
    const { error } = await caller('b', hers.assistantId).call('GetTask', { id: hers.task.id });
    const { error: unknown } = await caller('b', randomUUID()).call('GetTask', { id: hers.task.id });
    expect(error?.code).toBe(unknown?.code);
  });

  it('leaves all data unchanged', async () => {
    const { metadata, ...task } = await caller('a').get(hers.task.id);
    expect(metadata).toEqual(hers.task.metadata);
    expect(task).toMatchObject({ id: hers.task.id, status: { state: 'TASK_STATE_SUBMITTED' }, history: [{}] });
    const { configs } = await caller('a').result<{ configs: object[] }>('ListTaskPushNotificationConfigs', {
      taskId: hers.task.id,
    });
    expect(configs).toEqual([expect.objectContaining({ id: hers.configId })]);
  });

  describe('what HTTP refuses', () => {
    const refused = async (body: string, headers: Record<string, string> = {}) => {
      const response = await caller('a').post(body, headers);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      const { jsonrpc, id, error } = (await response.json()) as RpcAnswer;
      return { status: response.status, jsonrpc, id, code: error?.code, message: error?.message };
    };
    const envelope = { jsonrpc: '2.0', id: null };

    it('is reported in JSON-RPC too: a body of another type', async () => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}';
      for (const type of ['application/xml', 'text/plain', 'text/plain;charset=UTF-8', 'application/grpc']) {
        const answer = await refused(body, { 'content-type': type });
        expect(answer).toMatchObject({ ...envelope, status: 415, code: CODES.contentType });
      }
    });

    it('is reported in JSON-RPC too: a body that is too large', async () => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'ListTasks',
        params: { x: 'x'.repeat(BODY_LIMIT) },
      });
      const answer = await refused(body);
      expect(answer).toMatchObject({ ...envelope, status: 413, code: CODES.invalidRequest });
      expect(answer.message).toMatch(/too large/i);
    });

    it('is reported in JSON-RPC too: a key that no tenant has', async () => {
      const answer = await refused('{}', { 'x-api-key': 'nobody-has-this-key' });
      expect(answer).toMatchObject({ ...envelope, status: 401, code: CODES.invalidRequest });
    });
  });

  it.each([
    ['bytes that are not text', Buffer.from([0xff, 0xfe, 0x7b]).toString('latin1')],
    ['two objects', '{"jsonrpc":"2.0"}{"jsonrpc":"2.0"}'],
  ])('answers -32700 to %s', async (_, body) => {
    const response = await caller('a').post(body);
    expect([response.status, ((await response.json()) as RpcAnswer).error?.code]).toEqual([200, CODES.parse]);
  });

  it('answers 422, in JSON-RPC, to deep nesting', async () => {
    const response = await caller('a').post('{"jsonrpc":"2.0","id":1,"method":"GetTask","params":'.padEnd(40_000, '['));
    const { error } = (await response.json()) as RpcAnswer;
    expect([response.status, error]).toMatchObject([422, { code: CODES.invalidRequest }]);
    expect(error?.message).toContain('200 levels deep');
  });

  it('refuses a character that cannot be stored, in a text and in data', async () => {
    for (const part of [{ text: 'a\u0000b' }, { data: { messages: [], note: '\u0000' } }]) {
      const { error } = await caller('a').call('SendMessage', toMessage([part], {}, { returnImmediately: true }));
      expect(error).toMatchObject({ code: CODES.invalidParams, message: expect.stringContaining('U+0000') });
    }
  });
});

describe('A2A without push notifications', () => {
  let config: TemporaryConfig;
  let api: TestApi;
  let talk: AgentCaller;

  beforeAll(async () => {
    config = temporaryConfig({ http: { disable_webhooks: true } });
    api = await startTestApi({ GANTRY_CONFIG: config.path });
    talk = new AgentCaller(api.url, 'talk');
  });

  afterAll(async () => {
    await api?.close();
    config?.remove();
  });

  it('reports so in the card', async () => {
    const card = await (await fetch(`${api.url}/a2a/talk`, { headers: { 'a2a-version': '1.0' } })).json();
    expect(card).toMatchObject({ capabilities: { pushNotifications: false, streaming: true } });
  });

  it.each([
    ['CreateTaskPushNotificationConfig', { taskId: randomUUID(), url }],
    ['GetTaskPushNotificationConfig', { taskId: randomUUID(), id: 'x' }],
    ['ListTaskPushNotificationConfigs', { taskId: randomUUID() }],
    ['DeleteTaskPushNotificationConfig', { taskId: randomUUID(), id: 'x' }],
    ['SendMessage', toMessage([{ text: 'Count' }], {}, { taskPushNotificationConfig: { url } })],
  ])('answers %s with the error for it', async (method, params) => {
    expect(await talk.code(method, params)).toBe(-32003);
  });
});
