import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { AGENT_MODES } from '../support/agent-app';
import { type Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { pythonForOlderGraphs } from '../support/python';
import { waitFor } from '../support/wait-for';

interface State {
  messages: { type: string; content: string }[];
}

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const say = (content: string) => ({ messages: [{ role: 'user', content }] });

/** A project whose environment has langgraph 0.6, as published templates still ask for. */
describe('graphs in Python with langgraph 0.6', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, 'project', 'older.json'),
      graphProcesses: 1,
      env: { GANTRY_PYTHON: pythonForOlderGraphs(), GANTRY_TRACING: 'on' },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  it('stream an agent of create_react_agent in every mode', async () => {
    const thread = await newThread();
    const seen = new Map<string, unknown[]>();
    const payload = { input: say('call get_weather {"city": "Bern"}'), streamMode: [...AGENT_MODES] };
    for await (const { event, data } of client.runs.stream(thread, 'agent', payload)) {
      seen.set(event, [...(seen.get(event) ?? []), data]);
    }
    expect(seen.get('error')).toBeUndefined();
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining([
        ...['metadata', 'values', 'updates', 'messages', 'messages/metadata', 'messages/partial', 'messages/complete'],
        ...['tasks', 'checkpoints', 'debug', 'events'],
      ]),
    );
    const { messages } = seen.get('values')!.at(-1) as State;
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(messages.at(-1)!.content).toBe('The tool says: Sunny in Bern');
  });

  it('show no header and no value of their configurable in streams, traces and states', async () => {
    const thread = await newThread();
    const withHeader = gantry.client({ headers: { 'x-canary': 'canary-header' } });
    const metadata = { project: 'shown by the request itself' };
    const payload = {
      input: say('hello'),
      config: { configurable: { ssn: 'canary-number', openai_api_key: 'canary-key', ...metadata } },
      metadata,
      streamMode: [...AGENT_MODES],
      streamSubgraphs: true,
    };
    const streamed = new Map<string, string[]>();
    for await (const { event, data } of withHeader.runs.stream(thread, 'canary', payload)) {
      const mode = event.split('|')[0];
      streamed.set(mode, [...(streamed.get(mode) ?? []), JSON.stringify(data)]);
    }
    const trace = await waitFor('the trace', async () => {
      const { rows } = await gantry.sql.query<{ run: string; ended: boolean }>(
        `SELECT to_jsonb(t)::text AS run, end_time IS NOT NULL AS ended FROM trace_runs t
         WHERE trace_id IN (SELECT trace_id FROM trace_runs WHERE to_jsonb(trace_runs)::text LIKE '%' || $1 || '%')`,
        [thread],
      );
      return rows.length > 5 && rows.every(({ ended }) => ended) && rows.map(({ run }) => run);
    });
    const states = JSON.stringify(await client.threads.getHistory(thread));
    expect([...streamed.values(), trace, states].flat().filter((text) => text.includes('canary-'))).toEqual([]);
    for (const shown of [
      streamed.get('messages')!,
      streamed.get('messages/metadata')!,
      streamed.get('events')!,
      trace,
    ]) {
      expect(shown.join()).toContain(metadata.project);
    }
  });

  it('ask a person and resume, and offer their states, edits and subgraphs', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'questions', { input: {} });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });
    const done = await client.runs.wait(thread, 'questions', { command: { resume: 42 } });
    expect(done).toEqual({ age: 42, greeting: 'Hello, you are 42' });
    const history = await client.threads.getHistory(thread);
    expect(history.map(({ next }) => next)).toEqual([[], ['inner'], ['ask'], ['__start__']]);
    const checkpointId = history[2].checkpoint.checkpoint_id!;
    await client.threads.updateState(thread, { values: { age: 7 }, asNode: 'ask', checkpointId });
    expect(await client.runs.wait(thread, 'questions', { input: null })).toMatchObject({
      greeting: 'Hello, you are 7',
    });
    expect(Object.keys(await client.assistants.getSubgraphs('questions'))).toEqual(['inner']);
  });

  it('read their context, keep notes in the store, and call the API without a URL', async () => {
    const context = { word: 'hello', unknown_to_the_graph: 1 };
    expect(await client.runs.wait(null, 'context', { input: {}, context })).toEqual({ said: 'hello' });
    const { context_schema: schema } = await client.assistants.getSchemas('context');
    expect(schema).toMatchObject({ properties: { word: { default: 'nothing' } } });
    expect(await client.runs.wait(await newThread(), 'notes', { input: { note: 'milk' } })).toMatchObject({
      found: ['milk'],
    });
    expect(await client.runs.wait(null, 'caller', { input: {} })).toEqual({ said: 'there' });
  });

  it('resume at the last checkpoint after SIGKILL of their process, and repeat no finished node', async () => {
    const thread = await newThread();
    const { run_id: run } = await client.runs.create(thread, 'ten', { input: { step_ms: 300 } });
    await waitFor('four nodes', async () => (await gantry.ledger.of(run)).length >= 4);
    for (const pid of graphProcessesOf(gantry.worker.pid)) process.kill(pid, 'SIGKILL');
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    const executions = await gantry.ledger.of(run);
    expect([...new Set(executions.map(({ node }) => node))]).toEqual(NODES);
    expect(executions.length).toBeLessThanOrEqual(NODES.length + 1);
    expect(new Set(executions.map(({ key }) => key)).size).toBe(NODES.length);
  });

  it('name the version that the event protocol needs', async () => {
    const thread = await newThread();
    const command = { id: 1, method: 'run.start', params: { assistant_id: 'agent', input: say('hello') } };
    const reply = await fetch(`${gantry.url}/threads/${thread}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(command),
    });
    expect(reply.status).toBe(200);
    const message = "The event protocol needs langgraph 1.2 or newer in the project's environment, which has 0.6.11";
    const [{ run_id: run }] = await client.runs.list(thread);
    expect(await client.runs.join(thread, run)).toMatchObject({
      __error__: { message: expect.stringContaining(message) as string },
    });
  });
});
