import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { describeInBothLanguages, EXAMPLES_IN_BOTH_LANGUAGES } from '../support/languages';
import { waitFor } from '../support/wait-for';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '7e4d2c3b-0000-4000-8000-000000000000';
const weather = { messages: [{ role: 'user', content: 'weather in Oslo' }] };

interface StreamPart {
  event: string;
  data: unknown;
  id?: string;
}

async function collect(stream: AsyncIterable<unknown>): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of stream) parts.push(part as StreamPart);
  return parts;
}

const namesOf = (parts: StreamPart[]): string[] => [...new Set(parts.map(({ event }) => event))];
const dataOf = <T>(parts: StreamPart[], event: string): T[] =>
  parts.filter((part) => part.event === event).map(({ data }) => data as T);

interface Message {
  type: string;
  content: string;
  id?: string;
}

/** The public JavaScript client against the examples, api and worker as processes. */
describe('JavaScript SDK', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: EXAMPLES_IN_BOTH_LANGUAGES });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  describe('assistants', () => {
    it('finds a default assistant for each graph', async () => {
      const assistants = await client.assistants.search({ limit: 10 });
      const graphs = ['agent', 'approval', 'pipeline'].flatMap((graph) => [graph, `${graph}_python`]);
      expect(assistants.map(({ graph_id }) => graph_id).sort()).toEqual(graphs);
      for (const assistant of assistants) {
        expect(assistant).toMatchObject({
          assistant_id: expect.stringMatching(UUID),
          version: 1,
          config: {},
          metadata: { created_by: 'system' },
        });
        expect(assistant.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
      }
    });

    it('gets one by id and by the name of its graph, with the same id as on every LangGraph server', async () => {
      const byName = await client.assistants.get('agent');
      expect(byName.assistant_id).toBe('fe096781-5601-53d2-b2f6-0d3403f7e9ca');
      expect(await client.assistants.get(byName.assistant_id)).toEqual(byName);
    });

    it('answers 404 with a plain string for one that does not exist', async () => {
      const response = await fetch(`${gantry.url}/assistants/${UNKNOWN_ID}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(await response.text()).toBe('Assistant not found');
      await expect(client.assistants.get(UNKNOWN_ID)).rejects.toThrow(/404/);
    });
  });

  it('creates a thread in the shape of the contract', async () => {
    const thread = await client.threads.create();
    expect(thread).toMatchObject({
      thread_id: expect.stringMatching(UUID),
      status: 'idle',
      metadata: {},
      values: null,
    });
    expect(await client.threads.get(thread.thread_id)).toEqual(thread);
  });

  describeInBothLanguages('with graphs in $language', ({ named }) => {
    const [agent, approval, pipeline] = ['agent', 'approval', 'pipeline'].map(named);

    it('draws the graph of one', async () => {
      const graph = await client.assistants.getGraph(approval);
      expect(graph.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['prepare', 'review', 'pay', 'drop']));
    });

    describe('streams', () => {
      it('streams `updates`: one event per node, after the metadata', async () => {
        const { thread_id } = await client.threads.create();
        const parts = await collect(client.runs.stream(thread_id, agent, { input: weather, streamMode: 'updates' }));
        expect(parts[0]).toMatchObject({
          event: 'metadata',
          data: { run_id: expect.stringMatching(UUID), attempt: 1 },
        });
        expect(namesOf(parts)).toEqual(['metadata', 'updates']);
        const nodes = dataOf<Record<string, unknown>>(parts, 'updates').flatMap(Object.keys);
        expect(nodes.length).toBeGreaterThanOrEqual(3);
        expect(nodes).toEqual(expect.arrayContaining(['tools']));
      });

      it('streams `messages`: the answer grows token by token and ends complete', async () => {
        const { thread_id } = await client.threads.create();
        const parts = await collect(client.runs.stream(thread_id, agent, { input: weather, streamMode: 'messages' }));
        expect(namesOf(parts)).toEqual(
          expect.arrayContaining(['metadata', 'messages/metadata', 'messages/partial', 'messages/complete']),
        );
        const partials = dataOf<Message[]>(parts, 'messages/partial').map(([message]) => message);
        const answers = partials.filter(({ content }) => content.startsWith('Here'));
        expect(answers.length).toBeGreaterThan(5);
        for (let index = 1; index < answers.length; index += 1) {
          expect(answers[index].content.startsWith(answers[index - 1].content)).toBe(true);
        }
        const complete = dataOf<Message[]>(parts, 'messages/complete').flat();
        expect(complete.at(-1)).toMatchObject({ type: 'ai', content: answers.at(-1)!.content });
      });

      it('streams `messages-tuple`: each token with the metadata of its node', async () => {
        const { thread_id } = await client.threads.create();
        const parts = await collect(
          client.runs.stream(thread_id, agent, { input: weather, streamMode: 'messages-tuple' }),
        );
        expect(namesOf(parts)).toEqual(['metadata', 'messages']);
        const tuples = dataOf<[Message, Record<string, unknown>]>(parts, 'messages');
        const chunks = tuples.filter(([message]) => message.type === 'AIMessageChunk');
        expect(chunks.length).toBeGreaterThan(5);
        expect(chunks.at(-1)![1]).toMatchObject({ thread_id, langgraph_node: expect.any(String) });
      });

      it('streams `events` of the model and of the tool', async () => {
        const { thread_id } = await client.threads.create();
        const parts = await collect(client.runs.stream(thread_id, agent, { input: weather, streamMode: 'events' }));
        const kinds = new Set(dataOf<{ event: string }>(parts, 'events').map(({ event }) => event));
        expect([...kinds]).toEqual(
          expect.arrayContaining(['on_chain_start', 'on_chat_model_stream', 'on_tool_end', 'on_chain_end']),
        );
      });

      it('streams several modes at once, each complete', async () => {
        const { thread_id } = await client.threads.create();
        const parts = await collect(
          client.runs.stream(thread_id, agent, {
            input: weather,
            streamMode: ['values', 'updates', 'messages', 'events', 'tasks', 'checkpoints', 'debug'],
          }),
        );
        expect(namesOf(parts)).toEqual(
          expect.arrayContaining([
            'metadata',
            'values',
            'updates',
            'messages/partial',
            'messages/complete',
            'events',
            'tasks',
            'checkpoints',
            'debug',
          ]),
        );
        const last = dataOf<{ messages: Message[] }>(parts, 'values').at(-1)!;
        expect(last).toEqual((await client.threads.getState(thread_id)).values);
      });

      it('streams a stateless run', async () => {
        const parts = await collect(
          client.runs.stream(null, agent, {
            input: { messages: [{ role: 'human', content: '2 + 3' }] },
            streamMode: ['values', 'messages-tuple'],
          }),
        );
        const last = dataOf<{ messages: Message[] }>(parts, 'values').at(-1)!;
        expect(last.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
        expect(last.messages.at(-1)!.content).toContain('5');
      });
    });

    it('waits for a result, and reads the state afterwards', async () => {
      const { thread_id } = await client.threads.create();
      const result = (await client.runs.wait(thread_id, agent, { input: weather })) as { messages: Message[] };
      expect(result.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
      const state = await client.threads.getState<{ messages: Message[] }>(thread_id);
      expect(state.values).toEqual(result);
      expect(state).toMatchObject({
        next: [],
        tasks: [],
        checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: expect.any(String) },
      });
      expect(await client.threads.get(thread_id)).toMatchObject({ status: 'idle', values: result });
      const [run] = await client.runs.list(thread_id);
      expect(run).toMatchObject({ status: 'success', multitask_strategy: 'enqueue', kwargs: { input: weather } });
      const history = await client.threads.getHistory(thread_id);
      expect(history.length).toBeGreaterThanOrEqual(4);
      expect(history[0].checkpoint).toEqual(state.checkpoint);
    });

    it('continues the conversation on the same thread', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, agent, { input: weather });
      const input = { messages: [{ role: 'user', content: '20 + 22' }] };
      const result = (await client.runs.wait(thread_id, agent, { input })) as { messages: Message[] };
      expect(result.messages).toHaveLength(8);
      expect(result.messages.at(-1)!.content).toContain('42');
    });

    describe('human in the loop', () => {
      it.each([
        [true, 'paid $3', 'approved'],
        [false, 'dropped', 'rejected'],
      ])('waits at the interrupt and resumes when the answer is %s', async (answer, outcome, decision) => {
        const { thread_id } = await client.threads.create();
        const asked = (await client.runs.wait(thread_id, approval, { input: { amount: 3 } })) as Record<
          string,
          unknown
        >;
        expect(asked.__interrupt__).toEqual([
          expect.objectContaining({ value: { question: 'Approve this refund?', draft: 'Refund of $3' } }),
        ]);
        const waiting = await client.threads.get(thread_id);
        expect(waiting.status).toBe('interrupted');
        expect(Object.values(waiting.interrupts).flat()).toEqual(asked.__interrupt__);
        const state = await client.threads.getState(thread_id);
        expect(state.next).toEqual(['review']);
        expect(state.tasks[0].interrupts).toEqual(asked.__interrupt__);

        const result = await client.runs.wait(thread_id, approval, { command: { resume: answer } });
        expect(result).toEqual({ amount: 3, draft: 'Refund of $3', decision, outcome });
        const finished = await client.threads.get(thread_id);
        expect(finished).toMatchObject({ status: 'idle', interrupts: {} });
      });

      it('streams the interrupt', async () => {
        const { thread_id } = await client.threads.create();
        const parts = await collect(
          client.runs.stream(thread_id, approval, { input: { amount: 7 }, streamMode: ['values', 'updates'] }),
        );
        const update = dataOf<Record<string, unknown>>(parts, 'updates').find((data) => '__interrupt__' in data);
        expect(update!.__interrupt__).toEqual([
          expect.objectContaining({ value: { question: 'Approve this refund?', draft: 'Refund of $7' } }),
        ]);
      });

      it('accepts an edit of the state instead of an answer', async () => {
        const { thread_id } = await client.threads.create();
        await client.runs.wait(thread_id, approval, { input: { amount: 9 } });
        await client.threads.updateState(thread_id, { values: { decision: 'approved' }, asNode: 'prepare' });
        const state = await client.threads.getState<{ decision: string }>(thread_id);
        expect(state.values.decision).toBe('approved');
        expect(state.next).toEqual(['review']);
      });
    });

    describe('rejoining', () => {
      it('replays a finished run from the start with Last-Event-ID -1, as the SDK sends it, and ends', async () => {
        const { thread_id } = await client.threads.create();
        let runId = '';
        const live = await collect(
          client.runs.stream(thread_id, agent, {
            input: weather,
            streamMode: ['updates', 'messages-tuple'],
            streamResumable: true,
            onRunCreated: ({ run_id }) => (runId = run_id),
          }),
        );
        expect(runId).toMatch(UUID);
        const replayed = await collect(client.runs.joinStream(thread_id, runId, { lastEventId: '-1' }));
        expect(replayed).toEqual(live);
        expect(live.map(({ id }) => id)).toEqual(live.map((_, index) => String(index)));
      });

      it('resumes after the last received id, with the requested modes only', async () => {
        const { thread_id } = await client.threads.create();
        const live = await collect(
          client.runs.stream(thread_id, agent, { input: weather, streamMode: ['updates', 'messages-tuple'] }),
        );
        const { run_id } = live[0].data as { run_id: string };
        const rest = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: '4' }));
        expect(rest).toEqual(live.slice(5));
        const updates = await collect(
          client.runs.joinStream(thread_id, run_id, { lastEventId: '-1', streamMode: 'updates' }),
        );
        expect(namesOf(updates).filter((name) => name !== 'metadata')).toEqual(['updates']);
      });

      it('joins a run in the background while it runs', async () => {
        const { thread_id } = await client.threads.create();
        const { run_id } = await client.runs.create(thread_id, pipeline, {
          input: { step_ms: 300 },
          streamMode: 'updates',
        });
        const parts = await collect(client.runs.joinStream(thread_id, run_id));
        const done = dataOf<Record<string, { done: string[] }>>(parts, 'updates').flatMap(Object.keys);
        expect(done).toEqual(Array.from({ length: 10 }, (_, index) => `step_${index + 1}`));
        expect(await client.runs.join(thread_id, run_id)).toMatchObject({ done });
      });
    });

    it('creates, updates, finds, counts and deletes crons, and they run', async () => {
      const { thread_id } = await client.threads.create();
      const onThread = await client.crons.createForThread(thread_id, agent, {
        schedule: '* * * * * *',
        input: weather,
        metadata: { suite: 'js' },
        multitaskStrategy: 'enqueue',
      });
      const stateless = await client.crons.create(agent, {
        schedule: '0 9 * * mon-fri',
        timezone: 'Europe/Berlin',
        input: weather,
        metadata: { suite: 'js' },
        onRunCompleted: 'keep',
        enabled: false,
      });
      expect(onThread).toMatchObject({ cron_id: expect.stringMatching(UUID), thread_id });
      expect(stateless).toMatchObject({ thread_id: null, enabled: false, next_run_date: null });
      expect(await client.crons.count({ metadata: { suite: 'js' } })).toBe(2);
      const updated = await client.crons.update(stateless.cron_id, { enabled: true, schedule: '0 10 * * *' });
      expect(updated).toMatchObject({ enabled: true, schedule: '0 10 * * *', timezone: 'Europe/Berlin' });
      expect(Date.parse(updated.next_run_date!)).toBeGreaterThan(Date.now());
      const found = await client.crons.search({ metadata: { suite: 'js' }, sortBy: 'next_run_date', sortOrder: 'asc' });
      expect(found.map(({ cron_id }) => cron_id)).toEqual([onThread.cron_id, stateless.cron_id]);
      const ended = await waitFor('a run on the thread', async () =>
        (await client.runs.list(thread_id)).find(({ status }) => status === 'success'),
      );
      expect(ended.metadata).toMatchObject({ suite: 'js', cron_id: onThread.cron_id });
      expect((await client.threads.getState(thread_id)).values).toHaveProperty('messages');
      await client.crons.delete(onThread.cron_id);
      await client.crons.delete(stateless.cron_id);
      expect(await client.crons.search({ metadata: { suite: 'js' } })).toEqual([]);
    });
  });

  it('reports an invalid schedule of a cron with the position of the error', async () => {
    await expect(client.crons.create('agent', { schedule: '0 25 * * *' })).rejects.toThrow(/422.*position 2/s);
  });

  describe('custom assistants', () => {
    it('keep a version for each change and can go back', async () => {
      const created = await client.assistants.create({
        graphId: 'agent',
        name: 'Weather desk',
        metadata: { team: 'support' },
        config: { recursion_limit: 30 },
      });
      const changed = await client.assistants.update(created.assistant_id, { name: 'Weather desk 2' });
      expect(changed).toMatchObject({ version: 2, name: 'Weather desk 2', metadata: { team: 'support' } });
      expect(await client.assistants.getVersions(created.assistant_id)).toHaveLength(2);
      expect(await client.assistants.setLatest(created.assistant_id, 1)).toMatchObject({ name: 'Weather desk' });
      expect(await client.assistants.search({ metadata: { team: 'support' } })).toHaveLength(1);
      const result = await client.runs.wait(null, created.assistant_id, { input: weather });
      expect(result).toHaveProperty('messages');
      await client.assistants.delete(created.assistant_id);
      await expect(client.assistants.get(created.assistant_id)).rejects.toThrow(/404/);
    });
  });

  it('leaves no traces with GANTRY_TRACING=off', async () => {
    const { rows } = await gantry.sql.query('SELECT count(*)::int AS runs FROM trace_runs');
    expect(rows).toEqual([{ runs: 0 }]);
  });
});
