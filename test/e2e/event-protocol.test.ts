import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { StreamController } from '@langchain/langgraph-sdk/stream';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { type SseEvent, SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const ALL = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];
const SENTENCE = 'one two three four five six seven eight nine ten';
const human = (content: string) => ({ messages: [{ type: 'human', content }] });

/** What each library emits in the mode `tools` for a tool that fails. */
const TOOL_EVENTS: Record<string, object[]> = {
  TypeScript: [
    { event: 'on_tool_start', toolCallId: 'call-Atlantis', name: 'look_up' },
    { event: 'on_tool_error', toolCallId: 'call-Atlantis', error: { error: 'RangeError' } },
  ],
  Python: [
    { event: 'tool-started', tool_call_id: 'call-Atlantis', tool_name: 'look_up' },
    { event: 'tool-error', tool_call_id: 'call-Atlantis', message: 'There is no such city' },
  ],
};

interface ProtocolEvent {
  type: 'event';
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: Record<string, unknown> };
}

interface Reply {
  type: string;
  id: number;
  result: Record<string, unknown>;
  error?: string;
  message?: string;
  meta?: { applied_through_seq?: number };
}

const eventOf = ({ data }: SseEvent): ProtocolEvent => data as ProtocolEvent;
const isOfRoot = ({ params }: ProtocolEvent): boolean => params.namespace.length === 0;

const isEnd = (event: SseEvent): boolean => {
  const { method, params } = eventOf(event);
  return method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running';
};

/** The event protocol, as the newest clients speak it. */
describeLanguages('the event protocol with graphs in $language', ({ language, graphs }) => {
  let gantry: Gantry;
  let client: Client;
  let commandId = 0;

  beforeAll(async () => {
    gantry = await startGantry({ graphs, graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gantry.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  async function command(thread: string, method: string, params: unknown = {}): Promise<Reply> {
    const id = (commandId += 1);
    const response = await post(`/threads/${thread}/commands`, { id, method, params });
    expect(response.status).toBe(200);
    const reply = (await response.json()) as Reply;
    expect(reply.id).toBe(id);
    return reply;
  }

  const start = async (thread: string, assistant: string, input: unknown): Promise<string> => {
    const reply = await command(thread, 'run.start', { assistant_id: assistant, input });
    return String(reply.result.run_id);
  };

  const open = (thread: string, body: object = {}, url = gantry.url): Promise<SseReader> =>
    SseReader.post(`${url}/threads/${thread}/stream/events`, { channels: ALL, ...body });

  async function untilEnd(thread: string, body: object = {}, url = gantry.url): Promise<SseEvent[]> {
    const stream = await open(thread, body, url);
    const events = await stream.until(isEnd);
    await stream.close();
    return events;
  }

  /** The same events without their times. */
  const timeless = (events: SseEvent[]): unknown[] =>
    events.map((event) => {
      const { params, ...rest } = eventOf(event);
      return { ...rest, params: { ...params, timestamp: 0 } };
    });

  const methodsOf = (events: SseEvent[]): string[] => events.map(({ event }) => event);

  describe('on the wire', () => {
    it('emits the course of a run in order: its start, its checkpoints and states, its end', async () => {
      const thread = await createThread();
      await start(thread, 'three', {});
      const events = await untilEnd(thread);
      expect(eventOf(events[0])).toMatchObject({
        type: 'event',
        method: 'lifecycle',
        params: { namespace: [], data: { event: 'running', graph_name: 'three' } },
      });
      expect(eventOf(events.at(-1)!).params.data).toEqual({ event: 'completed', graph_name: 'three' });
      for (const { event, data, id } of events) {
        const { method, seq, event_id } = data as ProtocolEvent;
        expect([method, String(seq), event_id]).toEqual([event, id, id]);
      }
      const numbers = events.map((event) => eventOf(event).seq);
      expect(numbers).toEqual(numbers.map((_, index) => numbers[0] + index));
      // Each state follows its checkpoint.
      const root = events.filter((event) => eventOf(event).params.namespace.length === 0);
      methodsOf(root).forEach((method, index) => {
        if (method === 'values') expect(root[index - 1].event).toBe('checkpoints');
      });
      const updates = events.filter(({ event }) => event === 'updates').map((event) => eventOf(event).params);
      expect(updates.map(({ node, data }) => [node, data])).toEqual(
        NODES.slice(0, 3).map((node) => [node, { node, values: { done: [node] } }]),
      );
    });

    it('emits tokens as content blocks with their node, and nothing that an old client misreads', async () => {
      const thread = await createThread();
      const run = await start(thread, 'talk', human('hi'));
      const events = await untilEnd(thread, { channels: ['messages', 'lifecycle'] });
      const messages = events.filter(({ event }) => event === 'messages').map(eventOf);
      const kinds = messages.map(({ params }) => params.data.event);
      expect(kinds[0]).toBe('message-start');
      expect(kinds.at(-1)).toBe('message-finish');
      const deltas = messages.filter(({ params }) => params.data.event === 'content-block-delta');
      expect(deltas.map(({ params }) => (params.data.delta as { text: string }).text).join('')).toBe(SENTENCE);
      expect(deltas.length).toBeGreaterThan(10);
      // Each library has its own namespace for a token: that of the node's task, or that of the graph which the node is in.
      const isOfTask = language === 'TypeScript';
      for (const { params } of messages) {
        expect(params.namespace).toEqual(isOfTask ? [expect.stringMatching(/^say:/)] : []);
        expect(params.node).toBe('say');
      }
      const ofNode = events.filter(({ event }) => event === 'lifecycle').map((event) => eventOf(event).params.data);
      const started = { event: 'started', graph_name: 'say' };
      expect(ofNode.slice(1, -1)).toEqual(isOfTask ? [started, { ...started, event: 'completed' }] : []);
      const old = await (await SseReader.get(`${gantry.url}/threads/${thread}/runs/${run}/stream`)).rest();
      expect(methodsOf(old)).toEqual(expect.arrayContaining(['metadata', 'values', 'updates']));
      expect(methodsOf(old).filter((name) => name.startsWith('messages'))).toEqual([]);
    });

    it('emits tokens to Python’s SDK in the namespace of the graph, where it expects them', async () => {
      const thread = await createThread();
      await start(thread, 'talk', human('hi'));
      const all = await untilEnd(thread, { channels: ['messages', 'lifecycle'] });
      const headers = { 'user-agent': 'langgraph-sdk-py/0.4.14' };
      const filter = { channels: ['messages', 'lifecycle'], namespaces: [[]], depth: 0 };
      const stream = await SseReader.post(`${gantry.url}/threads/${thread}/stream/events`, filter, headers);
      const events = await stream.until(isEnd);
      await stream.close();
      expect(events.every((event) => eventOf(event).params.namespace.length === 0)).toBe(true);
      // Both have the same numbers; the events for the beginning and end of the node are left out.
      const shared = all.filter(({ event, data }) => event === 'messages' || isOfRoot(data as ProtocolEvent));
      expect(events.map(({ id }) => id)).toEqual(shared.map(({ id }) => id));
    });

    it('emits the beginning and end of nested graphs, and only the requested namespaces', async () => {
      const thread = await createThread();
      await start(thread, 'nested', { text: 'hello' });
      const events = (await untilEnd(thread)).map(eventOf);
      const ofInner = events.filter(({ params }) => params.namespace.length === 1);
      const lifecycle = ofInner.filter(({ method }) => method === 'lifecycle');
      expect(lifecycle.map(({ params }) => params.data)).toEqual([
        { event: 'started', graph_name: 'inner' },
        { event: 'completed', graph_name: 'inner' },
      ]);
      expect(ofInner.find(({ method }) => method === 'updates')?.params).toMatchObject({
        data: { node: 'shout', values: { text: 'HELLO' } },
      });

      const below = await open(thread, { channels: ['values', 'updates'], namespaces: [['inner']] });
      const [first] = await below.until(({ event }) => event === 'updates');
      expect(eventOf(first).params.namespace).toEqual([expect.stringMatching(/^inner:/)]);
      await below.close();
      const top = await untilEnd(thread, { channels: ['values', 'lifecycle'], namespaces: [[]], depth: 0 });
      for (const event of top) expect(eventOf(event).params.namespace).toEqual([]);

      const { result } = await command(thread, 'agent.getTree');
      expect(result.tree).toEqual({
        namespace: [],
        status: 'completed',
        graph_name: 'nested',
        children: [{ namespace: [expect.stringMatching(/^inner:/)], status: 'completed', graph_name: 'inner' }],
      });
    });

    it('emits tool and custom events, in both protocols', async () => {
      const thread = await createThread();
      await start(thread, 'toolbox', { city: 'Oslo' });
      const tools = (await untilEnd(thread, { channels: ['tools', 'lifecycle'] })).filter(
        ({ event }) => event === 'tools',
      );
      expect(tools.map((event) => eventOf(event).params.data)).toMatchObject([
        { event: 'tool-started', tool_call_id: 'call-Oslo', tool_name: 'look_up' },
        { event: 'tool-finished', tool_call_id: 'call-Oslo', output: { type: 'tool', content: 'Rain in Oslo' } },
      ]);

      const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
        assistant_id: 'toolbox',
        input: { city: 'Atlantis' },
        stream_mode: 'tools',
      });
      const old = await stream.rest();
      expect(old.slice(1)).toMatchObject([
        ...TOOL_EVENTS[language].map((data) => ({ event: 'tools', data })),
        { event: 'error', data: { error: 'RangeError', message: 'There is no such city' } },
      ]);
      // A run of one protocol is visible in the other.
      const seen = await open(thread, { channels: ['tools', 'lifecycle'] });
      const failed = await seen.until((event) => eventOf(event).params.data.event === 'failed');
      await seen.close();
      expect(eventOf(failed.at(-1)!).params.data).toEqual({
        event: 'failed',
        graph_name: 'toolbox',
        error: 'There is no such city',
      });
      expect(failed.map((event) => eventOf(event).params.data)).toContainEqual({
        event: 'tool-error',
        tool_call_id: 'call-Atlantis',
        message: 'There is no such city',
      });

      await start(thread, 'custom', { count: 2 });
      const custom = await open(thread, { channels: ['custom'] });
      const emitted = await custom.until(
        (event) => (eventOf(event).params.data.payload as { index: number }).index === 1,
      );
      await custom.close();
      expect(emitted.map((event) => eventOf(event).params.data)).toEqual(
        [0, 1].map((index) => ({ payload: { index, text: 'a\nb\u2028c ✓' } })),
      );
    });

    it('resumes after an event number on every replica, over several runs: nothing is missing or repeated', async () => {
      const replica = await gantry.startReplica();
      const thread = await createThread();
      await start(thread, 'three', {});
      const first = await untilEnd(thread);
      await start(thread, 'nested', { text: 'x' });
      const second = await untilEnd(thread, { since: eventOf(first.at(-1)!).seq }, replica);
      expect(eventOf(second[0]).seq).toBeGreaterThan(eventOf(first.at(-1)!).seq);
      const whole = [...first, ...second];
      for (const index of [0, 1, first.length - 2, first.length - 1, first.length, whole.length - 2]) {
        const seen = await open(thread, { since: eventOf(whole[index]).seq }, index % 2 ? replica : gantry.url);
        const rest = whole.slice(index + 1);
        const again: SseEvent[] = [];
        for await (const event of seen) if (again.push(event) === rest.length) break;
        expect(timeless(again)).toEqual(timeless(rest));
        await seen.close();
      }
      const resumed = await SseReader.post(
        `${gantry.url}/threads/${thread}/stream/events`,
        { channels: ALL },
        { 'last-event-id': whole.at(-2)!.id! },
      );
      expect(timeless(await resumed.until(isEnd))).toEqual(timeless(whole.slice(-1)));
      await resumed.close();
    });

    it('continues while the worker is killed: each node is emitted once, and so is the end', async () => {
      const thread = await createThread();
      const stream = untilEnd; // Opened before a run exists.
      const listening = stream(thread);
      const run = await start(thread, 'ten', { step_ms: 250 });
      await waitFor('four nodes', async () => (await gantry.ledger.of(run)).length >= 4);
      await gantry.killWorker('SIGKILL');
      await gantry.startWorker();
      const events = await listening;
      const nodes = events.filter(({ event }) => event === 'updates').map((event) => eventOf(event).params.node);
      expect(nodes).toEqual(NODES);
      expect(events.filter(isEnd)).toHaveLength(1);
      const numbers = events.map((event) => eventOf(event).seq);
      expect(numbers).toEqual(numbers.map((_, index) => numbers[0] + index));
      expect(timeless(await untilEnd(thread))).toEqual(timeless(events));
    });

    it('accepts one answer to a question: of two clients that answer, the later one gets an error', async () => {
      const thread = await createThread();
      await start(thread, 'desk', human('a refund, please'));
      const asked = await untilEnd(thread, { channels: ['input', 'lifecycle'] });
      const questions = asked.filter(({ event }) => event === 'input.requested').map((event) => eventOf(event).params);
      expect(questions).toHaveLength(1);
      expect(questions[0].data).toEqual({
        interrupt_id: expect.any(String),
        payload: { question: 'Approve?', request: 'a refund, please' },
        value: { question: 'Approve?', request: 'a refund, please' },
      });
      expect(eventOf(asked.at(-1)!).params.data).toEqual({ event: 'interrupted', graph_name: 'desk' });

      const id = questions[0].data.interrupt_id;
      expect(await command(thread, 'input.respond', { interrupt_id: 'nobody', response: 'yes' })).toMatchObject({
        type: 'error',
        error: 'no_such_interrupt',
      });
      const respond = (response: string): Promise<Reply> =>
        command(thread, 'input.respond', { namespace: [], interrupt_id: id, response });
      const replies = await Promise.all([respond('yes'), respond('no')]);
      expect(replies.map(({ type }) => type).sort()).toEqual(['error', 'success']);
      expect(replies.find(({ type }) => type === 'error')?.error).toMatch(/no_such_interrupt|invalid_argument/);
      const approved = replies[0].type === 'success';
      await waitFor('the answer', async () => {
        const { status, values } = await client.threads.get(thread);
        return status === 'idle' && (values as { approved?: boolean }).approved === approved;
      });
    });

    it('shows every client on the thread which questions a run answers', async () => {
      const thread = await createThread();
      await start(thread, 'ask', {});
      const asked = await untilEnd(thread, { channels: ['input', 'lifecycle'] });
      const { interrupt_id: id } = eventOf(asked.find(({ event }) => event === 'input.requested')!).params.data;
      const { seq } = eventOf(asked.at(-1)!);
      await command(thread, 'input.respond', { interrupt_id: id, response: 'yes', strict_resume: true });
      const emitted = await untilEnd(thread, { channels: ['input', 'lifecycle'], since: seq });
      expect(emitted.map((event) => [event.event, eventOf(event).params.data])).toEqual([
        ['lifecycle', expect.objectContaining({ event: 'running' })],
        ['input.answered', { interrupt_ids: [id] }],
        ['lifecycle', expect.objectContaining({ event: 'completed' })],
      ]);
      // An answer sent through the API reaches the graph.
      const late = { assistant_id: 'ask', command: { resume: { [String(id)]: 'no' } }, strict_resume: true };
      await (await post(`/threads/${thread}/runs/wait`, late)).text();
      const refused = await untilEnd(thread, { channels: ['lifecycle'], since: eventOf(emitted.at(-1)!).seq });
      expect(eventOf(refused.at(-1)!).params.data).toMatchObject({
        ...{ event: 'failed', reason: 'not_pending', interrupt_ids: [id], pending_ids: [] },
      });
    });

    it('takes an input as the answer where the thread waits for one', async () => {
      const thread = await createThread();
      await start(thread, 'ask', {});
      const [end] = (await untilEnd(thread, { channels: ['lifecycle'], namespaces: [[]], depth: 0 })).slice(-1);
      await start(thread, 'ask', 'forty-two');
      await untilEnd(thread, { channels: ['lifecycle'], namespaces: [[]], depth: 0, since: eventOf(end).seq });
      const { result } = await command(thread, 'state.get', { namespace: [], keys: ['answer'] });
      expect(result).toMatchObject({ values: { answer: 'forty-two' }, checkpoint: { id: expect.any(String) } });
    });

    it('creates one run for a command that is sent twice with one Idempotency-Key', async () => {
      const thread = await createThread();
      const body = { id: 1, method: 'run.start', params: { assistant_id: 'three', input: {} } };
      const send = () => post(`/threads/${thread}/commands`, body, { 'idempotency-key': 'once' });
      const [first, second] = [await send(), await send()];
      expect(second.headers.get('idempotency-replayed')).toBe('true');
      const runIds = (await Promise.all([first.json(), second.json()])).map((reply) => (reply as Reply).result.run_id);
      expect(runIds[1]).toBe(runIds[0]);
      expect(await client.runs.list(thread)).toHaveLength(1);
    });

    it.each([
      ['commands', {}, 400],
      ['commands', { id: -1, method: 'run.start' }, 400],
      ['commands', { id: 1, method: 5 }, 400],
      ['commands', [], 400],
      ['stream/events', {}, 400],
      ['stream/events', { channels: [] }, 400],
      ['stream/events', { channels: ['nothing'] }, 400],
      ['stream/events', { channels: ['values'], since: -1 }, 400],
      ['stream/events', { channels: ['values'], namespaces: ['a'] }, 400],
    ])('refuses a malformed %s: %j', async (path, body, status) => {
      const thread = await createThread();
      const response = await post(`/threads/${thread}/${path}`, body);
      expect(response.status).toBe(status);
      expect(await response.json()).toHaveProperty('detail');
    });

    it('reports a failed command in its answer', async () => {
      const thread = await createThread();
      for (const method of ['dance', 'constructor', 'toString']) {
        expect(await command(thread, method)).toMatchObject({ type: 'error', error: 'unknown_command' });
      }
      expect(await command(thread, 'run.start', {})).toMatchObject({ type: 'error', error: 'invalid_argument' });
      expect(await command(thread, 'run.start', { assistant_id: 'nobody', input: {} })).toMatchObject({
        type: 'error',
        error: 'invalid_argument',
        message: expect.stringContaining('nobody'),
      });
      expect(await command(thread, 'agent.getTree')).toMatchObject({ type: 'error', error: 'no_such_run' });
    });
  });

  describe.each([
    ['server-sent events', {}],
    ['a WebSocket', { transport: 'websocket' }],
  ] as const)('the JavaScript client by %s', (_transport, options) => {
    const streamOf = (thread: string | undefined, assistantId: string) =>
      thread === undefined
        ? client.threads.stream({ assistantId, ...options })
        : client.threads.stream(thread, { assistantId, ...options });

    it('starts a run on a thread that does not exist yet, and reads messages, states and output', async () => {
      const thread = streamOf(undefined, 'talk');
      const { run_id } = (await thread.run.start({ input: human('hi') })) as { run_id: string };
      const texts: string[] = [];
      for await (const message of thread.messages) texts.push(await message.text);
      expect(texts).toEqual([SENTENCE]);
      const output = (await thread.output) as { messages: { text: string }[] };
      expect(output.messages.map(({ text }) => text)).toEqual(['hi', SENTENCE]);
      expect(await client.runs.get(thread.threadId, run_id)).toMatchObject({ status: 'success' });
      await thread.close();
    });

    it('reads the output of a run that has ended, and waits for a thread that is created later', async () => {
      const thread = randomUUID();
      const early = streamOf(thread, 'talk');
      const coming = early.output as Promise<{ messages: { text: string }[] }>;
      await client.runs.wait(thread, 'talk', { input: human('hi'), ifNotExists: 'create' });
      const late = streamOf(thread, 'talk');
      for (const output of [await coming, (await late.output) as Awaited<typeof coming>]) {
        expect(output.messages.map(({ text }) => text)).toEqual(['hi', SENTENCE]);
      }
      await Promise.all([early.close(), late.close()]);
    });

    it('receives a question, answers it, and reads on', async () => {
      const thread = streamOf(undefined, 'desk');
      await thread.run.start({ input: human('a refund') });
      await thread.output;
      expect(thread.interrupted).toBe(true);
      expect(thread.interrupts).toMatchObject([{ payload: { question: 'Approve?' }, namespace: [] }]);
      const [{ interruptId }] = thread.interrupts;
      await thread.input.respond({ namespace: [], interrupt_id: interruptId, response: 'yes' });
      await waitFor('the answer', async () => {
        const { values } = await client.threads.get(thread.threadId);
        return (values as { approved?: boolean }).approved === true;
      });
      await thread.close();
    });

    it('lists checkpoints, forks a run from one of them, and sends the graph a message', async () => {
      const thread = streamOf(undefined, 'talk');
      await thread.run.start({ input: human('hi') });
      await thread.output;
      const ended = async (runs: number) =>
        waitFor('the end of the run', async () => {
          const done = await client.runs.list(thread.threadId, { status: 'success' });
          return done.length === runs;
        });
      await ended(1);
      const textsOf = async (): Promise<string[]> => {
        const { values } = await client.threads.getState<{ messages: { content: unknown }[] }>(thread.threadId);
        return values.messages.map(({ content }) =>
          typeof content === 'string' ? content : (content as [{ text: string }])[0].text,
        );
      };
      const { checkpoints } = await thread.state.listCheckpoints({ limit: 2 });
      expect(checkpoints).toMatchObject([{ step: 1 }, { step: 0 }]);
      const { checkpoints: earlier } = await thread.state.listCheckpoints({ before: checkpoints[1].id });
      expect(earlier).toMatchObject([{ step: -1, timestamp: expect.any(String) }]);

      await thread.input.inject({ namespace: [], message: { role: 'user', content: 'and more' } });
      await ended(2);
      expect(await textsOf()).toEqual(['hi', SENTENCE, 'and more', SENTENCE]);

      const forked = await thread.state.fork({ checkpoint_id: checkpoints[0].id, input: human('or this') });
      expect(forked).toEqual({ run_id: expect.any(String), thread_id: thread.threadId });
      await ended(3);
      expect(await textsOf()).toEqual(['hi', SENTENCE, 'or this', SENTENCE]);
      await expect(thread.state.fork({ checkpoint_id: randomUUID() })).rejects.toThrow(/checkpoint/);
      await thread.close();
    });

    it('starts from a checkpoint that the client names, also where the thread waits for an answer', async () => {
      const thread = streamOf(await createThread(), 'desk');
      const { threadId } = thread;
      await client.runs.wait(threadId, 'desk', { input: human('first') });
      await client.runs.wait(threadId, 'desk', { command: { resume: 'yes' } });
      const { checkpoint } = await client.threads.getState(threadId);
      await client.runs.wait(threadId, 'desk', { input: human('second') });
      const forkFrom = checkpoint.checkpoint_id!;
      const { run_id: runId = '' } = await thread.submitRun({ input: human('edited'), forkFrom });
      expect(await client.runs.join(threadId, runId)).toMatchObject({
        __interrupt__: [{ value: { question: 'Approve?', request: 'edited' } }],
      });
      await thread.close();
    });

    it('receives tools and nested graphs', async () => {
      const tools = streamOf(undefined, 'toolbox');
      // The client pauses its subscriptions once it sees the end of the run: one that is opened afterwards may see nothing.
      const { toolCalls } = tools;
      await tools.run.start({ input: { city: 'Bergen' } });
      const outputs = new Map<string, unknown>();
      // The client yields a call when it begins and when it ends.
      for await (const call of toolCalls) outputs.set(`${call.name} ${call.callId}`, await call.output);
      expect([...outputs]).toEqual([['look_up call-Bergen', 'Rain in Bergen']]);
      await tools.close();
    });
  });

  /** The parts of the newest `useStream`, without a page. */
  describe('the controller of useStream', () => {
    interface Chat {
      messages: { type: string; content: string }[];
    }

    async function controllerOf(assistantId: string, threadId: string | null = null) {
      const controller = new StreamController<Chat>({ assistantId, client: gantry.client() as never, threadId });
      const release = controller.activate();
      await controller.hydrate(threadId);
      return { controller, release };
    }

    const textsOf = (controller: StreamController<Chat>): string[] =>
      controller.rootStore.getSnapshot().messages.map(({ text }) => text);

    /** A submission resolves at the end of the run; its last tokens may still be in flight on another connection. */
    async function expectTexts(controller: StreamController<Chat>, texts: string[]): Promise<void> {
      await waitFor('the texts', () => textsOf(controller).join() === texts.join(), 60_000).catch(() => undefined);
      expect(textsOf(controller)).toEqual(texts);
    }

    it('shows a conversation as it grows, and again in another tab', async () => {
      const { controller, release } = await controllerOf('talk');
      const partial = new Set<string>();
      controller.rootStore.subscribe(() => partial.add(textsOf(controller).at(-1) ?? ''));
      await controller.submit(human('first'));
      await expectTexts(controller, ['first', SENTENCE]);
      const shorter = [...partial].filter((text) => text !== '' && text !== SENTENCE && SENTENCE.startsWith(text));
      expect(shorter.length).toBeGreaterThan(0);
      await controller.submit(human('second'));
      await expectTexts(controller, ['first', SENTENCE, 'second', SENTENCE]);
      await waitFor('the end of loading', () => !controller.rootStore.getSnapshot().isLoading);
      const { threadId, error } = controller.rootStore.getSnapshot();
      expect(error).toBeUndefined();

      const other = await controllerOf('talk', threadId);
      await expectTexts(other.controller, ['first', SENTENCE, 'second', SENTENCE]);
      await other.controller.submit(human('third'));
      await expectTexts(other.controller, ['first', SENTENCE, 'second', SENTENCE, 'third', SENTENCE]);
      for (const each of [{ controller, release }, other]) {
        each.release();
        await each.controller.dispose();
      }
    });

    it('shows a question, answers it, and shows the result', async () => {
      const { controller, release } = await controllerOf('desk');
      await controller.submit(human('a refund'));
      expect(controller.rootStore.getSnapshot().interrupt?.value).toMatchObject({ question: 'Approve?' });
      await controller.respond('yes');
      await waitFor('the answer', () => textsOf(controller).includes('Your refund is on its way.'));
      expect(controller.rootStore.getSnapshot().interrupts).toEqual([]);
      release();
      await controller.dispose();
    });

    it('stops a run, sends again at once, and loses nothing', async () => {
      const { controller, release } = await controllerOf('prose');
      const first = controller.submit({ ...human('stop me'), words: 400, letter_ms: 20 });
      await waitFor('a few words', () => textsOf(controller).some((text) => text.includes('w3')));
      await controller.stop();
      await controller.submit({ ...human('again'), words: 3, letter_ms: 0 });
      await first;
      // The client leaves what it had of the first answer on the page.
      await waitFor('the second answer', () => textsOf(controller).includes('w0 w1 w2'));
      const { threadId } = controller.rootStore.getSnapshot();
      await waitFor('the thread to be idle', async () => (await client.threads.get(threadId!)).status === 'idle');
      const other = await controllerOf('prose', threadId);
      await expectTexts(other.controller, ['stop me', 'again', 'w0 w1 w2']);
      other.release();
      await other.controller.dispose();
      const runs = await client.runs.list(threadId!);
      expect(runs.map(({ status }) => status)).toEqual(['success', 'interrupted']);
      release();
      await controller.dispose();
    });
  });
});
