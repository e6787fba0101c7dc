import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@langchain/langgraph-sdk';
import { SOURCE_PATCHES } from '../../src/graphs/host/source-patches';
import { AGENT_MODES } from '../support/agent-app';
import { installApp } from '../support/app';
import { Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

interface State {
  messages: { type: string; content: string }[];
  path: string[];
  __interrupt__?: { value: unknown }[];
}

/** Id of an interrupt that no thread has. */
const NO_QUESTION = 'f'.repeat(32);
const INPUT = { messages: [{ role: 'user', content: 'hi' }] };

/** Modules of an application's libraries that a patch of Gantry does not find, or does not change in each of their builds. */
function unpatchedModules(app: string): string[] {
  const libraries = join(app, 'node_modules', '@langchain');
  const files = readdirSync(libraries, { recursive: true, encoding: 'utf8' }).map((file) => join(libraries, file));
  const unpatched = SOURCE_PATCHES.filter(({ module, patch }) => {
    const builds = files.filter((file) => module.test(pathToFileURL(file).href));
    return (
      builds.length < 2 ||
      builds.some((file) => {
        const source = readFileSync(file, 'utf8');
        return patch(source, file.endsWith('.cjs') ? 'cjs' : 'js') === source;
      })
    );
  });
  return unpatched.map(({ module }) => module.source);
}

/** The log of a step of four tasks, which run one after the other. */
async function logOfFan(client: Client): Promise<unknown> {
  const config = { max_concurrency: 1 } as object;
  const { log } = (await client.runs.wait(null, 'fan', { input: { log: [] }, config })) as { log: unknown };
  return log;
}

/** The nodes that two runs began, each with its attempt, whose worker stops during their first: of steps, and of the same nested. */
async function nodesOfStoppedRuns(gantry: Gantry, app: string): Promise<string[][]> {
  const client = gantry.client();
  const runs = await Promise.all(
    ['steps', 'careless'].map(async (graph) => {
      const file = join(app, `${graph}.log`);
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, graph, { input: { file } });
      return { file, thread, run };
    }),
  );
  for (const { file } of runs) await waitFor('the first node', () => Promise.resolve(existsSync(file)));
  const old = gantry.worker;
  await Promise.all([gantry.killWorker('SIGTERM', old), gantry.startWorker()]);
  for (const { thread, run } of runs) await client.runs.join(thread, run);
  return runs.map(({ file }) => readFileSync(file, 'utf8').trim().split('\n'));
}

const AFTER_A_STOP = [
  ['first 1', 'second 2', 'third 2'],
  ['first 1', 'second 2', 'third 2', 'after 2'],
];

describe.each([
  ['oldest', false],
  ['newest', true],
] as const)('a project with the %s supported libraries', (versions, hasStrictResume) => {
  let app: string;
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    const graphs = await installApp('library-versions', versions);
    app = dirname(graphs);
    gantry = await startGantry({ graphProcesses: 1, graphs });
    client = gantry.client();
  }, 300_000);

  afterAll(() => gantry?.stop());

  it('has the sources that Gantry patches', () => expect(unpatchedModules(app)).toEqual([]));

  it('hands runs over after a step, also in a nested graph, and repeats no node', async () => {
    expect(await nodesOfStoppedRuns(gantry, app)).toEqual(AFTER_A_STOP);
  });

  it('runs all tasks of a step one after the other', async () => {
    expect(await logOfFan(client)).toEqual([1, 2, 3, 4]);
  });

  it('streams in every mode, asks, and continues with the answer', async () => {
    const { thread_id } = await client.threads.create();
    const seen = new Map<string, unknown[]>();
    for await (const { event, data } of client.runs.stream(thread_id, 'graph', {
      input: INPUT,
      streamMode: [...AGENT_MODES],
    })) {
      seen.set(event, [...(seen.get(event) ?? []), data]);
    }
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(['values', 'updates', 'messages', 'messages/partial', 'messages/complete', 'tasks']),
    );
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['checkpoints', 'debug', 'events']));
    expect(seen.has('error')).toBe(false);
    const pieces = seen.get('messages')!.map((tuple) => (tuple as State['messages'])[0]);
    expect(pieces.map(({ content }) => content).join('')).toBe('well said');
    expect(new Set(pieces.map(({ type }) => type))).toEqual(new Set(['AIMessageChunk']));
    const asked = await client.threads.get(thread_id);
    expect([asked.status, Object.values(asked.interrupts).flat()]).toMatchObject([
      'interrupted',
      [{ value: 'Go on?' }],
    ]);
    const done = (await client.runs.wait(thread_id, 'graph', { command: { resume: 'yes' } })) as unknown as State;
    expect(done.path).toEqual(['speak', 'add 1', 'yes']);
    expect(done.messages.map(({ type }) => type)).toEqual(['human', 'ai']);
    expect(await client.threads.getHistory(thread_id)).toHaveLength(5);
  });

  it('accepts edits, tasks of a client’s command, and a fork from a checkpoint', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'graph', { input: INPUT });
    await client.runs.wait(thread_id, 'graph', { command: { resume: 'yes' } });
    await client.threads.updateState(thread_id, { values: { path: ['by hand'] }, asNode: 'ask' });
    const { values, next } = await client.threads.getState<State>(thread_id);
    expect([values.path.at(-1), next]).toEqual(['by hand', []]);
    const goto = { node: 'add', input: { item: 7 } };
    const sent = (await client.runs.wait(thread_id, 'graph', { command: { goto } })) as unknown as State;
    expect(sent.path).toContain('add 7');
    const first = (await client.threads.getHistory(thread_id)).at(-1)!;
    const forked = await client.runs.wait(thread_id, 'graph', { input: INPUT, checkpoint: first.checkpoint });
    expect((forked as unknown as State).path).toEqual(['speak', 'add 1']);
  });

  it('has its schemas, a drawing and subgraphs', async () => {
    const { input_schema } = await client.assistants.getSchemas('graph');
    expect(input_schema).toMatchObject({ properties: { messages: { langgraph_type: 'messages' } } });
    const { nodes } = await client.assistants.getGraph('graph');
    expect(nodes.map(({ id }) => id)).toEqual(['__start__', 'inner', 'add', 'ask', '__end__']);
    expect(Object.keys(await client.assistants.getSubgraphs('graph'))).toEqual(['inner']);
  });

  it('refuses an answer to a question that is not open, or reports that the library is too old to check it', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'graph', { input: INPUT });
    const command = { resume: { [NO_QUESTION]: 'yes' } };
    const refused = await client.runs.wait(thread_id, 'graph', { command, strictResume: true, raiseError: false });
    expect(refused).toMatchObject({
      __error__: hasStrictResume
        ? { error: 'UnknownInterruptError' }
        : { message: expect.stringMatching(/strict_resume takes @langchain\/langgraph 1\.7 or newer/) as string },
    });
    // The question still waits, and is answered without the option in both.
    const done = (await client.runs.wait(thread_id, 'graph', { command: { resume: 'yes' } })) as unknown as State;
    expect(done.path).toEqual(['speak', 'add 1', 'yes']);
  });

  it.each([false, 0, '', null])('gives a node the answer %j', async (resume) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'graph', { input: INPUT });
    const done = (await client.runs.wait(thread_id, 'graph', { command: { resume } })) as unknown as State;
    expect(done.path).toEqual(['speak', 'add 1', String(resume)]);
  });

  it('runs over the event protocol, with tokens', async () => {
    const thread = client.threads.stream({ assistantId: 'graph' });
    const texts: string[] = [];
    // Subscribed before the run, so that the client ends the iteration with it.
    const reading = (async () => {
      for await (const message of thread.messages) for await (const text of message.text) texts.push(text);
    })();
    await thread.run.start({ input: INPUT });
    expect((await thread.output) as State).toMatchObject({ path: ['speak', 'add 1'] });
    expect(thread.interrupts).toMatchObject([{ payload: 'Go on?' }]);
    await reading;
    await thread.close();
    expect(texts).toEqual([...'well said']);
  });
});

describe('a project with the oldest LangGraph of all, whose interrupts have no ids', () => {
  let app: string;
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    app = dirname(await installApp('library-versions', 'first'));
    gantry = await startGantry({ graphProcesses: 1, graphs: join(app, 'first', 'langgraph.json') });
    client = gantry.client();
  }, 300_000);

  afterAll(() => gantry?.stop());

  it('has the sources that Gantry patches', () => expect(unpatchedModules(app)).toEqual([]));

  it('hands runs over after a step, also in a nested graph, and repeats no node', async () => {
    expect(await nodesOfStoppedRuns(gantry, app)).toEqual(AFTER_A_STOP);
  });

  it('runs all tasks of a step one after the other', async () => {
    expect(await logOfFan(client)).toEqual([1, 2, 3, 4]);
  });

  /** Answers the questions of a graph one after the other, and resolves to its log. */
  async function answered(graph: string, ...answers: unknown[]): Promise<unknown[]> {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, graph, { input: { log: [] } });
    for (const resume of answers) await client.runs.wait(thread_id, graph, { command: { resume } });
    return (await client.threads.getState<{ log: unknown[] }>(thread_id)).values.log;
  }

  it.each([false, 0, '', null])('takes %j for a refusal, in a nested graph as well', async (answer) => {
    expect(await answered('gate', answer)).toEqual([answer, 'refused']);
    expect(await answered('nested', answer)).toEqual([answer, 'refused']);
  });

  it('takes false for the answer to each of several questions, or to the one that is open', async () => {
    expect(await answered('both', false)).toEqual([false, 'refused', false, 'refused']);
    expect(await answered('twice', 'Ann', false)).toEqual(['Ann', false]);
    expect(await answered('twice', false, false)).toEqual([false, false]);
    expect(await answered('gate', 'yes')).toEqual(['yes', 'approved']);
  });
});
