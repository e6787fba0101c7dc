import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { type SseEvent, SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const LONG = { sleep_ms: 600_000 };

/** The end of a run is emitted to readers of its thread, even if the run never began. */
describeLanguages('the stream of a thread with graphs in $language', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphs, graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  const listen = (thread: string, lastEventId?: string): Promise<SseReader> =>
    SseReader.get(
      `${gantry.url}/threads/${thread}/stream?stream_modes=lifecycle`,
      lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    );

  const listenByProtocol = (thread: string, since?: number): Promise<SseReader> =>
    SseReader.post(`${gantry.url}/threads/${thread}/stream/events`, {
      channels: ['lifecycle'],
      ...(since !== undefined && { since }),
    });

  /** Reads until so many runs are done; resolves to their ids. */
  async function untilDone(stream: SseReader, count: number): Promise<SseEvent[]> {
    const done: SseEvent[] = [];
    for await (const event of stream) {
      if ((event.data as { status?: string }).status === 'run_done') done.push(event);
      if (done.length === count) return done;
    }
    throw new Error('The stream ended');
  }

  const idsOf = (done: SseEvent[]): unknown[] => done.map(({ data }) => (data as { run_id: string }).run_id);
  const phaseOf = ({ data }: SseEvent): unknown => (data as { params: { data: { event: string } } }).params.data.event;

  const createLater = async (thread: string): Promise<string> =>
    (await client.runs.create(thread, 'three', { input: {}, afterSeconds: 3_600 })).run_id;

  async function startSleeper(thread: string): Promise<string> {
    const { run_id } = await client.runs.create(thread, 'sleep', { input: LONG });
    await waitFor('the node to sleep', async () => (await gantry.ledger.of(run_id)).length > 0);
    return run_id;
  }

  const queue = async (thread: string): Promise<string> =>
    (await client.runs.create(thread, 'three', { input: {}, multitaskStrategy: 'enqueue' })).run_id;

  it('is resumed after any event, also where the log holds several of them in a row', async () => {
    const thread = await createThread();
    const { run_id: run } = await client.runs.create(thread, 'custom', { input: { count: 20 }, streamMode: 'custom' });
    await client.runs.join(thread, run);
    const { rows } = await gantry.sql.query<{ most: number }>(
      'SELECT max(seq - first_seq + 1) AS most FROM run_events WHERE run_id = $1',
      [run],
    );
    expect(rows[0].most).toBeGreaterThan(1);
    const readRun = async (after: number): Promise<SseEvent[]> =>
      (
        await SseReader.get(`${gantry.url}/threads/${thread}/runs/${run}/stream`, { 'last-event-id': `${after}` })
      ).rest();
    const all = await readRun(-1);
    expect(all.filter(({ event }) => event === 'custom').map(({ data }) => data)).toMatchObject(
      Array.from({ length: 20 }, (_, index) => ({ index })),
    );
    for (const index of all.keys()) expect(await readRun(index)).toEqual(all.slice(index + 1));

    const readThread = async (after: string): Promise<SseEvent[]> => {
      const headers = { 'last-event-id': after };
      const stream = await SseReader.get(`${gantry.url}/threads/${thread}/stream?stream_modes=run_modes`, headers);
      const events = await stream.until(({ data }) => (data as { status?: string }).status === 'run_done');
      await stream.close();
      return events;
    };
    const ofThread = await readThread('-');
    expect(ofThread.slice(0, -1).map(({ data }) => data)).toEqual(all.map(({ data }) => data));
    for (const [index, { id }] of ofThread.slice(0, -1).entries())
      expect(await readThread(id!)).toEqual(ofThread.slice(index + 1));
  });

  it('emits the ends of runs that were cancelled before their turn, each once, and again to a client that reconnects', async () => {
    const thread = await createThread();
    const [stream, events] = await Promise.all([listen(thread), listenByProtocol(thread)]);
    const runs = [await createLater(thread), await createLater(thread), await createLater(thread)];
    await client.runs.cancel(thread, runs[0]);
    await client.runs.cancelMany({ threadId: thread, runIds: runs.slice(1) });
    const done = await untilDone(stream, 3);
    expect(idsOf(done)[0]).toBe(runs[0]);
    expect(idsOf(done).sort()).toEqual([...runs].sort());
    await stream.close();

    let seen = 0;
    const phases = await events.until(() => (seen += 1) === 3);
    await events.close();
    expect(phases.map(phaseOf)).toEqual(['interrupted', 'interrupted', 'interrupted']);
    const numbers = phases.map(({ id }) => Number(id));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(3);

    const resumed = await listen(thread, done[0].id);
    expect(await untilDone(resumed, 2)).toEqual(done.slice(1));
    await resumed.close();
    const since = await listenByProtocol(thread, numbers[1]);
    expect((await since.until(() => true)).map(({ id }) => Number(id))).toEqual([numbers[2]]);
    await since.close();
  });

  it('emits the end of a run that was cancelled while queued after the end of the running one, and before the next', async () => {
    const thread = await createThread();
    const stream = await listen(thread);
    const running = await startSleeper(thread);
    const [cancelled, next] = [await queue(thread), await queue(thread)];
    const events = await listenByProtocol(thread);
    await client.runs.cancel(thread, cancelled);
    await client.runs.cancel(thread, running);
    expect(idsOf(await untilDone(stream, 3))).toEqual([running, cancelled, next]);
    await stream.close();
    const phases = await events.until((event) => phaseOf(event) === 'completed');
    await events.close();
    expect(phases.map(phaseOf)).toEqual(['running', 'interrupted', 'interrupted', 'running', 'completed']);
    const numbers = phases.map(({ id }) => Number(id));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('emits it when the running one is deleted', async () => {
    const thread = await createThread();
    const stream = await listen(thread);
    const running = await startSleeper(thread);
    const cancelled = await queue(thread);
    await client.runs.cancel(thread, cancelled);
    await client.runs.delete(thread, running);
    const done = await untilDone(stream, 2);
    expect(idsOf(done)).toEqual([running, cancelled]);
    await stream.close();
  });

  it('emits the end of an interrupted waiting run first', async () => {
    const thread = await createThread();
    const stream = await listen(thread);
    const waiting = await createLater(thread);
    const { run_id } = await client.runs.create(thread, 'three', { input: {}, multitaskStrategy: 'interrupt' });
    expect(idsOf(await untilDone(stream, 2))).toEqual([waiting, run_id]);
    await stream.close();
  });

  describe('for edits of its state', () => {
    const listenToEdits = (thread: string, headers: Record<string, string> = {}): Promise<SseReader> =>
      SseReader.get(`${gantry.url}/threads/${thread}/stream?stream_modes=state_update`, headers);

    const edit = (thread: string, word: string) =>
      client.threads.updateState(thread, { values: { done: [word] }, asNode: 'node_3' });

    async function nextEdit(stream: SseReader): Promise<{ id: string | undefined; done: unknown }> {
      const [{ id, data }] = await stream.until(({ event }) => event === 'state_update');
      return { id, done: (data as { state: { values: { done: string[] } } }).state.values.done };
    }

    it('is rejoined after one on a thread without runs, also by the id of the thread in upper case', async () => {
      const thread = randomUUID().toUpperCase();
      await client.threads.create({ threadId: thread, graphId: 'three' });
      const stream = await listenToEdits(thread);
      await edit(thread, 'first');
      const { id, done } = await nextEdit(stream);
      expect(done).toEqual(['first']);
      await stream.close();
      const rejoined = await listenToEdits(thread, { 'last-event-id': id! });
      await edit(thread, 'second');
      expect(await nextEdit(rejoined)).toEqual({ id, done: ['first', 'second'] });
      await rejoined.close();
    });

    it('emits one during which a run was created', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'three', { input: {} });
      const stream = await listenToEdits(thread);
      const holder = await gantry.sql.connect();
      try {
        await holder.query('BEGIN');
        await holder.query('SELECT 1 FROM threads WHERE thread_id = $1 FOR NO KEY UPDATE', [thread]);
        const edited = edit(thread, 'by hand');
        await waitFor('the edit to wait for the row of the thread', async () => {
          const { rowCount } = await gantry.sql.query(
            `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE threads SET "values"%'
               AND datname = current_database()`,
          );
          return rowCount! > 0;
        });
        await holder.query(`UPDATE threads SET status = 'busy' WHERE thread_id = $1`, [thread]);
        await holder.query('COMMIT');
        await edited;
      } finally {
        holder.release();
      }
      expect(await nextEdit(stream)).toMatchObject({ done: ['node_1', 'node_2', 'node_3', 'by hand'] });
      await stream.close();
      await gantry.sql.query(`UPDATE threads SET status = 'idle' WHERE thread_id = $1`, [thread]);
    });
  });
});
