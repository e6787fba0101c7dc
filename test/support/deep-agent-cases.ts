import type { Client } from '@langchain/langgraph-sdk';
import type { AgentApp } from './agent-app';
import { textOf } from './model-apis/exchange';

interface State {
  messages: { type: string; content: unknown }[];
}

interface WireEvent {
  method: string;
  namespace: string[];
  data: { event: string; delta?: { type: string; args?: string } };
}

interface Traits {
  /** Node in whose namespace the model's messages are; the empty text for the namespace of the graph. */
  messagesNode: string;
  /** Whether a tool's arguments come as `tool-call-delta`. */
  toolDeltas: boolean;
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const lastOf = (state: unknown): string => textOf((state as State).messages.at(-1)!.content);

/** Cases of a deep agent with the tools and the subagent of test/apps/deep-agents/researcher.ts, in either language. */
export function describeDeepAgent(appOf: () => AgentApp, graph: string, { messagesNode, toolDeltas }: Traits): void {
  let app: AgentApp;
  let client: Client;

  beforeAll(() => {
    app = appOf();
    ({ client } = app);
  });

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  it('streams the work of a subagent', async () => {
    const thread = await newThread();
    const call = { description: 'call look_up {"topic": "bees"}', subagent_type: 'reader' };
    const seen: string[] = [];
    const stream = client.runs.stream(thread, graph, {
      input: say(`call task ${JSON.stringify(call)}`),
      streamMode: ['values', 'updates'],
      streamSubgraphs: true,
    });
    let values: unknown;
    for await (const { event, data } of stream) {
      seen.push(event);
      if (event === 'values') values = data;
      expect(event).not.toBe('error');
    }
    expect(seen.some((event) => event.startsWith('updates|tools:'))).toBe(true);
    expect(lastOf(values)).toContain('bees: 42');
  });

  it('asks before a tool, and takes a refusal', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, graph, { input: say('call publish {"title": "Bees"}') });
    expect((await client.threads.get(thread)).status).toBe('interrupted');
    const command = { resume: { decisions: [{ type: 'reject', message: 'Not yet' }] } };
    const done = await client.runs.wait(thread, graph, { command });
    expect(lastOf(done)).toContain('Not yet');
    expect((await client.threads.get(thread)).status).toBe('idle');
  });

  it('goes back to a checkpoint', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, graph, { input: say('one') });
    await client.runs.wait(thread, graph, { input: say('two') });
    const history = await client.threads.getHistory<State>(thread, { limit: 50 });
    const first = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0)!;
    const forked = await client.runs.wait(thread, graph, { input: say('three'), checkpoint: first.checkpoint });
    expect((forked as unknown as State).messages).toHaveLength(4);
    expect(lastOf(forked)).toBe('You said: three');
  });

  it('is run by the event protocol', async () => {
    const thread = client.threads.stream({ assistantId: graph });
    await thread.run.start({ input: say('call look_up {"topic": "bees"}') });
    expect(JSON.stringify(lastOf(await thread.output))).toContain('bees: 42');
    await thread.close();
  });

  it('streams the arguments of a tool as they arrive, in the documented namespace', async () => {
    const thread = client.threads.stream({ assistantId: graph });
    const events: WireEvent[] = [];
    const subscription = await thread.subscribe({ channels: ['messages', 'tools'] });
    const reading = (async () => {
      for await (const { method, params } of subscription) events.push({ method, ...params } as WireEvent);
    })();
    const calls: unknown[] = [];
    const assembling = (async () => {
      for await (const message of thread.messages) calls.push(...(await message.toolCalls));
    })();
    await thread.run.start({ input: say('call look_up {"topic": "bees and flowers"}') });
    await thread.output;
    await thread.close();
    await Promise.all([reading, assembling]);
    const deltas = events.flatMap(({ data }) => (data.delta?.type === 'tool-call-delta' ? [data.delta.args] : []));
    if (toolDeltas) {
      expect(deltas.length).toBeGreaterThan(1);
      expect(JSON.parse(deltas.join(''))).toEqual({ topic: 'bees and flowers' });
    }
    expect(calls).toMatchObject([{ name: 'look_up', args: { topic: 'bees and flowers' } }]);
    const placesOf = (channel: string): string[] =>
      events.filter(({ method }) => method === channel).map(({ namespace }) => namespace.join().split(':')[0]);
    expect(new Set(placesOf('messages'))).toEqual(new Set([messagesNode]));
    if (messagesNode) expect(new Set(placesOf('tools'))).toEqual(new Set(['tools']));
  });

  it('streams tokens, and a page that is loaded in the middle gets the rest', async () => {
    const thread = await newThread();
    const input = say('one two three four\nhold');
    const run = await client.runs.create(thread, graph, { input, streamMode: ['messages-tuple'] });
    const events = await app.readReloaded(thread, run.run_id);
    const read = events.map(({ data }) => textOf((data as State['messages'])[0]?.content));
    expect(read.join('')).toBe('You said: one two three four\nhold');
  });
}
