import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { AgentApp } from '../support/agent-app';
import { describeDeepAgent } from '../support/deep-agent-cases';
import { pythonForGraphs, runPython } from '../support/python';
import { describeSupervisor } from '../support/supervisor-cases';

interface State {
  messages: { type: string; content: string }[];
  __interrupt__?: { value: unknown }[];
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const ALICE = { authorization: 'Bearer alice' };

/** Both public clients, which read the answer of an agent in two ways. */
const PYTHON_CLIENTS = `
import asyncio, json, sys
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client

url, given = sys.argv[1], {"messages": [{"role": "user", "content": "hello"}]}
headers = {"authorization": "Bearer alice"}

async def sdk():
    return await get_client(url=url, headers=headers).runs.wait(None, "agent", input=given)

remote = RemoteGraph("agent", url=url, headers=headers)
states = [asyncio.run(sdk()), remote.invoke(given)]
print(json.dumps([state["messages"][-1]["content"] for state in states]))
`;

/** Applications as the pages of their packages show them, with a custom auth and routes of their own, all in Python. */
describe('applications in Python', () => {
  let app: AgentApp;
  let client: Client;

  beforeAll(async () => {
    const served = await AgentApp.serve(
      () => Promise.resolve(join(__dirname, 'applications', 'langgraph.json')),
      { GANTRY_PYTHON: pythonForGraphs(), GANTRY_AUTH: 'on', GANTRY_API_KEY: `gtry_${'k'.repeat(43)}` },
      ALICE,
    );
    app = served;
    ({ client } = app);
  }, 300_000);

  afterAll(() => app?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const wait = async (thread: string | null, graph: string, payload: object): Promise<State> =>
    (await client.runs.wait(thread!, graph, payload)) as unknown as State;
  const lastOf = ({ messages }: State): string => messages.at(-1)!.content;

  describe('an agent of create_agent', () => {
    it('asks before a tool call, and continues with the user’s decision', async () => {
      const thread = await newThread();
      const asked = await wait(thread, 'agent', { input: say('call send_mail {"to": "ann", "text": "hi"}') });
      expect(asked.__interrupt__?.[0]?.value).toMatchObject({
        action_requests: [{ name: 'send_mail', args: { to: 'ann', text: 'hi' } }],
      });
      const edited = { name: 'send_mail', args: { to: 'bob', text: 'hi' } };
      const done = await wait(thread, 'agent', {
        command: { resume: { decisions: [{ type: 'edit', edited_action: edited }] } },
      });
      expect(lastOf(done)).toContain('Sent to bob');
      expect((await client.threads.get(thread)).status).toBe('idle');
    });

    it('streams tokens, and sends a page that is loaded during a run the rest', async () => {
      const thread = await newThread();
      const input = say('one two three four\nhold');
      const run = await client.runs.create(thread, 'agent', { input, streamMode: ['messages-tuple'] });
      const events = await app.readReloaded(thread, run.run_id);
      const read = events.map(({ data }) => (data as State['messages'])[0]?.content);
      expect(read.join('')).toBe('You said: one two three four\nhold');
    });

    it('is reached by both SDKs and both kinds of RemoteGraph', async () => {
      const remote = new RemoteGraph({ graphId: 'agent', url: app.gantry.url, headers: ALICE });
      expect(lastOf((await remote.invoke(say('hello'))) as State)).toBe('You said: hello');
      const answers = ['You said: hello', 'You said: hello'];
      expect(JSON.parse(await runPython(['-c', PYTHON_CLIENTS, app.gantry.url]))).toEqual(answers);
    });
  });

  describe('an agent of create_deep_agent', () =>
    describeDeepAgent(() => app, 'researcher', { messagesNode: '', toolDeltas: true }));

  describe('a supervisor', () => {
    describeSupervisor(() => client);

    it('streams the messages of its own nodes, and what its agents emit only with nested graphs', async () => {
      const input = say('call transfer_to_math_expert {}\ncall add {"a": 2, "b": 3}\ntimes 2');
      const streamed = async (streamSubgraphs: boolean) => {
        const [names, nodes, texts] = [new Set<string>(), new Set<string>(), [] as string[]];
        const options = { input, streamMode: ['messages-tuple', 'custom'] as ['messages-tuple', 'custom'] };
        for await (const { event, data } of client.runs.stream(null, 'supervisor', { ...options, streamSubgraphs })) {
          const mode = event.split('|')[0];
          names.add(mode);
          if (mode !== 'messages') continue;
          const [message, metadata] = data as unknown as [{ content: string }, { langgraph_node: string }];
          nodes.add(metadata.langgraph_node);
          texts.push(message.content);
        }
        return { names: [...names].sort(), nodes: [...nodes].sort(), texts };
      };
      const own = await streamed(false);
      expect(own).toMatchObject({ names: ['messages', 'metadata'], nodes: ['math_expert', 'supervisor'] });
      expect(own.texts).toContain('The tool says: 5');
      const all = await streamed(true);
      expect(all.names).toEqual(['custom', 'messages', 'metadata']);
      expect(all.nodes).toContain('agent');
      expect(all.texts.length).toBeGreaterThan(own.texts.length);
    });
  });

  it('may have the layout of the template react-agent, and accept its context', async () => {
    const context = { system_prompt: 'Be brief.', model: 'openai/gpt-4o' };
    const input = say('call search {"query": "bees"}');
    expect(lastOf(await wait(null, 'react_agent', { input, context }))).toBe('The tool says: Found bees');
    // Values for other graphs, which the class of the context doesn't have.
    const configurable = { ...context, unknown_to_the_graph: 1 };
    expect(lastOf(await wait(null, 'react_agent', { input, config: { configurable } }))).toBe(
      'The tool says: Found bees',
    );
    const prompt = app.model.prompts.at(-1)!;
    expect(prompt.turns[0]).toEqual({ role: 'system', text: 'Be brief.' });
    expect(lastOf(await wait(null, 'react_agent', { input }))).toBe('The tool says: Found bees');
    const { context_schema: schema } = await client.assistants.getSchemas('react_agent');
    expect(schema).toMatchObject({ properties: { system_prompt: {}, model: {} } });
  });

  describe('in the layout of the template retrieval-agent', () => {
    interface Retrieval extends State {
      queries: string[];
      retrieved_docs: { page_content: string; metadata: object }[];
    }
    const of = (user: string) => ({ configurable: { user_id: user, search_kwargs: { k: 1 } } });
    const ask = async (thread: string | null, user: string, question: string): Promise<Retrieval> =>
      (await wait(thread, 'retrieval_graph', { input: say(question), config: of(user) })) as Retrieval;
    const spiders = { page_content: 'Spiders make webs', metadata: { source: 'b' } };

    beforeAll(async () => {
      for (const [user, docs] of Object.entries({ ann: ['Bees make honey', spiders], bob: ['Cows give milk'] })) {
        const indexed = await client.runs.wait(null, 'indexer', { input: { docs }, config: of(user) });
        expect(indexed).toEqual({ docs: [] });
      }
    });

    it('finds what another graph has indexed for the user, and answers from it', async () => {
      const thread = await newThread();
      const first = await ask(thread, 'ann', 'Who make honey?');
      expect(lastOf(first)).toBe('You said: Who make honey?');
      expect(first.queries).toEqual(['Who make honey?']);
      expect(first.retrieved_docs).toMatchObject([{ page_content: 'Bees make honey', metadata: { user_id: 'ann' } }]);
      const { turns } = app.model.prompts.at(-1)!;
      expect(turns[0].role).toBe('system');
      expect(turns[0].text).toContain('<document>Bees make honey</document>');

      // The model makes the query from the conversation.
      const second = await ask(thread, 'ann', 'And which ones?\nfill {"query": "webs of spiders"}');
      expect(second.queries).toEqual(['Who make honey?', 'webs of spiders']);
      expect(second.retrieved_docs).toMatchObject([
        { page_content: 'Spiders make webs', metadata: { user_id: 'ann', source: 'b' } },
      ]);
      const { values } = await client.threads.getState<Retrieval>(thread);
      expect(values).toEqual(second);
      expect((await ask(null, 'bob', 'Who make honey?')).retrieved_docs).toMatchObject([
        { page_content: 'Cows give milk' },
      ]);
    });

    it('has a configuration that clients can read', async () => {
      const { context_schema: schema } = await client.assistants.getSchemas('retrieval_graph');
      expect(schema).toMatchObject({
        properties: { user_id: { type: 'string' }, response_model: { default: 'openai/gpt-4.1-mini' } },
        required: ['user_id'],
      });
    });
  });

  it('import modules from the folders of their dependencies, as `langgraph dev` does', async () => {
    const said = async (graph: string): Promise<unknown> => client.runs.wait(null, graph, { input: { name: 'Ann' } });
    const greeted = { name: 'Ann', said: 'greeters.main: Hello Ann' };
    expect(await said('greeter')).toEqual(greeted);
    expect(await said('greeter_by_path')).toEqual(greeted);
    expect(await said('guest')).toEqual({ name: 'Ann', said: 'guest: Hello Ann: ' });
  });

  it('have routes that stream the output of their agents, for the user of the request', async () => {
    const ask = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${app.gantry.url}/chat/agent`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ text: 'hello' }),
      });
    expect((await ask({})).status).toBe(401);
    expect(await (await ask(ALICE)).text()).toBe('alice: You said: hello');
    const thread = await newThread();
    const asBob = app.gantry.client({ headers: { authorization: 'Bearer bob' } });
    await expect(asBob.threads.get(thread)).rejects.toMatchObject({ status: 404 });
  });
});
