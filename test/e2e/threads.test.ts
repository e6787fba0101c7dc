import { randomUUID } from 'node:crypto';
import type { Client, Thread } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { waitFor } from '../support/wait-for';

const UNKNOWN_ID = '7e4d2c3b-0000-4000-8000-000000000000';

interface Path {
  path: string[];
}

/** Threads as in the reference API, through the public client and, for what the client hides, on the wire. */
describeLanguages('threads with graphs in $language', ({ language, shapes }) => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: shapes });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gantry.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  describe('created from supersteps', () => {
    const add = (item: number) => ({ values: { path: [`add ${item}`], total: item }, asNode: 'add' });

    it('have the states that they had elsewhere, and continue from them', async () => {
      const thread = await client.threads.create({
        graphId: 'routed',
        supersteps: [
          { updates: [{ values: { items: [1, 2] }, asNode: '__input__' }] },
          {
            updates: [
              {
                values: null,
                command: { update: { path: ['decide'] }, goto: { node: 'add', input: { item: 1 } } },
                asNode: 'decide',
              },
            ],
          },
          { updates: [add(1), add(2)] },
        ],
      });
      expect(thread).toMatchObject({ status: 'idle', metadata: { graph_id: 'routed' } });
      expect(thread.values).toMatchObject({ path: ['decide', 'add 1', 'add 2'], total: 3 });
      expect(await client.threads.getHistory(thread.thread_id)).toHaveLength(3);
      const went = (await client.runs.wait(thread.thread_id, 'routed', { input: { items: [4] } })) as unknown as Path;
      expect(went).toMatchObject({ path: ['decide', 'add 1', 'add 2', 'decide', 'add 4'], total: 7 });
    });

    it('may end between nodes: then the thread waits', async () => {
      const thread = await client.threads.create({
        graphId: 'three',
        supersteps: [
          { updates: [{ values: { step_ms: 0 }, asNode: '__input__' }] },
          { updates: [{ values: { done: ['node_1'] }, asNode: 'node_1' }] },
        ],
      });
      expect(thread.status).toBe('interrupted');
      expect((await client.threads.getState(thread.thread_id)).next).toEqual(['node_2']);
      expect(await client.runs.wait(thread.thread_id, 'three', { input: null })).toMatchObject({
        done: ['node_1', 'node_2', 'node_3'],
      });
    });

    it('are a 400 and no thread when the graph refuses them, or when there is no graph', async () => {
      const thread_id = '0199aaaa-0000-7000-8000-000000000002';
      const supersteps = [{ updates: [{ values: { path: [] }, as_node: 'nobody' }] }];
      const refused = await post('/threads', { thread_id, metadata: { graph_id: 'routed' }, supersteps });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('nobody') });
      expect((await fetch(`${gantry.url}/threads/${thread_id}`)).status).toBe(404);
      expect((await post('/threads', { thread_id, supersteps })).status).toBe(400);
      const nameless = { metadata: { graph_id: 'routed' }, supersteps: [{ updates: [{ values: {} }] }] };
      expect((await post('/threads', nameless)).status).toBe(422);
    });
  });

  describe('searching', () => {
    let threads: Thread[];
    let unused: Thread;
    const kind = randomUUID();

    beforeAll(async () => {
      threads = [];
      unused = await client.threads.create();
      for (const items of [[1], [2, 3], []]) {
        const thread = await client.threads.create({ metadata: { search: { of: kind, n: items.length } } });
        if (items.length > 0) await client.runs.wait(thread.thread_id, 'routed', { input: { items } });
        threads.push(await client.threads.get(thread.thread_id));
      }
    });

    const ids = (found: Thread[]): string[] => found.map(({ thread_id }) => thread_id);
    const metadata = { search: { of: kind } } as never;

    it('finds by values, ids and status, and tolerates threads without values', async () => {
      expect(ids(await client.threads.search({ metadata, values: { total: 5 } }))).toEqual([threads[1].thread_id]);
      expect(ids(await client.threads.search({ metadata, values: { path: ['add 2'] } }))).toEqual([
        threads[1].thread_id,
      ]);
      expect(ids(await client.threads.search({ ids: [threads[0].thread_id, UNKNOWN_ID] }))).toEqual([
        threads[0].thread_id,
      ]);
      expect(await client.threads.search({ metadata, status: 'busy' })).toEqual([]);
      expect(await client.threads.search({ metadata, ids: [] })).toHaveLength(3);
      expect(await client.threads.count({ metadata, values: { total: 1 } })).toBe(1);
      expect(await client.threads.count({ metadata, values: {} })).toBe(3);
      expect(await client.threads.search({ metadata, values: {} })).toHaveLength(3);
      expect(await client.threads.count({ metadata, status: 'idle' })).toBe(3);
    });

    it.each([
      ['created_at', 'asc', [0, 1, 2]],
      ['created_at', 'desc', [2, 1, 0]],
      ['thread_id', 'desc', [2, 1, 0]],
    ] as const)('sorts by %s %s', async (sortBy, sortOrder, order) => {
      const found = await client.threads.search({ metadata, sortBy, sortOrder });
      expect(ids(found)).toEqual(order.map((index) => threads[index].thread_id));
    });

    it('has the time of creation for a thread on which nothing has run, also when it sorts by the time of the state', async () => {
      expect(unused.state_updated_at).toBe(unused.created_at);
      const both = [unused.thread_id, threads[0].thread_id];
      const sortBy = 'state_updated_at';
      expect(ids(await client.threads.search({ ids: both, sortBy, sortOrder: 'asc' }))).toEqual(both);
      expect(ids(await client.threads.search({ ids: both, sortBy, sortOrder: 'desc' }))).toEqual(both.reverse());
    });

    it('shows the selected fields, and the extracted values', async () => {
      const [found] = await client.threads.search({
        ids: [threads[1].thread_id],
        select: ['thread_id', 'status'],
        extract: { last: 'values.path[-1]', kind: 'metadata.search.of', none: 'values.messages[0].content' },
      });
      expect(found).toEqual({
        thread_id: threads[1].thread_id,
        status: 'idle',
        extracted: { last: expect.stringMatching(/^add [23]$/), kind, none: null },
      });
      expect((await post('/threads/search', { extract: { status: 'values.a' } })).status).toBe(422);
      expect((await post('/threads/search', { select: ['error'] })).status).toBe(422);
    });

    it('counts the matching threads', async () => {
      const page = await post('/threads/search', { metadata, limit: 2 }, { origin: 'http://localhost:3000' });
      expect(await page.json()).toHaveLength(2);
      expect(page.headers.get('x-pagination-total')).toBe('3');
      expect(page.headers.get('x-pagination-next')).toBe('2');
    });
  });

  describe('states', () => {
    it('can be read, edited and continued from at any checkpoint, also in the form that the server itself writes', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'three', { input: {} });
      const history = await client.threads.getHistory<{ done: string[] }>(thread_id);
      expect(history.map(({ next }) => next)).toEqual([[], ['node_3'], ['node_2'], ['node_1'], ['__start__']]);
      const early = history[2];
      expect(early.checkpoint).toMatchObject({ checkpoint_map: null });
      expect(await client.threads.getState(thread_id, early.checkpoint)).toEqual(early);
      expect(await client.threads.getState(thread_id, early.checkpoint.checkpoint_id!)).toEqual(early);

      const again = await client.runs.wait(thread_id, 'three', { input: null, checkpoint: early.checkpoint });
      expect(again).toMatchObject({ done: ['node_1', 'node_2', 'node_3'] });
      const byId = await client.runs.wait(thread_id, 'three', {
        input: null,
        checkpointId: early.checkpoint.checkpoint_id!,
      });
      expect(byId).toMatchObject({ done: ['node_1', 'node_2', 'node_3'] });

      const { checkpoint } = (await client.threads.updateState(thread_id, {
        values: { done: ['by hand'] },
        asNode: 'node_2',
        checkpoint: early.checkpoint,
      })) as unknown as { checkpoint: { checkpoint_id: string } };
      const edited = await client.threads.getState<{ done: string[] }>(thread_id);
      expect(edited.checkpoint.checkpoint_id).toBe(checkpoint.checkpoint_id);
      expect(edited).toMatchObject({ values: { done: ['node_1', 'by hand'] }, next: ['node_3'] });
      expect(edited.parent_checkpoint).toEqual(early.checkpoint);
      expect((await client.threads.get(thread_id)).status).toBe('interrupted');
    });

    it('have pages of history before a checkpoint, which can be given in any of three ways', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'three', { input: {} });
      const history = await client.threads.getHistory(thread_id, { limit: 100 });
      const { checkpoint_id } = history[1].checkpoint;
      const url = `/threads/${thread_id}/history`;
      for (const before of [checkpoint_id, { checkpoint_id }, { configurable: { checkpoint_id } }]) {
        expect(await (await post(url, { before, limit: 2 })).json()).toEqual(history.slice(2, 4));
      }
      const got = await fetch(`${gantry.url}${url}?limit=2&before=${checkpoint_id}`);
      expect(await got.json()).toEqual(history.slice(2, 4));
      expect(await client.threads.getHistory(thread_id, { metadata: { step: 1 } as never })).toEqual([history[2]]);
      expect((await post(url, { limit: 0 })).status).toBe(422);
      expect((await post(`/threads/${UNKNOWN_ID}/history`, {})).status).toBe(404);
    });

    it('show subgraphs as a pointer, or with their state', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'deep', { input: { note: 'hi' } });
      const flat = await client.threads.getState(thread_id);
      expect(flat.tasks[0]).toMatchObject({
        name: 'middle',
        state: null,
        checkpoint: { thread_id, checkpoint_ns: expect.stringMatching(/^middle:/) },
        interrupts: [{ value: 'Deep enough?' }],
      });
      const whole = await client.threads.getState<{ note: string }>(thread_id, undefined, { subgraphs: true });
      const inner = whole.tasks[0].state!;
      expect(inner).toMatchObject({ values: { note: 'thought' }, next: ['question'] });
      const pointed = await client.threads.getState(thread_id, flat.tasks[0].checkpoint as never);
      expect(pointed).toMatchObject({ values: { note: 'thought' }, next: ['question'] });
      const history = await client.threads.getHistory(thread_id, { checkpoint: flat.tasks[0].checkpoint as never });
      expect(history.length).toBeGreaterThanOrEqual(2);
      expect(history[0]).toMatchObject({ next: ['question'] });
      const posted = await post(`/threads/${thread_id}/state/checkpoint`, {
        checkpoint: whole.checkpoint,
        subgraphs: true,
      });
      expect(await posted.json()).toEqual(whole);
    });

    it('keep their question in the history once it is answered', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'ask', { input: {} });
      const asked = await client.threads.getState(thread_id);
      const { interrupts } = asked as unknown as { interrupts: unknown[] };
      expect(interrupts).toMatchObject([{ id: expect.any(String), value: expect.any(String) }]);
      await client.runs.wait(thread_id, 'ask', { command: { resume: 'yes' } });
      const [newest, before] = await client.threads.getHistory(thread_id);
      expect(newest).toMatchObject({ next: [], interrupts: [] });
      expect(before).toMatchObject({ checkpoint: asked.checkpoint, interrupts });
      expect(await client.threads.getState(thread_id, asked.checkpoint as never)).toMatchObject({ interrupts });
    });

    it('are empty where nothing ran, and for a checkpoint that does not exist', async () => {
      const { thread_id } = await client.threads.create();
      expect(await client.threads.getState(thread_id)).toMatchObject({ values: {}, next: [], checkpoint: null });
      expect(await client.threads.getHistory(thread_id)).toEqual([]);
      await client.runs.wait(thread_id, 'three', { input: {} });
      const nowhere = await client.threads.getState(thread_id, '1f0a0000-0000-6000-8000-000000000000');
      expect(nowhere).toMatchObject({
        values: expect.anything(),
        next: [],
        checkpoint: { thread_id, checkpoint_id: '1f0a0000-0000-6000-8000-000000000000' },
      });
    });

    it('cannot be edited as a node that does not exist, without a graph, or while a run is in flight', async () => {
      const { thread_id } = await client.threads.create();
      expect((await post(`/threads/${thread_id}/state`, { values: {} })).status).toBe(400);
      const { run_id } = await client.runs.create(thread_id, 'sleep', { input: { sleep_ms: 600_000 } });
      expect((await post(`/threads/${thread_id}/state`, { values: {} })).status).toBe(409);
      await client.runs.cancel(thread_id, run_id, true);
      expect((await post(`/threads/${thread_id}/state`, { values: {}, as_node: 'nobody' })).status).toBe(400);
    });
  });

  describe('copies', () => {
    it('have their own copy of the whole history, and diverge', async () => {
      const { thread_id } = await client.threads.create({ metadata: { kind: 'original' } });
      await client.runs.wait(thread_id, 'ask', { input: {} });
      const copy = await client.threads.copy(thread_id);
      expect(copy).toMatchObject({ status: 'interrupted', metadata: { kind: 'original', graph_id: 'ask' } });
      expect(copy.thread_id).not.toBe(thread_id);
      const history = await client.threads.getHistory(copy.thread_id);
      for (const state of history) {
        expect(state.checkpoint.thread_id).toBe(copy.thread_id);
        expect(state.metadata).toMatchObject({ thread_id: copy.thread_id });
      }
      expect(await client.runs.wait(copy.thread_id, 'ask', { command: { resume: 'yes' } })).toMatchObject({
        answer: 'yes',
      });
      expect((await client.threads.get(thread_id)).status).toBe('interrupted');
      expect(await client.runs.list(copy.thread_id)).toHaveLength(1);
      await expect(client.threads.copy(UNKNOWN_ID)).rejects.toThrow(/404/);
    });
  });

  it('are the same ones by their ids in upper case', async () => {
    const upper = randomUUID().toUpperCase();
    const lower = upper.toLowerCase();
    expect(await client.threads.create({ threadId: upper, graphId: 'three' })).toMatchObject({ thread_id: lower });
    expect((await post('/threads', { thread_id: upper })).status).toBe(409);
    const { run_id } = await client.runs.create(upper, 'three', { input: {} });
    await client.runs.join(upper, run_id.toUpperCase());
    await client.threads.updateState(upper, { values: { done: ['by hand'] }, asNode: 'node_3' });

    const state = await client.threads.getState(lower);
    expect(state).toMatchObject({ values: { done: ['node_1', 'node_2', 'node_3', 'by hand'] }, next: [] });
    expect(await client.threads.getState(upper)).toEqual(state);
    const history = await client.threads.getHistory(lower);
    expect(history).toHaveLength(6);
    expect(await client.threads.getHistory(upper)).toEqual(history);
    const thread = await client.threads.get(lower);
    expect(thread).toMatchObject({ thread_id: lower, values: state.values });
    expect(await client.threads.search({ ids: [upper] })).toEqual([thread]);
    const storageOf = async (id: string): Promise<unknown> =>
      (await fetch(`${gantry.url}/threads/${id}/storage`)).json();
    expect(await storageOf(upper)).toMatchObject({ thread_id: lower, checkpoints: { count: 6 } });
    const copy = await client.threads.copy(upper);
    expect((await client.threads.getState(copy.thread_id)).values).toEqual(state.values);

    expect(await client.threads.prune([upper], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
    expect(await client.threads.getHistory(lower)).toHaveLength(1);
    await client.threads.delete(upper);
    const left = await gantry.sql.query('SELECT 1 FROM langgraph.checkpoints WHERE lower(thread_id) = $1', [lower]);
    expect(left.rowCount).toBe(0);
  });

  it('report their size in the database', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'three', { input: {} });
    const storage = (await (await fetch(`${gantry.url}/threads/${thread_id}/storage`)).json()) as Record<string, never>;
    expect(storage).toMatchObject({
      thread_id,
      checkpoints: { count: 5, bytes: expect.any(Number) },
      channel_values: { by_channel: { done: { versions: expect.any(Number), bytes: expect.any(Number) } } },
      pending_writes: { count: expect.any(Number) },
    });
    const { total_bytes, checkpoints, channel_values, pending_writes } = storage as Record<string, { bytes: number }>;
    expect(total_bytes).toBe(checkpoints.bytes + channel_values.bytes + pending_writes.bytes);
    expect((await fetch(`${gantry.url}/threads/${UNKNOWN_ID}/storage`)).status).toBe(404);
  });

  it('are patched: metadata is merged, and a minimal answer is empty', async () => {
    const { thread_id, updated_at } = await client.threads.create({ metadata: { a: 1 } });
    const patched = await client.threads.update(thread_id, { metadata: { b: 2 } });
    expect(patched).toMatchObject({ metadata: { a: 1, b: 2 } });
    const minimal = await fetch(`${gantry.url}/threads/${thread_id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', prefer: 'return=minimal' },
      body: '{}',
    });
    expect([minimal.status, await minimal.text()]).toEqual([204, '']);
    expect(new Date((await client.threads.get(thread_id)).updated_at) > new Date(updated_at)).toBe(true);
  });

  it('return to waiting when a resuming run is cancelled before it began', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'three', { input: {}, interruptBefore: ['node_2'] });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: 'interrupted', interrupts: {} });
    const { run_id } = await client.runs.create(thread_id, 'three', { input: null, afterSeconds: 600 });
    expect((await client.threads.get(thread_id)).status).toBe('busy');
    await client.runs.cancel(thread_id, run_id);
    await waitFor('the thread to wait', async () => (await client.threads.get(thread_id)).status === 'interrupted');
    const done = await client.runs.wait(thread_id, 'three', { input: null });
    expect(done).toMatchObject({ done: ['node_1', 'node_2', 'node_3'] });
  });

  describe('what the newest client requests', () => {
    const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;

    it('is announced by the flags of the server', async () => {
      const info = (await (await fetch(`${gantry.url}/info`)).json()) as { flags: Record<string, boolean> };
      expect(info.flags).toMatchObject({ strict_resume: true, stream_namespaces: true });
    });

    it('is a state with the selected fields and values only', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'sleep', { input: { note: 'I have', sleep_ms: 1 } });
      const whole = await client.threads.getState(thread);
      expect(await client.threads.getState(thread, undefined, { select: ['next', 'values'] })).toEqual({
        next: whole.next,
        values: whole.values,
      });
      // Unreadable values are only an error if they are selected.
      await gantry.sql.query(
        `UPDATE langgraph.checkpoint_blobs SET type = 'broken' WHERE thread_id = $1 AND channel = 'sleep_ms'`,
        [thread],
      );
      const note = { values: { note: 'I have slept' } };
      const select = ['values.note', 'checkpoint'] as const;
      const { checkpoint } = whole;
      expect(await client.threads.getState(thread, undefined, { select: ['values.note'] })).toEqual(note);
      expect(await client.threads.getState(thread, checkpoint, { select: [...select] })).toEqual({
        ...note,
        checkpoint,
      });
      expect(await client.threads.getState(thread, checkpoint.checkpoint_id!, { select: ['values.note'] })).toEqual(
        note,
      );
      const [newest, ...earlier] = await client.threads.getHistory(thread, { select: [...select] });
      expect(newest).toEqual({ ...note, checkpoint });
      expect(earlier.length).toBeGreaterThan(0);
      // Python's library keeps numbers and texts in the checkpoint itself.
      const all = client.threads.getState(thread, undefined, { select: ['values'] });
      if (language === 'TypeScript') await expect(all).rejects.toThrow(/400/);
      else expect(await all).toEqual({ values: whole.values });
      const wrong = await fetch(`${gantry.url}/threads/${thread}/state?select=colour`);
      expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('values.<key>')]);
    });

    it('is the refusal of an answer to a question that is not open, which leaves the thread waiting', async () => {
      const thread = await createThread();
      const asked = (await client.runs.wait(thread, 'ask', { input: {} })) as { __interrupt__: { id: string }[] };
      const [{ id }] = asked.__interrupt__;
      const resume = (interrupt: string) =>
        client.runs.wait(thread, 'ask', { command: { resume: { [interrupt]: 'yes' } }, strictResume: true });
      const other = 'f'.repeat(32);
      await expect(resume(other)).rejects.toThrow(/UnknownInterruptError/);
      const [refused] = await client.runs.list(thread);
      expect(refused.status).toBe('error');
      const ended = await fetch(`${gantry.url}/threads/${thread}/runs/${refused.run_id}/join`);
      expect(await ended.json()).toMatchObject({
        __error__: { error: 'UnknownInterruptError', reason: 'not_pending', interrupt_ids: [other], pending_ids: [id] },
      });
      expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });
      expect(await resume(id)).toMatchObject({ answer: 'yes' });
    });

    it('is the stream of selected subgraphs of a run', async () => {
      const namespacesOf = async (streamNamespaces?: string[]): Promise<Set<string>> => {
        const seen = new Set<string>();
        const stream = client.runs.stream(await createThread(), 'deep', {
          ...{ input: {}, streamMode: 'values' as const, streamSubgraphs: true },
          ...(streamNamespaces && { streamNamespaces }),
        });
        for await (const { event } of stream) seen.add(event.replace(/:[^|]*/g, ''));
        return seen;
      };
      expect([...(await namespacesOf())].sort()).toEqual([
        'metadata',
        'values',
        'values|middle',
        'values|middle|deepest',
      ]);
      expect([...(await namespacesOf(['']))].sort()).toEqual([
        ...['metadata', 'values', 'values|middle', 'values|middle|deepest'],
      ]);
      expect([...(await namespacesOf(['nobody:1']))]).toEqual(['metadata']);
    });

    it('is what a run emitted after a checkpoint', async () => {
      const thread = await createThread();
      const run = await client.runs.create(thread, 'three', { input: {}, streamMode: 'values', streamResumable: true });
      await client.runs.join(thread, run.run_id);
      const history = await client.threads.getHistory<{ done: string[] }>(thread);
      const shown = history.find(({ values }) => values.done?.length === 1)!;
      const after = async (checkpointId: string): Promise<unknown[]> => {
        const states: unknown[] = [];
        const stream = client.runs.joinStream(thread, run.run_id, { checkpointId, lastEventId: '-1' });
        for await (const { event, data } of stream)
          if (event === 'values') states.push((data as { done: unknown }).done);
        return states;
      };
      expect(await after(shown.checkpoint.checkpoint_id!)).toEqual([
        ['node_1', 'node_2'],
        ['node_1', 'node_2', 'node_3'],
      ]);
      expect((await after(UNKNOWN_ID)).length).toBeGreaterThan(2);
    });

    it('is the reason why a run was cancelled, and the place of its trace', async () => {
      const thread = await createThread();
      const cancelled = async (reason?: 'taken') => {
        const { run_id } = await client.runs.create(thread, 'sleep', { input: { sleep_ms: 60_000 } });
        await client.runs.cancel(thread, run_id, true, 'interrupt', { ...(reason && { reason }) });
        const select = ['run_id', 'cancel_reason', 'langsmith_session_name'];
        const [run] = await client.runs.list(thread, { limit: 1, select: select as never });
        expect(run).toEqual({ run_id, cancel_reason: expect.any(String), langsmith_session_name: null });
        return run.cancel_reason;
      };
      expect(await cancelled()).toBe('requested');
      expect(await cancelled('taken')).toMatch(/^taken:/);
      const done = await client.runs.create(thread, 'three', { input: {} });
      const wrong = await post(`/threads/${thread}/runs/${done.run_id}/cancel?action=rollback&reason=taken`, undefined);
      expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('reason')]);
      await client.runs.join(thread, done.run_id);
      expect(await client.runs.get(thread, done.run_id)).toMatchObject({ status: 'success', cancel_reason: null });
    });

    it('is the schema of an answer', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'vote', { input: {} });
      const { tasks } = await client.threads.getState(thread);
      expect(tasks[0].interrupts[0]).toMatchObject({
        value: 'How many?',
        response_schema: { type: 'number', maximum: 10 },
      });
      await expect(client.runs.wait(thread, 'vote', { command: { resume: 11 } })).rejects.toThrow();
      expect(await client.runs.wait(thread, 'vote', { command: { resume: 7 } })).toMatchObject({ vote: 7 });
    });
  });
});
