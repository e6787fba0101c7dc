import { join } from 'node:path';
import type { Client, ThreadState } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { AGENT_MODES } from '../support/agent-app';
import { describeDeltaThreads } from '../support/delta-threads';
import { type Gantry, startGantry } from '../support/gantry';
import { pythonForGraphs } from '../support/python';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

interface WireMessage {
  id?: string;
  type: string;
  content: unknown;
}
interface State {
  messages: WireMessage[];
}

interface Announced {
  metadata: { langgraph_node?: string };
}

interface ProtocolEvent {
  method: string;
  params: { namespace: string[]; data: Record<string, unknown> };
}

/** Values that serializers of LangChain, LangGraph and pickle might take for their own marks. */
const RECORDS = [
  { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'HumanMessage'], kwargs: { content: 'hi' } },
  { lc: 1, type: 'secret', id: ['PATH'] },
  { lc: 2, type: 'constructor', id: ['subprocess', 'getoutput'], args: ['id'], kwargs: {} },
  { lc: 2, type: 'constructor', id: ['builtins', 'set'], args: [[1]], kwargs: {} },
  { __class__: 'dict', __reduce__: ['os.system', ['id']], __dict__: {}, __type: 'bytes', bytes: 'aWQ=' },
  { type: 'Command', lg_name: 'Send', node: 'look', args: {} },
  JSON.parse('{"toString": 1, "hasOwnProperty": null, "a": 1.5, "b": [true]}') as unknown,
];

const MODES = [...AGENT_MODES];
const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const lastOf = (state: unknown): WireMessage => (state as State).messages.at(-1)!;

/** Graphs written in Python, and one in JavaScript, in one langgraph.json. */
describe('graphs in Python', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, 'project', 'langgraph.json'),
      env: {
        GANTRY_PYTHON: pythonForGraphs(),
        GANTRY_TRACING: 'on',
        GANTRY_GRAPH_VALUE_LIMIT_BYTES: String(2 ** 21),
        GANTRY_GRAPH_MEMORY_MB: '512',
        GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  it('run beside graphs in JavaScript', async () => {
    expect(lastOf(await client.runs.wait(null, 'agent', { input: say('hello') })).content).toBe('You said: hello');
    expect(await client.runs.wait(null, 'script', { input: {} })).toEqual({ said: 'from JavaScript' });
  });

  it('remember the conversation of a thread', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'agent', { input: say('hello') });
    const second = await client.runs.wait(thread, 'agent', { input: say('again') });
    expect((second as unknown as State).messages.map(({ type }) => type)).toEqual(['human', 'ai', 'human', 'ai']);
    expect((await client.threads.get(thread)).status).toBe('idle');
  });

  it('show callers their output alone, and the whole state on the thread', async () => {
    const { thread_id: thread } = await client.threads.create();
    const run = { input: { question: 'tea' } };
    expect(await client.runs.wait(thread, 'private', run)).toEqual({ answer: 'ABOUT TEA' });
    const { values } = await client.threads.getState<Record<string, unknown>>(thread);
    expect(values).toEqual({ question: 'tea', draft: 'about tea', answer: 'ABOUT TEA' });
    const events: unknown[] = [];
    for await (const { event, data } of client.runs.stream(null, 'private', {
      ...run,
      streamMode: ['values', 'updates'],
    })) {
      if (event !== 'metadata') events.push([event, data]);
    }
    expect(events).toEqual([
      ['updates', { think: null }],
      ['updates', { answer: { answer: 'ABOUT TEA' } }],
      ['values', { answer: 'ABOUT TEA' }],
    ]);
  });

  it('store the results of a step in one transaction with its checkpoint', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'ten', { input: {} });
    const { rows } = await gantry.sql.query<{ together: boolean }>(
      `SELECT result.xmin = step.xmin AS together
       FROM langgraph.checkpoints AS step
       JOIN langgraph.checkpoint_writes AS result USING (thread_id, checkpoint_ns)
       WHERE thread_id = $1 AND result.checkpoint_id = step.parent_checkpoint_id AND result.channel = 'done'`,
      [thread],
    );
    expect(rows).toHaveLength(10);
    // On a busy machine, some results wait too long for their checkpoint, and are stored alone.
    expect(rows.filter(({ together }) => together).length).toBeGreaterThan(5);
  });

  it('stream a tool call, its result and the answer in every mode', async () => {
    const thread = await newThread();
    const seen = new Map<string, unknown[]>();
    const input = say('call get_weather {"city": "Bern"}');
    for await (const { event, data } of client.runs.stream(thread, 'agent', { input, streamMode: MODES })) {
      seen.set(event, [...(seen.get(event) ?? []), data]);
    }
    expect(seen.get('error')).toBeUndefined();
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining([
        ...['metadata', 'values', 'updates', 'messages', 'messages/metadata', 'messages/partial', 'messages/complete'],
        ...['tasks', 'checkpoints', 'debug', 'events'],
      ]),
    );
    expect(seen.get('updates')!.map((update) => Object.keys(update as object)[0])).toEqual(['model', 'tools', 'model']);
    const values = seen.get('values')!.at(-1) as State;
    expect(values.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(lastOf(values).content).toBe('The tool says: Sunny in Bern');
    const pieces = seen.get('messages')!.map((tuple) => (tuple as [WireMessage])[0]);
    expect(pieces.map(({ content }) => content).join('')).toContain('The tool says: Sunny in Bern');
    expect(new Set(pieces.map(({ type }) => type))).toEqual(new Set(['AIMessageChunk', 'tool']));
    // Each message of the run's own, also the tool's result, which comes whole.
    const announced = Object.assign({}, ...(seen.get('messages/metadata') as object[])) as Record<string, Announced>;
    const made = values.messages.slice(1).map(({ id }) => announced[id!]?.metadata.langgraph_node);
    expect(made).toEqual(['model', 'tools', 'model']);
    expect(Object.keys(announced)).toHaveLength(3);
  });

  it('ask a person, twice where the answer is empty, and resume', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'questions', { input: {} });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });
    await client.runs.wait(thread, 'questions', { command: { resume: 'old' } });
    const { status, interrupts } = await client.threads.get(thread);
    expect(status).toBe('interrupted');
    expect(Object.values(interrupts).flat()).toMatchObject([{ value: "'old' is no number. How old are you?" }]);
    const done = await client.runs.wait(thread, 'questions', { command: { resume: 42 } });
    expect(done).toEqual({ age: 42, greeting: 'Hello, you are 42' });
    expect((await client.threads.get(thread)).status).toBe('idle');
  });

  it('offer their states: history, edits, forks, subgraphs', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'questions', { input: {} });
    await client.runs.wait(thread, 'questions', { command: { resume: 42 } });
    const history: ThreadState[] = await client.threads.getHistory(thread);
    expect(history.map(({ next }) => next)).toEqual([[], ['inner'], ['ask'], ['__start__']]);
    const edited = await client.threads.updateState(thread, {
      values: { age: 7 },
      asNode: 'ask',
      checkpointId: history[2].checkpoint.checkpoint_id!,
    });
    expect(edited).toMatchObject({ checkpoint: { thread_id: thread } });
    expect(await client.runs.wait(thread, 'questions', { input: null })).toMatchObject({
      greeting: 'Hello, you are 7',
    });
  });

  it('have schemas and a drawing', async () => {
    const schemas = await client.assistants.getSchemas('questions');
    expect(schemas.state_schema).toMatchObject({ properties: { age: {}, greeting: {} } });
    const drawn = await client.assistants.getGraph('questions');
    expect(drawn.nodes.map(({ id }) => id)).toEqual(['__start__', 'ask', 'inner', '__end__']);
    expect(Object.keys(await client.assistants.getSubgraphs('questions'))).toEqual(['inner']);
  });

  it('are created for each use by a function that yields them', async () => {
    const config = { configurable: { word: 'hello' } };
    expect(await client.runs.wait(null, 'made', { input: {}, config })).toEqual({ said: 'hello True' });
    const context = { ending: '?' };
    expect(await client.runs.wait(null, 'made', { input: {}, context })).toEqual({ said: 'nothing True?' });
    expect(await client.runs.wait(null, 'made_by_name', { input: {}, config })).toEqual({ said: 'hello!' });
    const withDefaults = await client.runs.wait(null, 'made_with_defaults', { input: {}, config });
    expect(withDefaults).toEqual({ said: 'well, hello!' });
  });

  it('are created by an async function that uses the config and the store of the run', async () => {
    const config = { configurable: { word: 'hello' } };
    expect(await client.runs.wait(null, 'made_from_store', { input: {}, config })).toEqual({ said: 'hello hello' });
  });

  describe('made in a transaction', () => {
    const executionsOf = async (run: string): Promise<string[]> =>
      (await gantry.ledger.of(run)).map(({ node }) => node);

    const start = async (how: string): Promise<[thread: string, run: string]> => {
      const thread = await newThread();
      const { run_id: run } = await client.runs.create(thread, 'job', { input: { how } });
      return [thread, run];
    };

    it('roll it back when they fail, and keep the results of finished nodes', async () => {
      const [thread, run] = await start('fail');
      await client.runs.join(thread, run);
      expect(await executionsOf(run)).toEqual(['begin', 'rollback: ValueError']);
      const failed = await client.threads.get(thread);
      expect(failed).toMatchObject({ status: 'error', error: { error: 'ValueError' }, values: { begun: true } });
      await client.threads.updateState(thread, { values: { how: 'succeed' }, asNode: 'begin' });
      const { run_id: again } = await client.runs.create(thread, 'job', { input: null });
      await client.runs.join(thread, again);
      expect(await executionsOf(again)).toEqual(['commit']);
    });

    it('roll it back with a CancelledError when a client cancels them', async () => {
      const [thread, run] = await start('wait');
      await waitFor('the node', async () => (await executionsOf(run)).includes('work'));
      await client.runs.cancel(thread, run, true);
      expect(await executionsOf(run)).toEqual(['begin', 'work', 'rollback: CancelledError']);
      expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted', values: { begun: true } });
      expect((await client.threads.getState(thread)).next).toEqual(['work']);
    });

    it('commit it when they ask', async () => {
      const [thread, run] = await start('ask');
      await client.runs.join(thread, run);
      expect(await executionsOf(run)).toEqual(['begin', 'commit']);
      expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted', values: { begun: true } });
      const { run_id: answered } = await client.runs.create(thread, 'job', { command: { resume: 'yes' } });
      await client.runs.join(thread, answered);
      expect(await executionsOf(answered)).toEqual(['commit']);
    });
  });

  it('keep notes in the store of their tenant', async () => {
    const thread = await newThread();
    expect(await client.runs.wait(thread, 'notes', { input: { note: 'milk' } })).toMatchObject({ found: ['milk'] });
    expect((await client.store.getItem(['notes'], 'milk'))?.value).toEqual({ text: 'milk' });
  });

  it('keep values in the store as JSON, and none of which it would change the numbers', async () => {
    const kept = { scores: { 1: 2, null: 3 }, pair: [2 ** 53 - 1, 0.5] };
    expect(await client.runs.wait(null, 'odd', { input: { how: 'keep numbers' } })).toMatchObject({ value: kept });
    expect((await client.store.getItem(['odd'], 'scores'))?.value).toEqual(kept);
    await expect(client.runs.wait(null, 'odd', { input: { how: 'keep large numbers' } })).rejects.toThrow(
      "The store can't keep this value: Integer exceeds 53-bit range. Keep it as a str",
    );
    expect(await client.store.getItem(['odd'], 'large')).toBeNull();
  });

  it('refresh no item by reading it where the deployment says so', async () => {
    await client.store.putItem(['notes'], 'tea', { text: 'tea' }, { ttl: 60 });
    const soon = `UPDATE ${CHECKPOINT_SCHEMA}.store SET expires_at = now() + interval '10 minutes' WHERE key = 'tea' RETURNING expires_at`;
    const [{ expires_at: before }] = (await gantry.sql.query<{ expires_at: Date }>(soon)).rows;
    await client.runs.wait(null, 'notes', { input: { note: 'eggs' } });
    const read = `SELECT expires_at FROM ${CHECKPOINT_SCHEMA}.store WHERE key = 'tea'`;
    expect((await gantry.sql.query(read)).rows).toEqual([{ expires_at: before }]);
  });

  it('stream tokens as content blocks over the event protocol', async () => {
    const thread = await newThread();
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${gantry.url}/threads/${thread}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const input = say('call get_weather {"city": "Bern"}');
    const reply = await post('/commands', { id: 1, method: 'run.start', params: { assistant_id: 'agent', input } });
    expect(reply.status).toBe(200);
    const stream = await SseReader.post(`${gantry.url}/threads/${thread}/stream/events`, {
      channels: ['messages', 'values', 'checkpoints', 'lifecycle'],
    });
    const events = (
      await stream.until(({ data }) => {
        const { method, params } = data as ProtocolEvent;
        return method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running';
      })
    ).map(({ data }) => data as ProtocolEvent);
    await stream.close();
    expect(events.at(-1)!.params.data.event).toBe('completed');
    const text = events
      .filter(({ method, params }) => method === 'messages' && params.data.event === 'content-block-delta')
      .map(({ params }) => (params.data.delta as { text?: string }).text ?? '');
    expect(text.join('')).toContain('The tool says: Sunny in Bern');
    expect(text.length).toBeGreaterThan(3);
    const states = events.filter(({ method }) => method === 'values');
    expect(lastOf(states.at(-1)!.params.data).content).toMatchObject([{ text: 'The tool says: Sunny in Bern' }]);
  });

  it('have channels of their own stream transformers over the event protocol, which may change what is emitted', async () => {
    const thread = client.threads.stream({ assistantId: 'channels' });
    const read = async (channel: string): Promise<unknown[]> => {
      const emitted: unknown[] = [];
      for await (const each of thread.extensions[channel] as AsyncIterable<unknown>) emitted.push(each);
      return emitted;
    };
    await thread.run.start({ input: {} });
    const reading = Promise.all([read('steps'), read('redacted')]);
    expect(await thread.output).toEqual({ said: 'done' });
    await thread.close();
    expect(await reading).toEqual([['say', 'end'], [1]]);
    const stream = await SseReader.post(`${gantry.url}/threads/${thread.threadId}/stream/events`, {
      channels: ['custom', 'lifecycle'],
    });
    const events = await stream.until(({ data }) => (data as ProtocolEvent).params.data.event === 'completed');
    await stream.close();
    const custom = events.map(({ data }) => data as ProtocolEvent).filter(({ method }) => method === 'custom');
    const written = custom.map(({ params }) => params.data.payload).filter((each) => typeof each === 'string');
    expect(written).toEqual(expect.arrayContaining(['a ***']));
    expect(JSON.stringify(events)).not.toMatch(/secret|noise/);
  });

  describe('on a thread whose state the other language wrote', () => {
    let javascript: string;
    let python: string;

    beforeAll(async () => {
      [javascript, python] = [await newThread(), await newThread()];
      await client.runs.wait(javascript, 'script', { input: { said: 'x' } });
      await client.runs.wait(python, 'questions', { input: {} });
    });

    const refusal = (thread: string, language: string): object => ({
      status: 422,
      message: expect.stringContaining(`Thread ${thread} has the state of a graph in ${language}`) as string,
    });

    it('are refused before there is a run', async () => {
      await expect(client.runs.create(javascript, 'questions', { input: {} })).rejects.toMatchObject(
        refusal(javascript, 'JavaScript'),
      );
      await expect(client.runs.wait(python, 'script', { input: {} })).rejects.toMatchObject(refusal(python, 'Python'));
      expect(await client.runs.list(python)).toHaveLength(1);
      expect(await client.threads.get(javascript)).toMatchObject({
        status: 'idle',
        values: { said: 'from JavaScript' },
        metadata: { graph_id: 'script' },
      });
    });

    it('are refused in a run that is queued', async () => {
      const thread = await newThread();
      await client.runs.create(thread, 'script', { input: {}, afterSeconds: 3600 });
      await expect(client.runs.create(thread, 'questions', { input: {} })).rejects.toMatchObject(
        refusal(thread, 'JavaScript'),
      );
    });

    it('are refused as crons, and by A2A and the event protocol', async () => {
      const cron = { schedule: '0 0 1 1 *', input: {} };
      await expect(client.crons.createForThread(javascript, 'questions', cron)).rejects.toMatchObject(
        refusal(javascript, 'JavaScript'),
      );
      const ask = async (path: string, body: object): Promise<string> => {
        const reply = await fetch(gantry.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return reply.text();
      };
      const message = { role: 'user', kind: 'message', messageId: '1', parts: [{ kind: 'text', text: 'hello' }] };
      const task = { jsonrpc: '2.0', id: 1, method: 'message/send' };
      expect(
        await ask('/a2a/agent', { ...task, params: { message: { ...message, contextId: javascript } } }),
      ).toContain('has the state of a graph in JavaScript');
      const start = { id: 1, method: 'run.start', params: { assistant_id: 'questions', input: {} } };
      expect(await ask(`/threads/${javascript}/commands`, start)).toContain('has the state of a graph in JavaScript');
    });
  });

  it('keep JSON that names classes as JSON, in inputs, edits, answers and items', async () => {
    const inert = ['NoneType', 'bool', 'dict', 'float', 'int', 'list', 'str'];
    const isInert = (state: unknown): void => {
      const { seen } = state as { seen: string[] };
      expect(seen.filter((name) => !inert.includes(name))).toEqual([]);
      expect(seen).toContain('dict');
    };
    const [thread, asked] = [await newThread(), await newThread()];
    const { thread_id: edited } = await client.threads.create({ graphId: 'odd' });
    const given = await client.runs.wait(thread, 'odd', { input: { value: RECORDS } });
    expect(given).toMatchObject({ value: RECORDS });
    isInert(given);
    isInert(await client.runs.wait(thread, 'odd', { input: { how: 'again' } }));
    await client.threads.updateState(edited, { values: { value: RECORDS }, asNode: 'make' });
    expect((await client.threads.getState<{ value: unknown }>(edited)).values.value).toEqual(RECORDS);
    isInert(await client.runs.wait(edited, 'odd', { input: null }));
    await client.runs.wait(asked, 'odd', { input: { how: 'question' } });
    isInert(await client.runs.wait(asked, 'odd', { command: { resume: RECORDS } }));
  });

  it.each([
    ['return', 'UnstorableValue', 'without halves of surrogate pairs'],
    ['ask', 'UnstorableValue', 'without halves of surrogate pairs'],
    ['throw', 'ValueError', 'a\ufffdb\ufffdc'],
  ])('end once, with an error, where they %s what no table can hold', async (how, error, message) => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'odd', { input: { how }, streamMode: MODES });
    await client.runs.join(thread, run);
    const { rows } = await gantry.sql.query('SELECT status, attempt FROM runs WHERE run_id = $1', [run]);
    expect(rows).toEqual([{ status: 'error', attempt: 1 }]);
    const shown = (await client.threads.get(thread)).error;
    expect(shown).toMatchObject({ error, message: expect.stringContaining(message) as string });
    expect((await client.threads.getState(thread)).next).toEqual(['make']);
  });

  it('emit a deep value as far as the API takes values, and end once with a deep state', async () => {
    const streamMode = ['custom', 'values'] as const;
    const events: string[] = [];
    for await (const { event, data } of client.runs.stream(null, 'odd', {
      input: { how: 'deep event' },
      streamMode: [...streamMode],
    })) {
      events.push(`${event} ${JSON.stringify(data)}`);
    }
    expect(events.filter((each) => each.startsWith('error'))).toEqual([]);
    expect(events.find((each) => each.startsWith('custom'))).toContain('"[Too deep]"');
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'odd', {
      input: { how: 'deep state' },
      streamMode: MODES,
    });
    await client.runs.join(thread, run);
    const { rows } = await gantry.sql.query('SELECT status, attempt FROM runs WHERE run_id = $1', [run]);
    expect(rows).toEqual([{ status: 'error', attempt: 1 }]);
    expect((await client.threads.getState(thread)).next).toEqual(['make']);
  });

  it.each([
    [['mail'], { error: 'ConnectionError', message: 'mail is gone' }],
    [
      ['mail', 'post'],
      {
        error: 'ExceptionGroup',
        message:
          'unhandled errors in a TaskGroup (2 sub-exceptions): ConnectionError: mail is gone; ConnectionError: post is gone',
      },
    ],
  ])('name the errors that a TaskGroup has collected: %j', async (value, error) => {
    const thread = await newThread();
    const events: { event: string; data: unknown }[] = [];
    const input = { how: 'lose together', value };
    for await (const event of client.runs.stream(thread, 'odd', { input, streamMode: 'tasks' })) events.push(event);
    expect(events.at(-1)).toMatchObject({ event: 'error', data: error });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'error', error });
    const [task] = (await client.threads.getState(thread)).tasks;
    expect(task.error).toContain(`${error.error}(`);
    for (const name of value) expect(task.error).toContain(`ConnectionError('${name} is gone')`);
  });

  it('end with an error where a state is too large to be read from them', async () => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'odd', { input: { how: 'large' } });
    await client.runs.join(thread, run);
    const { rows } = await gantry.sql.query('SELECT attempt, error FROM runs WHERE run_id = $1', [run]);
    expect(rows).toMatchObject([{ attempt: 1, error: { error: 'MessageTooLarge' } }]);
    await expect(client.threads.getState(thread)).rejects.toThrow('GANTRY_GRAPH_VALUE_LIMIT_BYTES');
  });

  it('get no more memory than a process may have, and others continue', async () => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'odd', { input: { how: 'hoard' } });
    await client.runs.join(thread, run);
    const { rows } = await gantry.sql.query('SELECT attempt, error FROM runs WHERE run_id = $1', [run]);
    expect(rows).toMatchObject([{ attempt: 1, error: { error: 'MemoryError' } }]);
    expect(lastOf(await client.runs.wait(null, 'agent', { input: say('hello') })).content).toBe('You said: hello');
  });

  it('are traced, and show no header of the request in streams, traces and states', async () => {
    const canary = 'canary-7f3a';
    const withHeader = gantry.client({ headers: { 'x-canary': canary } });
    const thread = await newThread();
    const seen: string[] = [];
    const metadata: object[] = [];
    for await (const part of withHeader.runs.stream(thread, 'agent', { input: say('hello'), streamMode: MODES })) {
      seen.push(JSON.stringify(part));
      if (part.event === 'events') metadata.push((part.data as unknown as { metadata: object }).metadata);
      if (part.event === 'messages') metadata.push((part.data as unknown as object[])[1]);
    }
    // What the tracer notes about a model's call is part of the trace alone.
    expect(metadata.filter((each) => 'usage_metadata' in each)).toEqual([]);
    const trace = await waitFor('the trace', async () => {
      const { rows } = await gantry.sql.query<{ run: string }>(
        `SELECT to_jsonb(t)::text AS run FROM trace_runs t
         WHERE trace_id IN (SELECT trace_id FROM trace_runs WHERE to_jsonb(trace_runs)::text LIKE '%' || $1 || '%')`,
        [thread],
      );
      return (
        rows.length > 1 && rows.every(({ run }) => !run.includes('"end_time": null')) && rows.map(({ run }) => run)
      );
    });
    expect(trace.some((run) => run.includes('You said: hello'))).toBe(true);
    const states = JSON.stringify(await client.threads.getHistory(thread));
    expect([...seen, ...trace, states].filter((text) => text.includes(canary))).toEqual([]);
  });

  it('are run by crons, and reported to webhooks when they end', async () => {
    const receiver = await new WebhookReceiver().start();
    const thread = await newThread();
    const { cron_id: cron } = await client.crons.createForThread(thread, 'agent', {
      schedule: '* * * * * *',
      input: say('wake up'),
      webhook: receiver.url(),
      multitaskStrategy: 'enqueue',
    });
    try {
      const ended = await waitFor('a run of the cron', async () =>
        (await client.runs.list(thread)).find(({ status }) => status === 'success'),
      );
      expect(ended.metadata).toMatchObject({ cron_id: cron });
      const delivered = await waitFor('its webhook', () =>
        receiver.received
          .map(({ body }) => JSON.parse(body) as { run_id: string; values: State })
          .find(({ run_id }) => run_id === ended.run_id),
      );
      expect(delivered).toMatchObject({ status: 'success', thread_id: thread });
      expect(lastOf(delivered.values).content).toBe('You said: wake up');
    } finally {
      await client.crons.delete(cron);
      await receiver.stop();
    }
  });

  it('call the API without a URL', async () => {
    expect(await client.runs.wait(null, 'caller', { input: {} })).toEqual({ said: 'there True' });
  });

  it('give tools the store by InjectedStore', async () => {
    const done = await client.runs.wait(null, 'injected', { input: say('bread') });
    expect(lastOf(done)).toMatchObject({ type: 'tool', content: "Kept ['bread']" });
    expect((await client.store.getItem(['kept'], 'bread'))?.value).toEqual({ text: 'bread' });
  });

  it('receive asyncio.CancelledError in an async node when a client cancels them', async () => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'cancelled', { input: {} });
    const nodesOf = async (): Promise<string[]> => (await gantry.ledger.of(run)).map(({ node }) => node);
    await waitFor('the node', async () => (await nodesOf()).length > 0);
    await client.runs.cancel(thread, run, true);
    await waitFor('the CancelledError', async () => (await nodesOf()).includes('CancelledError'));
    expect((await client.runs.get(thread, run)).status).toBe('interrupted');
  });

  it('run many blocking nodes of a process at once', async () => {
    const met = await Promise.all(
      Array.from({ length: 20 }, () => client.runs.wait(null, 'together', { input: say('hello') })),
    );
    expect(met.map((state) => lastOf(state).content)).toEqual(Array(20).fill('Met'));
  });

  it('end when a client cancels them', async () => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'ten', { input: { step_ms: 60_000 } });
    await waitFor('the first node', async () => (await gantry.ledger.of(run)).length > 0);
    await client.runs.cancel(thread, run, true);
    expect((await client.runs.get(thread, run)).status).toBe('interrupted');
    expect((await client.threads.getState(thread)).next).toEqual(['node_1']);
  });

  it('are attempted again while their connections lead to a server that takes no writes', async () => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'ten', { input: { step_ms: 200 } });
    await waitFor('the second node', async () => (await gantry.ledger.of(run)).length > 1);
    const { rows: logins } = await gantry.sql.query<{ role: string }>('SELECT role FROM graph_login');
    // Only theirs, as after a failover that the worker's own connections have followed already.
    await gantry.sql.query(`ALTER ROLE ${logins[0].role} SET default_transaction_read_only = on`);
    try {
      await gantry.sql.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`, [
        logins[0].role,
      ]);
      const attempts = 'SELECT FROM runs WHERE run_id = $1 AND attempt > 2';
      await waitFor('a third attempt', async () => (await gantry.sql.query(attempts, [run])).rowCount === 1);
    } finally {
      await gantry.sql.query(`ALTER ROLE ${logins[0].role} RESET default_transaction_read_only`);
    }
    await client.runs.join(thread, run);
    expect((await client.runs.get(thread, run)).status).toBe('success');
  });

  describe('threads', () => describeDeltaThreads(() => gantry));
});
