import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Annotation, Command, MemorySaver, messagesStateReducer, START, StateGraph } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import type { StateSnapshot } from '@langchain/langgraph';
import { AgentApp } from '../support/agent-app';
import { installApp } from '../support/app';
import { runPython } from '../support/python';

interface Values {
  messages: { type: string; content: string }[];
}

const MAIL = 'call send_mail {"to": "ann", "text": "hi"}';
const WEATHER = 'call get_weather {"city": "Bern"}';
const QUESTION = { actionRequests: [{ name: 'send_mail', args: { to: 'ann', text: 'hi' } }] };
const MODES = ['values', 'updates', 'messages', 'debug', 'tasks', 'checkpoints', 'custom'] as const;

const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const approve = new Command({ resume: { decisions: [{ type: 'approve' }] } });
const onThread = () => ({ configurable: { thread_id: randomUUID() } });
const textsOf = (values: unknown): string[] => (values as Values).messages.map(({ content }) => content);
const lastOf = (values: unknown): string | undefined => textsOf(values).at(-1);

/** Clients that were written for the reference server, given another URL and nothing else. */
describe('clients of other packages', () => {
  let app: AgentApp;

  beforeAll(async () => {
    app = await AgentApp.start('agents');
  }, 300_000);

  afterAll(() => app?.stop());

  describe('RemoteGraph of @langchain/langgraph', () => {
    let remote: RemoteGraph;
    beforeAll(() => {
      remote = new RemoteGraph({ graphId: 'agent', url: app.gantry.url });
    });

    const historyOf = async (config: object): Promise<StateSnapshot[]> => {
      const found: StateSnapshot[] = [];
      for await (const state of remote.getStateHistory(config, { limit: 50 })) found.push(state);
      return found;
    };

    it('answers, without a thread and on a named one', async () => {
      expect(lastOf(await remote.invoke(say('one')))).toBe('You said: one');
      const config = onThread();
      await remote.invoke(say('one'), config);
      expect(textsOf(await remote.invoke(say('two'), config))).toHaveLength(4);
    });

    it('streams in every mode, with and without nested graphs', async () => {
      const seen = new Map<string, unknown[]>();
      for await (const chunk of await remote.stream(say(WEATHER), { streamMode: [...MODES] })) {
        const [mode, data] = chunk as [string, unknown];
        seen.set(mode, [...(seen.get(mode) ?? []), data]);
      }
      expect([...seen.keys()].sort()).toEqual([...MODES].filter((mode) => mode !== 'custom').sort());
      const tokens = seen.get('messages')!.map((tuple) => (tuple as Values['messages'])[0].content);
      expect(tokens.join('')).toContain('The tool says: Sunny in Bern');
      expect(lastOf(seen.get('values')!.at(-1))).toBe('The tool says: Sunny in Bern');
      for await (const chunk of await remote.stream(say('one'), { streamMode: 'updates', subgraphs: true }))
        expect(chunk).toEqual([expect.any(Array), expect.any(Object)]);
    });

    it('asks, shows the question in the state, and continues with the answer', async () => {
      const config = onThread();
      await expect(remote.invoke(say(MAIL), config)).rejects.toMatchObject({
        name: 'GraphInterrupt',
        interrupts: [{ value: QUESTION }],
      });
      const state = await remote.getState(config);
      expect(state.next).toHaveLength(1);
      expect(state.tasks[0].interrupts).toMatchObject([{ value: QUESTION }]);
      expect(lastOf(await remote.invoke(approve, config))).toBe('The tool says: Sent to ann');
    });

    it('goes back to a checkpoint by its configuration', async () => {
      const config = onThread();
      await remote.invoke(say('one'), config);
      await remote.invoke(say('two'), config);
      const first = (await historyOf(config)).find(({ values, next }) => textsOf(values).length === 2 && !next.length)!;
      expect(lastOf((await remote.getState(first.config)).values)).toBe('You said: one');
      await remote.updateState(first.config, say('three'), '__start__');
      const done = await remote.invoke(null, config);
      expect(textsOf(done)).toEqual(['one', 'You said: one', 'three', 'You said: three']);
      const older = await historyOf(first.config);
      expect(older[0].config.configurable?.checkpoint_id).toBe(first.config.configurable?.checkpoint_id);
    });

    it('is a node of another graph, which streams its tokens and stops at its questions', async () => {
      const State = Annotation.Root({
        messages: Annotation<Values['messages']>({ reducer: messagesStateReducer as never }),
      });
      const parent = new StateGraph(State)
        .addNode('remote', remote as never)
        .addEdge(START, 'remote')
        .compile({ checkpointer: new MemorySaver() });
      const config = onThread();
      const namespaces = new Set<string>();
      let tokens = '';
      for await (const [namespace, mode, data] of await parent.stream(say(WEATHER) as never, {
        ...{ ...config, streamMode: ['updates', 'messages'], subgraphs: true },
      })) {
        for (const part of namespace as string[]) namespaces.add(part.split(':')[0]);
        if (mode === 'messages') tokens += (data as unknown as Values['messages'])[0].content;
      }
      expect(namespaces).toContain('remote');
      expect(tokens).toContain('The tool says: Sunny in Bern');
      expect(lastOf((await parent.getState(config)).values)).toBe('The tool says: Sunny in Bern');
      const asking = onThread();
      await parent.invoke(say(MAIL) as never, asking);
      const { next, tasks } = await parent.getState(asking);
      expect([next, tasks[0].interrupts]).toMatchObject([['remote'], [{ value: QUESTION }]]);
      // The graph there has the thread of the graph here, and takes the answer itself.
      expect(lastOf(await remote.invoke(approve, asking))).toBe('The tool says: Sent to ann');
    });

    it('is drawn', async () => {
      const drawing = await remote.getGraphAsync();
      expect(Object.keys(drawing.nodes)).toEqual(expect.arrayContaining(['__start__', 'model_request', 'tools']));
      expect(drawing.drawMermaid()).toContain('model_request');
    });

    it('streams by the newer event protocol', async () => {
      const run = await remote.streamEvents(say(WEATHER), { version: 'v3', ...onThread() });
      expect(JSON.stringify(await run.output)).toContain('The tool says: Sunny in Bern');
    });

    it('reports the errors of runs and of requests', async () => {
      await expect(remote.invoke(say(WEATHER), { recursionLimit: 1 })).rejects.toThrow(/GraphRecursionError/);
      const unknown = new RemoteGraph({ graphId: 'no_such_graph', url: app.gantry.url });
      await expect(unknown.invoke(say('one'))).rejects.toThrow(/no_such_graph/);
    });
  });

  it('RemoteGraph of Python’s langgraph runs, asks, goes back, and is a node of another graph', async () => {
    const script = join(__dirname, '..', 'python', 'remote_graph.py');
    const did = JSON.parse(await runPython([script, app.gantry.url])) as Record<string, unknown>;
    expect(did).toMatchObject({
      invoked: ['one', 'You said: one'],
      modes: Object.fromEntries(MODES.filter((mode) => mode !== 'custom').map((mode) => [mode, expect.any(Number)])),
      tokens: expect.stringContaining('The tool says: Sunny in Bern') as string,
      next: [expect.stringContaining('HumanInTheLoop')],
      interrupts: [QUESTION],
      first: ['one', 'You said: one'],
      after_fork: ['one', 'You said: one', 'two', 'You said: two'],
      nested: ['nested', 'You said: nested'],
      spaces: expect.arrayContaining(['remote']) as string[],
      nested_asked: [QUESTION],
      nodes: expect.arrayContaining(['model_request', 'tools']) as string[],
      unknown: {
        type: 'NotFoundError',
        message: expect.stringContaining('No assistant found for "no_such_graph"') as string,
      },
      failed: { message: expect.stringContaining('GraphRecursionError') as string },
    });
    expect((did.resumed as string[]).at(-1)).toBe('The tool says: Sent to ann');
    expect(did.mermaid).toContain('model_request');
  });

  it('@ag-ui/langgraph runs, calls tools, asks, loads the conversation, and regenerates', async () => {
    const folder = join(await installApp('ag-ui'), '..');
    const { stdout } = await promisify(execFile)(process.execPath, ['run.mjs', app.gantry.url], {
      cwd: folder,
      timeout: 120_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    const did = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, Record<string, unknown>>;
    expect(did.said).toMatchObject({
      types: expect.arrayContaining(['RUN_STARTED', 'STEP_STARTED', 'STATE_SNAPSHOT', 'RUN_FINISHED']) as string[],
      text: ['You ', 'said: ', 'hello'],
      messages: [
        ['user', 'hello'],
        ['assistant', 'You said: hello'],
      ],
      state: 2,
    });
    expect(did.called).toMatchObject({
      calls: ['get_weather'],
      args: '{"city": "Bern"}',
      results: ['Sunny in Bern'],
      steps: ['model_request', 'HumanInTheLoopMiddleware.after_model', 'tools'],
      state: 6,
    });
    expect(did.asked).toMatchObject({
      calls: ['send_mail'],
      outcome: { type: 'interrupt', interrupts: [{ metadata: { langgraph: { raw: QUESTION } } }] },
    });
    expect(did.resumed).toMatchObject({
      results: ['Sent to ann'],
      text: ['The ', 'tool ', 'says: ', 'Sent ', 'to ', 'ann'],
    });
    expect(did.continued.messages).toHaveLength(8);
    expect(did.regenerated.messages).toEqual([
      ['user', 'edited'],
      ['assistant', 'You said: edited'],
    ]);
    for (const each of Object.values(did)) expect(each.error).toBeUndefined();
    const { values } = await app.client.threads.getState<Values>(did.continued.threadId as string);
    expect(textsOf(values)).toEqual(['edited', 'You said: edited']);
  });
});
