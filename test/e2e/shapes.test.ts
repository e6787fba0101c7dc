import type { Client } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { type SseEvent, SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

interface JsonSchema {
  properties?: Record<string, unknown>;
}

interface Schemas {
  graph_id: string;
  input_schema: JsonSchema | null;
  output_schema: JsonSchema | null;
  state_schema: JsonSchema | null;
  config_schema: JsonSchema | null;
  context_schema: JsonSchema | null;
}

interface Path {
  path: string[];
  total: number;
}

const namesOf = (events: { event: string }[]): string[] => [...new Set(events.map(({ event }) => event))];

/** Graphs of every shape, and what a run may be asked for. */
describeLanguages('graphs of every shape in $language', ({ language, shapes }) => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: shapes });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const get = async (path: string): Promise<unknown> => (await fetch(gantry.url + path)).json();
  const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(gantry.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function streamed(assistant: string, body: object, thread?: string): Promise<SseEvent[]> {
    const path = thread ? `/threads/${thread}/runs/stream` : '/runs/stream';
    return (await SseReader.post(gantry.url + path, { assistant_id: assistant, ...body })).rest();
  }

  describe('schemas', () => {
    it('come from plain types', async () => {
      const schemas = (await get('/assistants/typed/schemas')) as Schemas;
      expect(schemas.graph_id).toBe('typed');
      expect(Object.keys(schemas.state_schema?.properties ?? {}).sort()).toEqual(['address', 'messages', 'tags']);
      expect(JSON.stringify(schemas.state_schema)).toContain('street');
      expect(JSON.stringify(schemas.input_schema)).toContain('street');
      expect(Object.keys(schemas.config_schema?.properties ?? {})).toEqual(['model']);
      expect(schemas.context_schema).toEqual(schemas.config_schema);
    });

    it('come from zod or pydantic', async () => {
      const schemas = (await get('/assistants/configured/schemas')) as Schemas;
      expect(Object.keys(schemas.state_schema?.properties ?? {})).toEqual(['given', 'from_context']);
      expect(Object.keys(schemas.context_schema?.properties ?? {})).toEqual(['model']);
    });

    if (language === 'TypeScript') {
      it('come from zod as far as it has a schema for them', async () => {
        const schemas = (await get('/assistants/dated/schemas')) as Schemas;
        expect(schemas.input_schema?.properties).toMatchObject({ question: { description: 'What is asked' } });
        expect(schemas.output_schema?.properties).toMatchObject({ answer: { description: 'What is known' } });
      });
    }

    it('include those of subgraphs, to the requested depth', async () => {
      const first = (await get('/assistants/deep/subgraphs')) as Record<string, Schemas>;
      expect(Object.keys(first)).toEqual(['middle']);
      expect(Object.keys(first.middle.state_schema?.properties ?? {}).sort()).toEqual(['messages', 'note']);
      const all = (await get('/assistants/deep/subgraphs?recurse=True')) as Record<
        string,
        Schemas & { state: unknown }
      >;
      expect(Object.keys(all).sort()).toEqual(['middle', 'middle|deepest']);
      expect(all.middle.state).toEqual(all.middle.state_schema);
      expect(Object.keys((await get('/assistants/deep/subgraphs/middle')) as object)).toEqual(['middle']);
      expect(await get('/assistants/deep/subgraphs/nothing')).toEqual({});
    });
  });

  it('are drawn, with subgraphs on request', async () => {
    const flat = await client.assistants.getGraph('deep');
    expect(flat.nodes.map(({ id }) => id)).toEqual(['__start__', 'middle', '__end__']);
    expect(flat.edges[0]).toMatchObject({ source: '__start__', target: 'middle' });
    const one = await client.assistants.getGraph('deep', { xray: 1 });
    expect(one.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['middle:deepest', 'middle:question']));
    const all = await client.assistants.getGraph('deep', { xray: true });
    expect(all.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['middle:question']));
    expect((await fetch(`${gantry.url}/assistants/deep/graph?xray=-1`)).status).toBe(422);
  });

  it('are created by a function, as the run is configured', async () => {
    const thread = await createThread();
    const result = await client.runs.wait(thread, 'factory', { input: {}, config: { configurable: { steps: 3 } } });
    expect(result).toEqual({ steps: ['step_1', 'step_2', 'step_3'] });
    expect((await client.threads.getState(thread)).values).toEqual(result);
  });

  it('are created by a function for each use, which receives its config and its purpose', async () => {
    const assistant = await client.assistants.create({ graphId: 'informed', context: { node: 'mine', size: 1 } });
    const { thread_id: thread } = await client.threads.create();
    const run = { input: {}, context: { size: 2 }, metadata: { owner: 'ann' } };
    const { given } = (await client.runs.wait(thread, assistant.assistant_id, run)) as {
      given: Record<string, unknown>;
    };
    expect(given).toMatchObject({
      configurable: { node: 'mine', size: 2, thread_id: thread },
      owner: 'ann',
      context: { node: 'mine', size: 2 },
      accessContext: 'threads.create_run',
      executionRuntime: { context: { node: 'mine', size: 2 } },
    });
    if (language === 'TypeScript') {
      const keys = ['configurable', 'metadata', 'context', 'store', 'checkpointer'];
      expect(given.has).toEqual(expect.arrayContaining(keys));
    }
    // The node exists only in the graph that the run's config makes.
    await client.threads.updateState(thread, { values: { given: 'edited' }, asNode: 'mine' });
    expect((await client.threads.getState(thread)).values).toEqual({ given: 'edited' });
    expect((await client.threads.getHistory(thread)).at(-2)!.next).toEqual(['mine']);
    const { nodes } = await client.assistants.getGraph(assistant.assistant_id);
    expect(nodes.map(({ id }) => id)).toContain('mine');
    expect(await client.assistants.getSchemas(assistant.assistant_id)).toMatchObject({ graph_id: 'informed' });
  });

  it('may be functions, with tasks, an interrupt, and the previous return value', async () => {
    const thread = await createThread();
    const asked = (await client.runs.wait(thread, 'functional', { input: { value: 4 } })) as Record<string, unknown>;
    expect(asked.__interrupt__).toMatchObject([{ value: 'Is 8 right?' }]);
    const first = await client.runs.wait(thread, 'functional', { command: { resume: 'yes' } });
    expect(first).toEqual({ doubled: 8, answer: 'yes', previous: null });
    if (language === 'Python') {
      const doubled = (await gantry.ledger.all()).filter(
        ({ node, thread_id }) => node === 'double' && thread_id === thread,
      );
      expect(doubled).toHaveLength(1);
    }
    // A limit of one node at once leaves room for the tasks that the function waits for.
    const config = { max_concurrency: 1 } as object;
    await client.runs.wait(thread, 'functional', { input: { value: 5 }, config });
    expect(await client.runs.wait(thread, 'functional', { command: { resume: 'sure' } })).toEqual({
      doubled: 10,
      answer: 'sure',
      previous: 8,
    });
  });

  it('keep checkpoints, also where they were compiled to keep none, except as nodes of others', async () => {
    const thread = await createThread();
    const asked = (await client.runs.wait(thread, 'unkept', { input: {} })) as Record<string, unknown>;
    expect(asked.__interrupt__).toMatchObject([{ value: 'Which?' }]);
    const answered = await client.runs.wait(thread, 'unkept', { command: { resume: 'this' } });
    expect(answered).toEqual({ answers: ['this'] });
    expect(await client.threads.getHistory(thread)).toHaveLength(3);
    const outer = await createThread();
    const config = { configurable: { unasked: true } };
    expect(await client.runs.wait(outer, 'outer', { input: {}, config })).toEqual({ answers: ['not asked'] });
    const { rows } = await gantry.sql.query<{ checkpoint_ns: string }>(
      `SELECT DISTINCT checkpoint_ns FROM ${CHECKPOINT_SCHEMA}.checkpoints WHERE starts_with(thread_id, $1)`,
      [outer],
    );
    expect(rows).toEqual([{ checkpoint_ns: '' }]);
  });

  it('store what graphs on other threads do in a node under the threads of these', async () => {
    const thread = await createThread();
    expect(await client.runs.wait(thread, 'delegating', { input: { items: [1, 2, 3, 4] } })).toMatchObject({
      total: 10,
    });
    const { rows } = await gantry.sql.query<{ channel: string; found: boolean }>(
      `SELECT channel, EXISTS (
         SELECT FROM ${CHECKPOINT_SCHEMA}.checkpoints
         WHERE (thread_id, checkpoint_id) = (result.thread_id, result.checkpoint_id)
       ) AS found FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes AS result WHERE starts_with(thread_id, $1)`,
      [thread],
    );
    expect(rows.filter(({ channel }) => channel === 'total')).toHaveLength(5);
    expect(rows.filter(({ found }) => !found)).toEqual([]);
  });

  describe('commands', () => {
    it('of a node fan out to as many tasks as it sends', async () => {
      const result = (await client.runs.wait(null, 'routed', { input: { items: [1, 2, 3] } })) as unknown as Path;
      expect(result).toMatchObject({ path: ['decide', 'add 1', 'add 2', 'add 3'], total: 6 });
    });

    it.each([
      ['a node', 'aside', ['aside']],
      ['a task', { node: 'add', input: { item: 9 } }, ['add 9']],
      ['several', ['aside', { node: 'add', input: { item: 2 } }], ['add 2', 'aside']],
    ])('of a client go to %s', async (_, goto, visited) => {
      const thread = await createThread();
      await client.runs.wait(thread, 'routed', { input: { items: [] } });
      const body = { assistant_id: 'routed', command: { goto, update: { path: ['by hand'] } } };
      const response = await post(`/threads/${thread}/runs/wait`, body);
      const { path } = (await response.json()) as Path;
      expect(path.slice(0, 2)).toEqual(['decide', 'by hand']);
      expect(path.slice(2).sort()).toEqual(visited);
    });

    it('of a client change the state, given as an object or as pairs', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'three', { input: { step_ms: 0 }, interruptBefore: ['node_2'] });
      const body = { assistant_id: 'three', command: { update: [['done', ['by hand']]] } };
      const response = await post(`/threads/${thread}/runs/wait`, body);
      expect(await response.json()).toMatchObject({ done: ['node_1', 'by hand', 'node_2', 'node_3'] });
    });

    it('answer one interrupt of several by its id', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'ask', { input: { question: 'Which?' } });
      const { interrupts } = await client.threads.get(thread);
      const [{ id }] = Object.values(interrupts).flat();
      expect(await client.runs.wait(thread, 'ask', { command: { resume: { [id!]: 'this' } } })).toMatchObject({
        answer: 'this',
      });
    });
  });

  describe('breakpoints', () => {
    it.each<[{ interruptBefore?: '*' | string[]; interruptAfter?: string[] }, string[], string[]]>([
      [{ interruptBefore: ['node_2'] }, ['node_1'], ['node_2']],
      [{ interruptAfter: ['node_2'] }, ['node_1', 'node_2'], ['node_3']],
      [{ interruptBefore: '*' }, [], ['node_1']],
    ])('%j stop the run there, and a run without input resumes it', async (options, done, next) => {
      const thread = await createThread();
      await client.runs.wait(thread, 'three', { input: { step_ms: 0 }, ...(options as object) });
      const state = await client.threads.getState<{ done?: string[] }>(thread);
      expect([state.values.done ?? [], state.next]).toEqual([done, next]);
      expect((await client.threads.get(thread)).status).toBe('interrupted');
      expect(await client.runs.wait(thread, 'three', { input: null })).toMatchObject({
        done: ['node_1', 'node_2', 'node_3'],
      });
    });
  });

  it('wait for the questions of parallel nodes that are not answered yet', async () => {
    const thread = await createThread();
    await client.runs.wait(thread, 'poll', { input: {} });
    const asked = Object.values((await client.threads.get(thread)).interrupts).flat();
    expect(asked.map(({ value }) => value).sort()).toEqual(['First?', 'Second?']);
    const { id } = asked.find(({ value }) => value === 'First?')!;
    const left = [{ value: 'Second?', id: expect.any(String) }];
    const answer = await client.runs.wait(thread, 'poll', { command: { resume: { [id!]: 'one' } } });
    expect(answer).toMatchObject({ __interrupt__: left });
    const { status, interrupts } = await client.threads.get(thread);
    expect([status, Object.values(interrupts).flat()]).toEqual(['interrupted', left]);
    expect(await client.threads.getState(thread)).toMatchObject({ next: ['ask_second'], interrupts: left });
    const ended = await client.runs.wait(thread, 'poll', { command: { resume: 'two' } });
    expect(ended).toEqual({ first: 'one', second: 'two' });
  });

  it('wait for no question of a parallel node whose answer has left nothing in the state', async () => {
    const thread = await createThread();
    await client.runs.wait(thread, 'survey', { input: {} });
    const asked = Object.values((await client.threads.get(thread)).interrupts).flat();
    expect(asked).toHaveLength(4);
    const resume = Object.fromEntries(asked.map(({ id }) => [id, 'shout']));
    const left = [{ value: 'Really?', id: expect.any(String) }];
    const answer = await client.runs.wait(thread, 'survey', { command: { resume } });
    expect(answer).toMatchObject({ __interrupt__: left });
    const { status, interrupts } = await client.threads.get(thread);
    expect([status, Object.values(interrupts).flat()]).toEqual(['interrupted', left]);
    expect(await client.threads.getState(thread)).toMatchObject({ interrupts: left });
    expect((await client.threads.getHistory(thread))[0]).toMatchObject({ interrupts: left });
    expect(await client.threads.copy(thread)).toMatchObject({ status: 'interrupted' });
    const ended = await client.runs.wait(thread, 'survey', { command: { resume: 'yes' } });
    expect(ended).toEqual({ opinion: 'YES' });
  });

  describe('the config of a run', () => {
    const largestCrowd = async (assistant: string, config?: object): Promise<number> => {
      const { sizes } = (await client.runs.wait(null, assistant, { input: {}, config })) as { sizes: number[] };
      expect(sizes).toHaveLength(6);
      return Math.max(...sizes);
    };

    it('limits how many nodes run at once, as that of an assistant does', async () => {
      const config = { max_concurrency: 3 } as object;
      const { assistant_id: assistant } = await client.assistants.create({ graphId: 'crowd', config });
      expect(await largestCrowd('crowd')).toBe(6);
      expect(await largestCrowd('crowd', { max_concurrency: 2 })).toBe(2);
      expect(await largestCrowd(assistant)).toBe(3);
      expect(await largestCrowd(assistant, { max_concurrency: 1 })).toBe(1);
    });

    it('gives it the name that its events have', async () => {
      const events = await streamed('crowd', { input: {}, config: { run_name: 'tour' }, stream_mode: 'events' });
      expect(events[1].data).toMatchObject({ event: 'on_chain_start', name: 'tour' });
    });
  });

  it('end with an error at their recursion limit', async () => {
    const thread = await createThread();
    const { run_id } = await client.runs.create(thread, 'ten', { input: {}, config: { recursion_limit: 3 } });
    const joined = await client.runs.join(thread, run_id);
    expect(joined).toMatchObject({ __error__: { error: 'GraphRecursionError' } });
    expect((await client.runs.get(thread, run_id)).status).toBe('error');
  });

  it('fork from an earlier checkpoint, with another message, and neither branch reads the other’s', async () => {
    const thread = await createThread();
    await client.runs.wait(thread, 'typed', { input: { address: { street: 'First' } } });
    const start = (await client.threads.getHistory(thread)).at(-1)!;
    await client.runs.wait(thread, 'typed', {
      input: { address: { street: 'Second' } },
      checkpoint: start.checkpoint,
    });
    const history = await client.threads.getHistory<{ address?: { street: string } }>(thread);
    const ends = history.filter(({ next }) => next.length === 0).map(({ values }) => values.address?.street);
    expect(ends).toEqual(['Second', 'First']);
  });

  it('keep one checkpoint per run with durability exit', async () => {
    const [every, last] = [await createThread(), await createThread()];
    await client.runs.wait(every, 'three', { input: {}, durability: 'async' });
    await client.runs.wait(last, 'three', { input: {}, durability: 'exit' });
    expect(await client.threads.getHistory(every)).toHaveLength(5);
    expect(await client.threads.getHistory(last)).toHaveLength(1);
  });

  describe('stream modes', () => {
    it.each(['values', 'updates', 'custom', 'debug', 'tasks', 'checkpoints', 'messages-tuple', 'events'])(
      '%s carries plain data, and no internal keys of the server',
      async (mode) => {
        const events = await streamed('deep', { input: { note: 'hi' }, stream_mode: mode, stream_subgraphs: true });
        const plain = mode === 'messages-tuple' ? 'messages' : mode;
        expect(namesOf(events).every((name) => name === 'metadata' || name.split('|')[0] === plain)).toBe(true);
        expect(events.length).toBeGreaterThan(1);
        const text = JSON.stringify(events);
        expect(text).not.toMatch(/__pregel_(?!pull|push|tasks|node_finished)|connectionString|postgres:\/\//);
      },
    );

    it('emit every token before the end of its node, however slow the graph’s own listener is', async () => {
      const input = { messages: [{ role: 'user', content: 'talk' }] };
      const events = await streamed('overheard', { input, stream_mode: ['messages-tuple', 'updates'] });
      const names = events.map(({ event }) => event);
      // Python's library ends the message with a piece without text.
      const pieces = language === 'Python' ? 51 : 50;
      expect(names).toEqual(['metadata', ...Array<string>(pieces).fill('messages'), 'updates']);
    });

    it('are suffixed with the path of the subgraph, only when subgraphs are requested', async () => {
      const modes = ['values', 'updates', 'custom', 'tasks', 'checkpoints', 'debug', 'messages-tuple'];
      const deep = namesOf(
        await streamed('deep', { input: { note: 'hi' }, stream_mode: modes, stream_subgraphs: true }),
      );
      for (const mode of ['values', 'updates', 'tasks', 'checkpoints', 'debug']) {
        expect(deep).toContain(mode);
        expect(deep.filter((name) => name.startsWith(`${mode}|middle:`)).length).toBeGreaterThanOrEqual(2);
      }
      for (const mode of ['custom', 'messages']) {
        expect(deep.some((name) => name.startsWith(`${mode}|middle:`))).toBe(true);
      }
      const flat = namesOf(await streamed('deep', { input: { note: 'hi' }, stream_mode: modes }));
      expect(flat.filter((name) => name.includes('|'))).toEqual([]);
      // The output of a nested graph before the end of its nodes is part of the answer in JavaScript alone.
      const unended = flat.filter((name) => name === 'custom' || name === 'messages');
      expect([...new Set(unended)].sort()).toEqual(language === 'Python' ? [] : ['custom', 'messages']);
    });

    it('of a subgraph without checkpoints come before the end of its node', async () => {
      const stream_mode = ['values', 'updates'];
      const config = { configurable: { unasked: true } };
      const events = await streamed('outer', { input: {}, config, stream_mode, stream_subgraphs: true });
      const answers = ['not asked'];
      const last = events.slice(-3).map(({ event, data }) => [event, data]);
      expect(last).toEqual([
        [expect.stringMatching(/^values\|unkept:/), { answers }],
        ['updates', { unkept: { answers } }],
        ['values', { answers }],
      ]);
    });

    it('show a checkpoint with its config, and a task with its result', async () => {
      const events = await streamed('three', { input: {}, stream_mode: ['checkpoints', 'tasks', 'debug'] });
      const of = (name: string): Record<string, unknown>[] =>
        events.filter(({ event }) => event === name).map(({ data }) => data as Record<string, unknown>);
      expect(of('checkpoints').at(-1)).toMatchObject({
        values: { done: ['node_1', 'node_2', 'node_3'] },
        next: [],
        config: { configurable: { checkpoint_id: expect.any(String) } },
        parent_config: expect.anything(),
        metadata: { step: 3 },
        tasks: [],
      });
      expect(of('tasks').slice(0, 2)).toMatchObject([
        { name: 'node_1', triggers: expect.any(Array), id: expect.any(String) },
        { name: 'node_1', result: expect.anything(), interrupts: [] },
      ]);
      expect(new Set(of('debug').map(({ type }) => type))).toEqual(new Set(['checkpoint', 'task', 'task_result']));
    });

    it('show the place of each checkpoint, its parent, and the state of a subgraph', async () => {
      const thread = await createThread();
      const options = { input: { note: 'hi' }, stream_mode: ['checkpoints', 'debug'] };
      const events = await streamed('deep', options, thread);
      const whole = events.filter(({ event }) => event === 'checkpoints').map(({ data }) => data as object);
      const debug = events
        .filter(({ event }) => event === 'debug')
        .map(({ data }) => data as { type: string; payload: Record<string, unknown> });
      const payloads = debug.filter(({ type }) => type === 'checkpoint').map(({ payload }) => payload);
      const history = (await client.threads.getHistory(thread)).reverse();
      expect(history).toHaveLength(2);
      for (const shown of [whole, payloads]) {
        expect(shown).toMatchObject(
          history.map(({ checkpoint, parent_checkpoint }) => ({ checkpoint, parent_checkpoint })),
        );
        const { tasks } = shown[1] as { tasks: { id: string }[] };
        const inside = { thread_id: thread, checkpoint_ns: `middle:${tasks[0].id}`, checkpoint_id: null };
        expect(tasks).toMatchObject([{ name: 'middle', checkpoint: { ...inside, checkpoint_map: null } }]);
        expect(tasks[0]).not.toHaveProperty('state');
      }
    });

    it('include events of what the graph runs, without the other modes of the graph itself', async () => {
      const input = { messages: [{ role: 'user', content: 'talk' }] };
      const events = await streamed('overheard', { input, stream_mode: ['events', 'values'] });
      interface Event {
        event: string;
        name: string;
        data: { chunk: { type: string }; output: { messages: object[] } };
      }
      const emitted = events.filter(({ event }) => event === 'events').map(({ data }) => data as Event);
      const [root] = emitted;
      expect(root).toMatchObject({ event: 'on_chain_start' });
      expect(emitted.at(-1)).toMatchObject({ event: 'on_chain_end', name: root.name });
      expect(emitted.filter(({ event, name }) => event === 'on_chain_stream' && name === root.name)).toEqual([]);
      expect(events.filter(({ event }) => event === 'values')).toHaveLength(2);
      const pieces = emitted.filter(({ event }) => event === 'on_chat_model_stream').map(({ data }) => data.chunk.type);
      expect(new Set(pieces)).toEqual(new Set(['AIMessageChunk']));
      expect(emitted.at(-1)!.data.output.messages).toMatchObject([{ type: 'human' }, { type: 'ai' }]);
    });

    const isWhole = [['messages', 'values', 'messages/complete'], { type: 'ai' }] as const;
    // In Python, a message of the class of pieces is one.
    const isPiece = [
      ['messages', 'messages/metadata', 'messages/partial', 'values', 'messages/complete'],
      { type: 'AIMessageChunk' },
    ] as const;
    it('give messages that a node returns whole the type that the library gives them, and emit them before their state', async () => {
      const events = await streamed('whole', { input: {}, stream_mode: ['messages-tuple', 'messages', 'values'] });
      const [names, type] = language === 'Python' ? isPiece : isWhole;
      expect(events.map(({ event }) => event)).toEqual(['metadata', ...names]);
      const whole = { id: 'whole', content: 'all at once' };
      expect(events[1].data).toMatchObject([{ ...whole, ...type }, { langgraph_node: 'say' }]);
      expect(events.at(-1)!.data).toMatchObject([whole]);
    });
  });

  describe('batches', () => {
    it('create one run each, in order, or none', async () => {
      const bodies = [1, 2, 3].map((item) => ({
        assistant_id: 'routed',
        input: { items: [item] },
        config: null,
        metadata: { item },
        on_completion: 'keep',
      }));
      const response = await post('/runs/batch', bodies);
      expect(response.status).toBe(200);
      const runs = (await response.json()) as { run_id: string; thread_id: string; metadata: { item: number } }[];
      expect(runs.map(({ metadata }) => metadata.item)).toEqual([1, 2, 3]);
      const totals = await Promise.all(
        runs.map(async ({ run_id, thread_id }) => (await client.runs.join(thread_id, run_id)) as unknown as Path),
      );
      expect(totals.map(({ total }) => total)).toEqual([1, 2, 3]);
      const bad = [...bodies.slice(0, 1), { assistant_id: 'nothing' }];
      expect((await post('/runs/batch', bad)).status).toBe(404);
      expect((await post('/runs/batch', [])).status).toBe(422);
      expect((await client.threads.search({ metadata: { item: 1 } })).length).toBe(1);
    });
  });

  describe('feedback', () => {
    it('has a link for each key after the last event, in the result, and again on rejoin; following it suffices', async () => {
      const body = { input: { items: [1] }, feedback_keys: ['thumb', 'tone'] };
      const thread = await createThread();
      const events = await streamed('routed', body, thread);
      expect(events.at(-1)).toMatchObject({ event: 'feedback', id: String(events.length - 1) });
      const links = events.at(-1)!.data as Record<string, string>;
      expect(Object.keys(links)).toEqual(['thumb', 'tone']);
      const { run_id } = events[0].data as { run_id: string };
      const again = await SseReader.get(`${gantry.url}/threads/${thread}/runs/${run_id}/stream`);
      expect(await again.rest()).toEqual(events);
      expect(await client.runs.join(thread, run_id)).toMatchObject({ total: 1, __feedback__: links });
      expect((await fetch(`${links.thumb}?score=1&comment=good`)).status).toBe(200);
      expect((await fetch(`${links.thumb}?score=0`)).status).toBe(200);
      const left = (await get(`/api/v1/feedback?run=${run_id}`)) as object[];
      expect(left).toMatchObject([{ run_id, key: 'thumb', score: 0 }]);
      expect((await fetch(links.tone.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')))).status).toBe(404);
      expect((await fetch(`${links.tone}?score=much`)).status).toBe(422);
    });

    it('does not disturb a client that did not request it', async () => {
      expect(namesOf(await streamed('routed', { input: { items: [] } }))).toEqual(['metadata', 'values']);
    });
  });

  describe('the stream of a thread', () => {
    const open = (thread: string, query = '', lastEventId?: string): Promise<SseReader> =>
      SseReader.get(
        `${gantry.url}/threads/${thread}/stream${query}`,
        lastEventId ? { 'last-event-id': lastEventId } : {},
      );
    const isDone = ({ data }: SseEvent): boolean => (data as { status?: string } | null)?.status === 'run_done';
    const run = async (thread: string): Promise<void> => {
      const { run_id } = await client.runs.create(thread, 'three', { input: {}, streamMode: 'updates' });
      await client.runs.join(thread, run_id);
    };

    it('emits run after run, and can be rejoined anywhere', async () => {
      const thread = await createThread();
      const stream = await open(thread);
      await run(thread);
      const first = await stream.until(isDone);
      await run(thread);
      const second = await stream.until(isDone);
      await stream.close();
      for (const events of [first, second]) {
        expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'updates', 'updates', 'metadata']);
      }
      const runs = await client.runs.list(thread);
      expect([first, second].map((events) => (events.at(-1)!.data as { run_id: string }).run_id)).toEqual(
        runs.map(({ run_id }) => run_id).reverse(),
      );
      const all = [...first, ...second];
      expect(new Set(all.map(({ id }) => id)).size).toBe(10);
      for (const [lastEventId, from] of [
        ['-', 0],
        ['-1', 0],
        [first[1].id!, 2],
        [first[4].id!, 5],
        [second[0].id!, 6],
      ] as const) {
        const again = await open(thread, '', lastEventId);
        const events: SseEvent[] = [];
        while (events.length < 10 - from) events.push(...(await again.until(isDone)));
        expect(events).toEqual(all.slice(from));
        await again.close();
      }
      expect(
        (await fetch(`${gantry.url}/threads/${thread}/stream`, { headers: { 'last-event-id': 'x' } })).status,
      ).toBe(422);
    });

    it('joins the current run from its beginning', async () => {
      const thread = await createThread();
      await run(thread);
      const { run_id } = await client.runs.create(thread, 'three', {
        input: { step_ms: 1_000 },
        streamMode: 'updates',
      });
      await waitFor('it to run', async () => (await client.runs.get(thread, run_id)).status === 'running');
      const stream = await open(thread);
      const events = await stream.until(isDone);
      await stream.close();
      expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'updates', 'updates', 'metadata']);
      expect(events[0].data).toMatchObject({ run_id });
    });

    it('emits only beginning and end, or only edits, on request', async () => {
      const thread = await createThread();
      const stream = await open(thread, '?stream_modes=lifecycle,state_update');
      await run(thread);
      expect((await stream.until(isDone)).map(({ event }) => event)).toEqual(['metadata', 'metadata']);
      await client.threads.updateState(thread, { values: { done: ['by hand'] }, asNode: 'node_3' });
      const [edit] = await stream.until(({ event }) => event === 'state_update');
      expect(edit.data).toMatchObject({
        thread_id: thread,
        state: { values: { done: ['node_1', 'node_2', 'node_3', 'by hand'] } },
      });
      await stream.close();
      expect((await fetch(`${gantry.url}/threads/${thread}/stream?stream_modes=all`)).status).toBe(422);
      const unknown = '7e4d2c3b-0000-4000-8000-000000000000';
      expect((await fetch(`${gantry.url}/threads/${unknown}/stream`)).status).toBe(404);
    });

    it('ends with its thread', async () => {
      const thread = await createThread();
      const stream = await open(thread);
      await client.threads.delete(thread);
      expect(await stream.rest()).toEqual([]);
    });

    it('is what the client joins', async () => {
      const thread = await createThread();
      await run(thread);
      const names: string[] = [];
      for await (const { event, data } of client.threads.joinStream(thread, { lastEventId: '-' })) {
        names.push(event);
        if (isDone({ event, data, id: undefined })) break;
      }
      expect(names).toEqual(['metadata', 'updates', 'updates', 'updates', 'metadata']);
    });
  });
});
