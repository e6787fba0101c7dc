import { randomUUID } from 'node:crypto';
import type { Client, ThreadState } from '@langchain/langgraph-sdk';
import { AGENT_MODES, AgentApp } from '../support/agent-app';
import { createChatApp } from '../support/chat-app';
import { textOf } from '../support/model-apis/exchange';
import { VectorIndex } from '../support/vector-index';

interface Message {
  type: string;
  content: unknown;
  tool_calls?: { id: string; name: string }[];
  status?: string;
}
interface State {
  messages: Message[];
  documents?: object[];
}

const say = (...lines: string[]) => ({ messages: [{ role: 'user', content: lines.join('\n') }] });
const lastOf = (state: unknown): string => textOf((state as State).messages.at(-1)!.content);
const AGENTS = ['agent', 'memory_agent', 'retrieval_agent', 'research_agent'];

/**
 * The output of npm `create-agent-chat-app`: a workspace with four agents of LangGraph 0.2 and LangChain 0.3, unmodified.
 */
describe('a project of create-agent-chat-app', () => {
  let vectors: VectorIndex;
  let app: AgentApp;
  let client: Client;

  beforeAll(async () => {
    vectors = await VectorIndex.start();
    // Variables that its .env.example names.
    const keys = { TAVILY_API_KEY: 'none', ELASTICSEARCH_API_KEY: 'none' };
    app = await AgentApp.serve(({ env }) => createChatApp({ ...env, ...keys, ...vectors.env }));
    ({ client } = app);
    const docs = [
      { pageContent: 'Bees dance', metadata: { uuid: randomUUID(), user_id: 'default' } },
      { pageContent: 'Cats sleep', metadata: { uuid: randomUUID(), user_id: 'default' } },
    ];
    await client.runs.wait(null, 'research_index_graph', { input: { docs } });
  }, 300_000);

  afterAll(async () => {
    await app?.stop();
    await vectors?.stop();
  });

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  describe.each(AGENTS)('%s', (graph) => {
    it('streams its answer in every mode, including those that its library version lacks', async () => {
      const seen = new Map<string, unknown[]>();
      const stream = client.runs.stream(await newThread(), graph, {
        input: say('hello'),
        streamMode: [...AGENT_MODES],
      });
      for await (const { event, data } of stream) seen.set(event, [...(seen.get(event) ?? []), data]);
      expect([...seen.keys()]).not.toContain('error');
      expect([...seen.keys()]).toEqual(
        expect.arrayContaining([
          'values',
          'updates',
          'messages',
          'messages/partial',
          'messages/complete',
          'events',
          'debug',
          'tasks',
          'checkpoints',
        ]),
      );
      const pieces = seen.get('messages')!.map((tuple) => textOf((tuple as [Message])[0].content));
      expect(pieces.join('')).toContain('You said: hello');
      expect(lastOf(seen.get('values')!.at(-1))).toBe('You said: hello');
    });

    it('sends a page that is loaded during a run the rest of the answer', async () => {
      const thread = await newThread();
      const input = say('one two three', 'hold');
      const run = await client.runs.create(thread, graph, { input, streamMode: ['messages-tuple'] });
      const events = await app.readReloaded(thread, run.run_id);
      const read = events.map(({ data }) => textOf((data as Message[])[0].content));
      expect(read.join('')).toContain('You said: one two three\nhold');
    });

    it('goes back to a checkpoint', async () => {
      const thread = await newThread();
      for (const text of ['one', 'two']) await client.runs.wait(thread, graph, { input: say(text) });
      const history: ThreadState<State>[] = await client.threads.getHistory<State>(thread, { limit: 50 });
      const first = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0)!;
      const forked = await client.runs.wait(thread, graph, { input: say('three'), checkpoint: first.checkpoint });
      expect((forked as unknown as State).messages.map(({ content }) => textOf(content))).toEqual([
        'one',
        'You said: one',
        'three',
        'You said: three',
      ]);
    });

    it('runs over the event protocol, with tokens', async () => {
      const stream = client.threads.stream({ assistantId: graph });
      const pieces: string[][] = [];
      const reading = (async () => {
        for await (const message of stream.messages) {
          const read: string[] = [];
          for await (const text of message.text) read.push(text);
          pieces.push(read);
        }
      })();
      await stream.run.start({ input: say('one two three') });
      expect(lastOf(await stream.output)).toBe('You said: one two three');
      await stream.close();
      await reading;
      const answer = pieces.find((each) => each.join('') === 'You said: one two three');
      expect(answer?.length).toBeGreaterThan(2);
    });

    it('has a drawing', async () => {
      const { nodes } = await client.assistants.getGraph(graph, { xray: true });
      expect(nodes.length).toBeGreaterThan(3);
    });
  });

  it('lets a person answer in place of the search tool of the ReAct agent, which pauses before it', async () => {
    const thread = await newThread();
    const input = say('call tavily_search_results_json {"input": "bees"}');
    await client.runs.wait(thread, 'agent', { input, interruptBefore: ['tools'] });
    const asked = await client.threads.getState<State>(thread);
    expect([asked.next, (await client.threads.get(thread)).status]).toEqual([['tools'], 'interrupted']);
    const [{ id }] = asked.values.messages.at(-1)!.tool_calls!;
    const found = { role: 'tool', content: 'Bees dance', tool_call_id: id };
    await client.threads.updateState(thread, { values: { messages: [found] }, asNode: 'tools' });
    expect(lastOf(await client.runs.wait(thread, 'agent', { input: null }))).toBe('The tool says: Bees dance');
    expect((await client.threads.get(thread)).status).toBe('idle');
  });

  it('answers although the search service refuses, and shows the reason in the tool’s message', async () => {
    const input = say('call tavily_search_results_json {"input": "bees"}');
    const { messages } = (await client.runs.wait(await newThread(), 'agent', { input })) as unknown as State;
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(messages[2].content).toMatch(/^Error: /);
  });

  it('keeps memories in the store, by the user’s name in its configuration', async () => {
    const memory = { content: 'Likes bees', context: 'Said so' };
    const config = { configurable: { userId: 'ann' } };
    const input = say(`call upsertMemory ${JSON.stringify(memory)}`);
    const done = await client.runs.wait(await newThread(), 'memory_agent', { input, config });
    expect(lastOf(done)).toMatch(/^The tool says: Stored memory /);
    const { items } = await client.store.searchItems(['memories', 'ann']);
    expect(items.map(({ value }) => value)).toEqual([memory]);
    await client.runs.wait(await newThread(), 'memory_agent', { input: say('again'), config });
    expect(app.model.prompts.at(-1)!.turns[0].text).toContain('Likes bees');
  });

  it('finds documents in the vector store', async () => {
    await client.runs.wait(await newThread(), 'retrieval_agent', { input: say('bees') });
    expect(app.model.prompts.at(-1)!.turns[0].text).toContain('Bees dance');
  });

  it('researches in a subgraph with tasks', async () => {
    const queries = `fill ${JSON.stringify({ queries: ['bees', 'cats'] })}`;
    const input = say(`fill ${JSON.stringify({ type: 'langchain', steps: [queries] })}`);
    const seen: string[] = [];
    let values: State | undefined;
    const stream = client.runs.stream(await newThread(), 'research_agent', {
      ...{ input, streamMode: ['values', 'updates'], streamSubgraphs: true },
    });
    for await (const { event, data } of stream) {
      expect(event).not.toBe('error');
      if (event === 'values') values = data as unknown as State;
      if (event.startsWith('updates|')) seen.push(...Object.keys(data as object));
    }
    expect(seen).toEqual(['generateQueries', 'retrieveDocuments', 'retrieveDocuments']);
    expect(JSON.stringify(values!.documents)).toMatch(/Bees dance.*Cats sleep/);
  });

  it('names the missing variable where a service was not configured', async () => {
    const config = { configurable: { retrieverProvider: 'mongodb' } };
    const run = client.runs.wait(await newThread(), 'retrieval_agent', { input: say('bees'), config });
    await expect(run).rejects.toThrow('MONGODB_URI environment variable is not defined');
  });
});
