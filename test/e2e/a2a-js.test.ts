import type { AgentCard } from '@a2a-js/sdk';
import { type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { v4 as uuid } from 'uuid';
import { AgentCaller, type RpcAnswer } from '../support/a2a';
import { Gantry, PYTHON_TEST_GRAPHS, startGantry, TEST_GRAPHS } from '../support/gantry';

function message(text: string, more: Partial<Message> = {}): Message {
  return {
    messageId: uuid(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

const request = (message: Message) => ({ tenant: '', message, configuration: undefined, metadata: undefined });

const textOf = (task: Task): string =>
  task.artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')))
    .join('');

async function all(stream: AsyncIterable<StreamResponse>): Promise<NonNullable<StreamResponse['payload']>[]> {
  const items = [];
  for await (const { payload } of stream) items.push(payload!);
  return items;
}

/** The public JS client, in the versions and bindings of the protocol that it speaks, against graphs as they are served. */
describe.each([
  ['1.0', 'JSONRPC', 'TypeScript', TEST_GRAPHS],
  ['0.3', 'JSONRPC', 'TypeScript', TEST_GRAPHS],
  ['1.0', 'HTTP+JSON', 'TypeScript', TEST_GRAPHS],
  ['1.0', 'JSONRPC', 'Python', PYTHON_TEST_GRAPHS],
])('A2A %s over %s, the JS client and graphs in %s', (version, binding, _language, graphs) => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ graphs, graphProcesses: 1 });
  });

  afterAll(() => gantry?.stop());

  async function connect(agent: string): Promise<{ client: Client; card: AgentCard }> {
    const legacyCompat = { enabled: true };
    const resolver = new DefaultAgentCardResolver({ legacyCompat });
    const card = await resolver.resolve(gantry.url, `/.well-known/agent-card.json?assistant_id=${agent}`);
    const factory = new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory()],
      }),
    );
    const spoken = card.supportedInterfaces.filter(
      ({ protocolVersion, protocolBinding }) => protocolVersion === version && protocolBinding === binding,
    );
    const chosen = { ...card, supportedInterfaces: spoken };
    return { client: await factory.createFromAgentCard(chosen), card };
  }

  it('reads the card', async () => {
    const { card } = await connect('talk');
    expect(card).toMatchObject({ name: 'talk', capabilities: { streaming: true, pushNotifications: true } });
    expect(card.supportedInterfaces.map((each) => `${each.protocolVersion} ${each.protocolBinding}`)).toEqual([
      '1.0 JSONRPC',
      '0.3 JSONRPC',
      '1.0 HTTP+JSON',
    ]);
    expect(card.skills).toHaveLength(1);
  });

  it('sends a message and gets the task with its answer', async () => {
    const { client } = await connect('talk');
    const task = (await client.sendMessage(request(message('Count')))) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(textOf(task)).toBe('one two three four five six seven eight nine ten');
    expect(textOf(await client.getTask({ tenant: '', id: task.id }))).toBe(textOf(task));
  });

  it('streams the answer piece by piece', async () => {
    const { client } = await connect('talk');
    const items = await all(client.sendMessageStream(request(message('Count'))));
    expect(items[0].$case).toBe('task');
    const pieces = items.flatMap((item) => (item.$case === 'artifactUpdate' ? item.value : []));
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces[0].append).toBe(false);
    expect(pieces.slice(1).every(({ append }) => append)).toBe(true);
    expect(pieces.map(({ lastChunk }) => lastChunk).lastIndexOf(true)).toBe(pieces.length - 1);
    const text = pieces.map(({ artifact }) => textOf({ artifacts: [artifact!] } as unknown as Task)).join('');
    expect(text).toBe('one two three four five six seven eight nine ten');
    expect(items.at(-1)).toMatchObject({
      $case: 'statusUpdate',
      value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
    });
  });

  it('receives a question, answers it, and gets the rest', async () => {
    const { client } = await connect('desk');
    const asked = (await client.sendMessage(request(message('Refund me')))) as Task;
    expect(asked.status).toMatchObject({ state: TaskState.TASK_STATE_INPUT_REQUIRED });
    expect(asked.status?.message?.parts[0].content).toMatchObject({
      $case: 'data',
      value: { question: 'Approve?', request: 'Refund me' },
    });
    const items = await all(client.sendMessageStream(request(message('yes', { taskId: asked.id }))));
    expect(items[0]).toMatchObject({ $case: 'task', value: { id: asked.id, contextId: asked.contextId } });
    expect(items.at(-1)).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
    expect(textOf(await client.getTask({ tenant: '', id: asked.id }))).toBe('Your refund is on its way.');
  });

  it('cancels a running task, and notifies the client that waits for it', async () => {
    const { client } = await connect('prose');
    const stream = client.sendMessageStream(request(message('Tell')));
    const first = (await stream.next()).value as StreamResponse;
    const { id } = (first.payload as { value: Task }).value;
    const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const rest = await all(stream);
    expect(rest.at(-1)).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_CANCELED } } });
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toMatchObject({
      name: 'TaskNotCancelableError',
    });
  });

  it('resubscribes, and gets the earlier and the new events', async () => {
    const { client } = await connect('prose');
    const stream = client.sendMessageStream(request(message('Tell')));
    const first = (await stream.next()).value as StreamResponse;
    const { id } = (first.payload as { value: Task }).value;
    for (let pieces = 0; pieces < 15;) {
      const { value } = await stream.next();
      if ((value as StreamResponse).payload?.$case === 'artifactUpdate') pieces += 1;
    }
    await stream.return(undefined);
    const items = await all(client.resubscribeTask({ tenant: '', id }));
    expect(items[0].$case).toBe('task');
    const before = textOf((items[0] as { value: Task }).value);
    expect(before).toMatch(/^w0 w1 w2 /);
    const rest = items.flatMap((item) =>
      item.$case === 'artifactUpdate' ? textOf({ artifacts: [item.value.artifact!] } as unknown as Task) : [],
    );
    expect(before + rest.join('')).toBe(textOf(await client.getTask({ tenant: '', id })));
    expect(before + rest.join('')).toMatch(/ w59$/);
  });

  it('recognizes an unknown task by its error', async () => {
    const { client } = await connect('talk');
    await expect(client.getTask({ tenant: '', id: uuid() })).rejects.toMatchObject({ name: 'TaskNotFoundError' });
  });

  const itOfJsonRpc = binding === 'JSONRPC' ? it : it.skip;

  itOfJsonRpc('answers malformed JSON-RPC with its error, and a batch with an array', async () => {
    const caller = new AgentCaller(gantry.url, 'talk', { 'a2a-version': version });
    const answerTo = async (body: string) => (await (await caller.post(body)).json()) as RpcAnswer;
    for (const [body, code] of [
      ['{"jsonrpc": "2.0", "method": ', -32700],
      ['{"jsonrpc": "1.0", "id": 1, "method": "x"}', -32600],
      ['[]', -32600],
      ['{"jsonrpc": "2.0", "id": 1, "method": "tasks/explode"}', -32601],
    ] as const) {
      expect([body, (await answerTo(body)).error?.code]).toEqual([body, code]);
    }
    const { client } = await connect('talk');
    const { id } = (await client.sendMessage(request(message('Count')))) as Task;
    const method = version === '1.0' ? 'GetTask' : 'tasks/get';
    const batch = [id, uuid()].map((taskId, index) => ({ jsonrpc: '2.0', id: index, method, params: { id: taskId } }));
    expect(await answerTo(JSON.stringify(batch))).toMatchObject([
      { id: 0, result: { id } },
      { id: 1, error: { code: -32001 } },
    ]);
  });

  it('is refused at an unknown agent', async () => {
    await expect(connect('nobody')).rejects.toThrow('404');
  });
});
