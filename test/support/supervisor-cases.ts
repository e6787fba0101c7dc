import type { Client } from '@langchain/langgraph-sdk';

interface State {
  messages: { type: string; name?: string; content: string }[];
  __interrupt__?: { value: unknown }[];
}

const say = (...lines: string[]) => ({ messages: [{ role: 'user', content: lines.join('\n') }] });

/** Cases of a supervisor with the agents of test/apps/teams/supervisor.ts, in either language. */
export function describeSupervisor(clientOf: () => Client): void {
  let client: Client;

  beforeAll(() => {
    client = clientOf();
  });

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const wait = async (thread: string, graph: string, payload: object): Promise<State> =>
    (await client.runs.wait(thread, graph, payload)) as unknown as State;

  it('streams what it and the agent that it hands over to say, and the state of both', async () => {
    const thread = await newThread();
    const input = say('call transfer_to_math_expert {}', 'call add {"a": 2, "b": 3}', 'times 2');
    const namespaces = new Set<string>();
    let values: State | undefined;
    const words: string[] = [];
    const modes = ['values', 'updates', 'messages-tuple'] as const;
    const stream = client.runs.stream(thread, 'supervisor', { input, streamMode: [...modes], streamSubgraphs: true });
    for await (const { event, data } of stream) {
      const [mode, namespace] = event.split('|');
      expect(mode).not.toBe('error');
      if (namespace) namespaces.add(namespace.split(':')[0]);
      if (event === 'values') values = data as unknown as State;
      if (mode === 'messages') words.push((data as unknown as [{ content: string }])[0].content);
    }
    expect([...namespaces]).toEqual(expect.arrayContaining(['supervisor', 'math_expert']));
    expect(words.join('')).toContain('The tool says: 5');
    expect(values?.messages.map(({ content }) => content)).toEqual(expect.arrayContaining(['The tool says: 5']));
    expect(values?.messages.some(({ name }) => name === 'math_expert')).toBe(true);
  });

  it('asks out of an agent, is read in the middle, and continues with the answer', async () => {
    const thread = await newThread();
    const input = say('call transfer_to_research_expert {}', 'call publish {"text": "news"}', 'times 2');
    const asked = await wait(thread, 'supervisor', { input });
    expect(asked.__interrupt__?.[0]?.value).toEqual({ publish: 'news' });
    const state = await client.threads.getState<State>(thread, undefined, { subgraphs: true });
    expect([state.next, state.tasks[0]?.name]).toEqual([['research_expert'], 'research_expert']);
    expect(state.tasks[0]?.state).toMatchObject({ next: ['tools'] });
    const done = await wait(thread, 'supervisor', { command: { resume: 'yes' } });
    expect(done.messages.map(({ content }) => content)).toContain('The tool says: Published news');
    expect((await client.threads.get(thread)).status).toBe('idle');
  });
}
