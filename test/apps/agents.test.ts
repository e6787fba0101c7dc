import type { Client, ThreadState } from '@langchain/langgraph-sdk';
import { AGENT_MODES, AgentApp } from '../support/agent-app';

interface WireMessage {
  id?: string;
  type: string;
  content: unknown;
  tool_calls?: { name: string; args: object }[];
}
interface State {
  messages: WireMessage[];
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const lastOf = (state: unknown): WireMessage => (state as State).messages.at(-1)!;

/** An agent as `createAgent` of LangChain 1.x makes it, in a project with packages of its own. */
describe('an agent of createAgent', () => {
  let app: AgentApp;
  let client: Client;

  beforeAll(async () => {
    app = await AgentApp.start('agents');
    ({ client } = app);
  }, 300_000);

  afterAll(() => app?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  it('answers, and remembers the conversation', async () => {
    const thread = await newThread();
    expect(lastOf(await client.runs.wait(thread, 'agent', { input: say('hello') })).content).toBe('You said: hello');
    const second = await client.runs.wait(thread, 'agent', { input: say('again') });
    expect((second as unknown as State).messages).toHaveLength(4);
    expect((await client.threads.get(thread)).status).toBe('idle');
    // Some models refuse long answers that aren't streamed.
    expect(app.model.prompts.map(({ isStreamed }) => isStreamed)).toEqual([true, true]);
  });

  it('streams a tool call, its result and the answer in every mode', async () => {
    const thread = await newThread();
    const seen = new Map<string, unknown[]>();
    const stream = client.runs.stream(thread, 'agent', {
      input: say('call get_weather {"city": "Bern"}'),
      streamMode: [...AGENT_MODES],
    });
    for await (const { event, data } of stream) seen.set(event, [...(seen.get(event) ?? []), data]);
    expect([...seen.keys()].filter((name) => name === 'error')).toEqual([]);
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(['values', 'updates', 'messages', 'messages/partial', 'messages/complete', 'events']),
    );
    expect(seen.get('updates')!.map((update) => Object.keys(update as object)[0])).toEqual(
      expect.arrayContaining(['model_request', 'tools']),
    );
    const values = seen.get('values')!.at(-1) as State;
    expect(values.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(lastOf(values).content).toBe('The tool says: Sunny in Bern');
    const pieces = seen.get('messages')!.map((tuple) => (tuple as [WireMessage])[0].content);
    expect(pieces.join('')).toContain('The tool says: Sunny in Bern');
    expect(pieces.length).toBeGreaterThan(5);
  });

  it('returns its structured answer, which no checkpoint contains', async () => {
    const thread = await newThread();
    const input = say('call extract-1 {"city": "Bern"}');
    const answer = { structuredResponse: { city: 'Bern' } };
    const run = await client.runs.create(thread, 'structured', { input });
    expect(await client.runs.join(thread, run.run_id)).toMatchObject(answer);
    expect(await client.runs.wait(thread, 'structured', { input })).toMatchObject(answer);
    expect((await client.threads.get(thread)).values).toMatchObject(answer);
    expect((await client.threads.getState<object>(thread)).values).not.toHaveProperty('structuredResponse');
  });

  it('takes more steps than the library’s default of 25', async () => {
    const input = say('call get_weather {"city": "Bern"}\ntimes 15');
    expect(lastOf(await client.runs.wait(null, 'agent', { input })).content).toBe('The tool says: Sunny in Bern');
  });

  it('asks before a tool call, and continues with the user’s decision', async () => {
    const thread = await newThread();
    const input = say('call send_mail {"to": "ann", "text": "hi"}');
    const asked = (await client.runs.wait(thread, 'agent', { input })) as unknown as State & {
      __interrupt__: { value: object }[];
    };
    expect(asked.__interrupt__[0].value).toMatchObject({
      actionRequests: [{ name: 'send_mail', args: { to: 'ann', text: 'hi' } }],
    });
    expect((await client.threads.get(thread)).status).toBe('interrupted');
    const edited = { name: 'send_mail', args: { to: 'bob', text: 'hi' } };
    const done = await client.runs.wait(thread, 'agent', {
      command: { resume: { decisions: [{ type: 'edit', editedAction: edited }] } },
    });
    expect(lastOf(done).content).toBe('The tool says: Sent to bob');
    expect((await client.threads.get(thread)).status).toBe('idle');
  });

  it('goes back to a checkpoint, and forks there', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'agent', { input: say('one') });
    await client.runs.wait(thread, 'agent', { input: say('two') });
    const history: ThreadState<State>[] = await client.threads.getHistory<State>(thread, { limit: 50 });
    const first = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0)!;
    const forked = await client.runs.wait(thread, 'agent', { input: say('three'), checkpoint: first.checkpoint });
    expect((forked as unknown as State).messages.map(({ content }) => content)).toEqual([
      'one',
      'You said: one',
      'three',
      'You said: three',
    ]);
  });

  it('allows its state to be edited and copied to a new thread', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'agent', { input: say('one') });
    await client.threads.updateState(thread, { values: say('two'), asNode: '__start__' });
    expect(lastOf(await client.runs.wait(thread, 'agent', { input: null })).content).toBe('You said: two');
    const { values } = await client.threads.getState<State>(thread);
    const copy = await client.threads.create({
      graphId: 'agent',
      supersteps: [{ updates: [{ values: { messages: values.messages }, asNode: '__start__' }] }],
    });
    expect((await client.threads.getState<State>(copy.thread_id)).values.messages).toHaveLength(4);
  });

  it('runs nodes that a client’s command addresses, with the project’s own copy of the library', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'routed', { input: { path: [] } });
    const goto = [
      { node: 'add', input: { item: 8 } },
      { node: 'add', input: { item: 9 } },
    ];
    const sent = (await client.runs.wait(thread, 'routed', { command: { goto } })) as unknown as { path: string[] };
    expect([...sent.path].sort()).toEqual(['add 1', 'add 8', 'add 9']);
    const send = { goto: { node: 'add', input: { item: 3 } } };
    const { thread_id: replayed } = await client.threads.create({
      supersteps: [
        { updates: [{ values: { path: [] }, asNode: '__input__' }] },
        { updates: [{ values: null, command: send, asNode: 'aside' }] },
      ],
      graphId: 'routed',
    });
    const { next } = await client.threads.getState(replayed);
    expect(next).toEqual(['add']);
  });

  it('has schemas, a drawing and subgraphs', async () => {
    const schemas = await client.assistants.getSchemas('agent');
    expect(schemas.input_schema).toMatchObject({ properties: { messages: { langgraph_type: 'messages' } } });
    const { nodes } = await client.assistants.getGraph('agent');
    expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['model_request', 'tools']));
    expect(await client.assistants.getSubgraphs('agent')).toBeDefined();
  });

  it('runs over the event protocol, with the channels of its own stream transformers', async () => {
    const thread = client.threads.stream({ assistantId: 'agent' });
    const calls: unknown[] = [];
    await thread.run.start({ input: say('call get_weather {"city": "Bern"}') });
    const reading = (async () => {
      for await (const name of thread.extensions.calls as AsyncIterable<unknown>) calls.push(name);
    })();
    const output = (await thread.output) as State;
    expect(JSON.stringify(lastOf(output).content)).toContain('The tool says: Sunny in Bern');
    await thread.close();
    await reading;
    expect(calls).toEqual(['get_weather']);
  });

  it('may be created by a function for each use', async () => {
    const thread = await newThread();
    const done = await client.runs.wait(thread, 'later', { input: say('call get_weather {"city": "Rome"}') });
    expect(lastOf(done).content).toBe('The tool says: Sunny in Rome');
  });

  it.each([
    [
      'not_a_graph',
      /agent\.ts: \W+notAGraph\W+ is an object that is not a graph; it has to be a compiled graph, .*createAgent/,
    ],
    ['nothing', /agent\.ts has no export \W+nothing\W+; it has to be/],
    ['never', /never\.ts failed to load: The tool server is away/],
  ])('refuses an export that is not a graph, and explains the problem: %s', async (graph, message) => {
    await expect(client.runs.create(null, graph, { input: {} })).rejects.toThrow(message);
    expect(app.gantry.worker.output).toMatch(message);
  });

  it('reports on each run what is wrong with the return value of a function', async () => {
    const run = (await client.runs.wait(await newThread(), 'unfinished', { input: {}, raiseError: false })) as object;
    expect(JSON.stringify(run)).toMatch(/unfinished.* returned an object that is not a graph; it has to be/);
  });
});
