import type { Client } from '@langchain/langgraph-sdk';
import { AgentApp } from '../support/agent-app';
import { describeDeepAgent } from '../support/deep-agent-cases';
import { textOf } from '../support/model-apis/exchange';

interface State {
  messages: { type: string; content: unknown }[];
  files?: Record<string, unknown>;
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const lastOf = (state: unknown): string => textOf((state as State).messages.at(-1)!.content);

/** An agent of `deepagents`, in a project with the newest LangGraph. */
describe('an agent of createDeepAgent', () => {
  let app: AgentApp;
  let client: Client;

  beforeAll(async () => {
    app = await AgentApp.start('deep-agents', { LANGGRAPH_DEFAULT_RECURSION_LIMIT: '10' });
    ({ client } = app);
  }, 300_000);

  afterAll(() => app?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  describe.each([
    ['chat completions of OpenAI', 'researcher', '/v1/chat/completions'],
    ['responses of OpenAI', 'responses_researcher', '/v1/responses'],
    ['messages of Anthropic', 'claude_researcher', '/v1/messages'],
  ])('with a model of %s', (_, graph, path) => {
    afterAll(() =>
      expect(new Set(app.model.prompts.slice(asked).map((prompt) => prompt.path))).toEqual(new Set([path])),
    );

    let asked = 0;
    beforeAll(() => {
      asked = app.model.prompts.length;
    });

    // The libraries of the other two APIs send each piece as a block-delta.
    describeDeepAgent(() => app, graph, { messagesNode: 'model_request', toolDeltas: path === '/v1/chat/completions' });
  });

  it('keeps files in its state', async () => {
    const thread = await newThread();
    const file = { file_path: '/notes.md', content: 'Bees' };
    await client.runs.wait(thread, 'researcher', { input: say(`call write_file ${JSON.stringify(file)}`) });
    const { values } = await client.threads.getState<State>(thread);
    expect(Object.keys(values.files ?? {})).toEqual(['/notes.md']);
  });

  it('takes as many steps as its own configuration or the client allows', async () => {
    const input = say('call look_up {"topic": "bees"}\ntimes 15');
    expect(lastOf(await client.runs.wait(await newThread(), 'researcher', { input }))).toContain('42');
    const config = { recursion_limit: 5 };
    const ended = await client.runs.wait(await newThread(), 'researcher', { input, config, raiseError: false });
    expect(ended).toMatchObject({ __error__: { error: 'GraphRecursionError' } });
  });

  it('has schemas and a drawing', async () => {
    const { input_schema, state_schema } = await client.assistants.getSchemas('researcher');
    expect(input_schema).toMatchObject({ properties: { messages: {} } });
    expect(state_schema).toMatchObject({ properties: { messages: {} } });
    const { nodes } = await client.assistants.getGraph('researcher', { xray: true });
    expect(nodes.length).toBeGreaterThan(3);
  });
});
