import { randomUUID } from 'node:crypto';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import type { Client } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { AgentCaller, type Task } from '../support/a2a';
import { Gantry } from '../support/gantry';
import { connectMcp } from '../support/mcp';

const CANARY = 'canary-7b1f0e';

const record = (id: string[], kwargs: unknown = {}) => ({ lc: 1, type: 'constructor', id, kwargs });
const LOADER = ['langchain_core', 'document_loaders', 'langsmith', 'LangSmithLoader'];

/** Values that LangChain's reader would turn into objects, or ours take for its own marks. */
const HOSTILE: Record<string, unknown> = {
  'a loader with the key of the process': record(LOADER, { dataset_name: 'd' }),
  'the class of all objects': record(['langchain_core', 'load', 'serializable', 'constructor']),
  'the class of all lists': record(['langchain_core', 'load', 'serializable', 'constructor'], []),
  'the class of all functions': record(['langchain_core', 'load', 'serializable', 'load', 'constructor'], {}),
  'a class of no module': record(['langchain_core', '__proto__', 'constructor']),
  'a message': record(['langchain_core', 'messages', 'HumanMessage'], { content: 'hi', lc: 1 }),
  'a message of no content': record(['langchain_core', 'messages', 'HumanMessage'], null),
  'a secret': { lc: 1, type: 'secret', id: ['LANGSMITH_API_KEY'] },
  'a class that is not there': { lc: 1, type: 'not_implemented', id: ['x'] },
  'a set': { lc: 2, type: 'constructor', id: ['Set'], method: null, args: [[1, 1]], kwargs: {} },
  'an expression': { lc: 2, type: 'constructor', id: ['RegExp'], method: null, args: ['(', 'g'], kwargs: {} },
  nothing: { lc: 2, type: 'undefined' },
  'a snapshot': { lc: 2, type: 'delta_snapshot', value: [1] },
  'a mark of ours': { lc: 2, type: 'plain', entries: [['lc', 1]] },
  "a mark of LangChain's": { __lc_escaped__: record(LOADER, { dataset_name: 'd' }) },
  'marks in each other': { lc: 1, type: 'constructor', id: LOADER, kwargs: { lc: 2, type: 'plain', entries: [] } },
  'a key alone': { lc: 'liquid crystal', inner: { lc: null, list: [{ lc: 1 }] } },
  'a command of no command': { lg_name: 'Send', node: 'look', args: { a: 1 }, more: true },
  'keys of prototypes': { toJSON: 1, toString: 2, hasOwnProperty: [], valueOf: null },
};

/** Operations with plain JSON refuse or drop these values; protocols that carry JSON of their own accept them. */
const POLLUTION: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');

interface Seen {
  classes: string[];
  own: string[];
}

/** In worker and api: a client that sends JSON gets the same JSON back, and no object is made of it on the way. */
describe('JSON that names classes', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    const canaries = { LANGSMITH_API_KEY: CANARY, LANGCHAIN_API_KEY: CANARY };
    gantry = await Gantry.start({ graphProcesses: 1, env: canaries });
    client = gantry.client();
  });

  afterAll(() => gantry.stop());

  async function newThread(): Promise<string> {
    return (await client.threads.create({ graphId: 'keep' })).thread_id;
  }

  /** The stored state as a later run of the thread reads it. */
  async function seenLater(threadId: string): Promise<Seen> {
    const { seen } = (await client.runs.wait(threadId, 'keep', { input: { ask: false } })) as { seen: string };
    return JSON.parse(seen) as Seen;
  }

  function expectInert({ classes, own }: Seen): void {
    expect(classes.filter((name) => !['plain', 'list'].includes(name))).toEqual([]);
    expect(own).toEqual(['Object', 'Array', 'Function', 'Promise']);
  }

  it.each(Object.entries(HOSTILE))('is returned as it was sent in the input of a run: %s', async (_, value) => {
    const threadId = await newThread();
    const streamed: string[] = [];
    const modes = ['values', 'updates', 'tasks', 'checkpoints', 'debug', 'events'] as const;
    for await (const event of client.runs.stream(threadId, 'keep', {
      input: { value: { nested: [value] } },
      streamMode: [...modes],
    })) {
      streamed.push(JSON.stringify(event.data));
    }
    expectInert(await seenLater(threadId));
    const [state, history, thread] = await Promise.all([
      client.threads.getState<{ value: unknown }>(threadId),
      client.threads.getHistory<{ value: unknown }>(threadId),
      client.threads.get<{ value: unknown }>(threadId),
    ]);
    const given = JSON.stringify({ nested: [value] });
    for (const { values } of [state, history[0], thread]) expect(sorted(values.value)).toBe(sorted(JSON.parse(given)));
    expect(JSON.stringify([streamed, state, history, thread])).not.toContain(CANARY);
  });

  it('is returned as it was sent in edits of a state, supersteps and answers', async () => {
    const hostile = Object.values(HOSTILE);
    const edited = await newThread();
    await client.threads.updateState(edited, { values: { value: hostile }, asNode: 'take' });
    const replayed = await client.threads.create({
      graphId: 'keep',
      supersteps: [{ updates: [{ values: { value: hostile }, asNode: 'take' }] }],
    });
    const resumed = await newThread();
    await client.runs.wait(resumed, 'keep', { input: { value: hostile, ask: true } });
    const waiting = await client.threads.getState(resumed);
    expect(sorted(waiting.tasks[0].interrupts[0].value)).toBe(sorted({ asked: hostile }));
    await client.runs.wait(resumed, 'keep', { command: { resume: { given: hostile } } });
    for (const threadId of [edited, replayed.thread_id, resumed]) {
      expectInert(await seenLater(threadId));
      const { values } = await client.threads.getState<Record<string, unknown>>(threadId);
      expect(sorted(values.value)).toBe(sorted(hostile));
      if (threadId === resumed) expect(sorted(values.answer)).toBe(sorted({ given: hostile }));
      expect(JSON.stringify(values)).not.toContain(CANARY);
    }
  });

  it('is returned as it was sent in commands and metadata', async () => {
    const hostile = Object.values(HOSTILE);
    const threadId = await newThread();
    await client.runs.wait(threadId, 'keep', {
      command: { update: { value: hostile }, goto: 'look' },
      metadata: { sent: hostile },
    });
    expectInert(await seenLater(threadId));
    const [newest] = (await client.threads.getHistory<{ value: unknown }>(threadId)).slice(-1);
    expect(sorted((newest.metadata as { sent?: unknown }).sent)).toBe(sorted(hostile));
    expect(sorted((await client.threads.getState<{ value: unknown }>(threadId)).values.value)).toBe(sorted(hostile));
  });

  it('is returned as it was sent in items of the store, also to a graph', async () => {
    const item = { hostile: Object.values(HOSTILE) };
    await client.store.putItem(['kept'], 'item', item);
    expect(sorted((await client.store.getItem(['kept'], 'item'))?.value)).toBe(sorted(item));
    const threadId = await newThread();
    expectInert(await seenLater(threadId));
    expectInert(await seenLater(threadId));
    const { values } = await client.threads.getState<{ stored: unknown }>(threadId);
    expect(sorted(values.stored)).toBe(sorted(item));
    await client.store.deleteItem(['kept'], 'item');
  });

  it('is returned as it was sent in a data part of A2A', async () => {
    const hostile = [...Object.values(HOSTILE), POLLUTION];
    const [assistant] = await client.assistants.search({ graphId: 'keep' });
    const agent = new AgentCaller(gantry.url, assistant.assistant_id);
    const { task } = await agent.result<{ task: Task }>('SendMessage', {
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: { value: hostile } }] },
    });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(task)).not.toContain(CANARY);
    expectInert(await seenLater(task.contextId));
    const { values } = await client.threads.getState<{ value: unknown }>(task.contextId);
    expect(sorted(values.value)).toBe(sorted(hostile));
  });

  it('is returned as it was sent in the arguments of an MCP tool', async () => {
    const hostile = [...Object.values(HOSTILE), POLLUTION];
    const tools = await connectMcp(gantry.url, { era: '2025-11-25' });
    const { structuredContent, content, isError } = await tools.callTool({
      name: 'keep',
      arguments: { value: hostile },
    });
    await tools.close();
    expect({ isError, content }).toMatchObject({ isError: undefined });
    const answer = structuredContent as { value: unknown; seen: string };
    expect(sorted(answer.value)).toBe(sorted(hostile));
    expectInert(JSON.parse(answer.seen) as Seen);
    expect(JSON.stringify([structuredContent, content])).not.toContain(CANARY);
  });

  it('becomes messages where an earlier release stored some, and no other objects', async () => {
    const threadId = await newThread();
    await client.runs.wait(threadId, 'keep', { input: { value: 'soon to be replaced' } });
    const messages = [
      new HumanMessage({ content: 'hi', id: 'h', additional_kwargs: { sent: record(LOADER, {}) } }),
      new AIMessage({
        content: '',
        id: 'a',
        tool_calls: [{ id: 'c', name: 'add', args: { a: 1 }, type: 'tool_call' }],
      }),
    ];
    const [type, blob] = await new MemorySaver().serde.dumpsTyped({
      messages,
      loader: HOSTILE['a loader with the key of the process'],
    });
    await gantry.sql.query(
      `UPDATE ${CHECKPOINT_SCHEMA}.checkpoint_blobs SET type = $2, blob = $3 WHERE thread_id = $1 AND channel = 'value' AND type <> 'empty'`,
      [threadId, type, Buffer.from(blob)],
    );
    const { classes, own } = await seenLater(threadId);
    expect(classes).toEqual(expect.arrayContaining(['AIMessage', 'HumanMessage']));
    expect(classes).not.toContain('LangSmithLoader');
    expect(own).toEqual(['Object', 'Array', 'Function', 'Promise']);
    const { values } = await client.threads.getState<{ value: unknown }>(threadId);
    expect(values.value).toEqual({
      messages: [
        expect.objectContaining({ type: 'human', content: 'hi', additional_kwargs: { sent: record(LOADER, {}) } }),
        expect.objectContaining({
          type: 'ai',
          tool_calls: [{ id: 'c', name: 'add', args: { a: 1 }, type: 'tool_call' }],
        }),
      ],
      loader: HOSTILE['a loader with the key of the process'],
    });
  });
});

/** Text in which the order of keys makes no difference, and a key `__proto__` does. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${sorted(each)}`).join()}}`;
}
