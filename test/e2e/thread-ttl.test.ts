import type { Client, Thread } from '@langchain/langgraph-sdk';
import { describeDeltaThreads, type Kept, keptOf } from '../support/delta-threads';
import { Gantry, SHAPE_GRAPHS, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const SCHEDULE = 'thread-expiry';
/** A time to live of three seconds, in minutes. */
const SOON = 0.05;
/** Nine seconds: each step of a test that uses a thread comes within it. */
const IN_USE = 0.15;
const UNKNOWN_ID = '7e4d2c3b-0000-4000-8000-000000000000';

interface Ttl {
  strategy: string;
  ttl_minutes: number;
  expires_at: string;
}

/** Expiry of threads, with the whole of Gantry: the search is a Schedule in Temporal. */
describe('the time to live of threads', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphProcesses: 1,
      graphs: SHAPE_GRAPHS,
      env: { LANGGRAPH_THREAD_TTL: JSON.stringify({ default_ttl: 600.5, sweep_interval_minutes: 1 / 60 }) },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const withTtl = async (threadId: string): Promise<Thread & { ttl?: Ttl | null }> =>
    client.threads.get(threadId, { include: ['ttl'] });

  const kept = (threadId: string): Promise<Kept> => keptOf(gantry, threadId);

  const isGone = async (threadId: string): Promise<boolean> =>
    (await fetch(`${gantry.url}/threads/${threadId}`)).status === 404;

  it('is shown on request, is the configured one unless another is given, and can be changed', async () => {
    const byDefault = await client.threads.create();
    expect(byDefault).not.toHaveProperty('ttl');
    const shown = await withTtl(byDefault.thread_id);
    expect(shown.ttl).toMatchObject({ strategy: 'delete', ttl_minutes: 600.5 });
    expect(Date.parse(shown.ttl!.expires_at) - Date.parse(shown.updated_at)).toBe(600.5 * 60_000);
    const own = await client.threads.create({ ttl: { ttl: 90, strategy: 'keep_latest' } as never });
    await client.threads.update(own.thread_id, { ttl: 30 });
    expect(await withTtl(own.thread_id)).toMatchObject({ ttl: { strategy: 'delete', ttl_minutes: 30 } });
    const { run_id, thread_id } = await client.runs.create(null, 'three', { input: {}, onCompletion: 'keep' as never });
    await client.runs.join(thread_id, run_id);
    expect(await withTtl(thread_id)).toMatchObject({ ttl: { strategy: 'delete', ttl_minutes: 600.5 } });
  });

  it.each([
    [{ ttl: 5 }, 'ttl'],
    [{ ttl: { ttl: 0 } }, 'ttl.ttl'],
    [{ ttl: { ttl: 1e12 } }, 'ttl.ttl'],
    [{ ttl: { ttl: 1, strategy: 'archive' } }, 'ttl.strategy'],
  ])('is refused as %j', async (body, field) => {
    const refused = await fetch(`${gantry.url}/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain(field);
  });

  it('ends with the deletion of everything that belongs to the thread, and counts from its last use', async () => {
    const { thread_id } = await client.threads.create({ ttl: IN_USE });
    await client.runs.wait(thread_id, 'three', { input: {} });
    expect((await kept(thread_id)).checkpoints).toBeGreaterThan(0);
    // A thread in use: its run sleeps for longer than the thread's time to live.
    const run = await client.runs.create(thread_id, 'sleep', { input: { sleep_ms: 11_000 } });
    await client.runs.join(thread_id, run.run_id);
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: 'success' });
    await waitFor('the end of the thread', () => isGone(thread_id));
    expect(await kept(thread_id)).toEqual({ checkpoints: 0, blobs: 0, writes: 0 });
    const left = await gantry.sql.query(
      `SELECT 1 FROM runs WHERE thread_id = $1 UNION ALL SELECT 1 FROM run_events WHERE run_id = $2`,
      [thread_id, run.run_id],
    );
    expect(left.rowCount).toBe(0);
  });

  it('may keep the latest state, from which the thread continues', async () => {
    const { thread_id } = await client.threads.create();
    // Waits for a person in a nested graph.
    await client.runs.wait(thread_id, 'deep', { input: {} });
    const waiting = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    const before = await kept(thread_id);
    await client.threads.update(thread_id, { ttl: { ttl: SOON, strategy: 'keep_latest' } as never });
    await waitFor('the history to be gone', async () => {
      const now = await kept(thread_id);
      return now.checkpoints < before.checkpoints && (await wasPruned(thread_id));
    });
    const [history, state] = [
      await client.threads.getHistory(thread_id),
      await client.threads.getState(thread_id, undefined, { subgraphs: true }),
    ];
    expect(history).toHaveLength(1);
    expect(state).toEqual(waiting);
    // No value is left without a checkpoint.
    const orphans = await gantry.sql.query(
      `SELECT 1 FROM langgraph.checkpoint_blobs b WHERE thread_id = $1 AND NOT EXISTS (
         SELECT 1 FROM langgraph.checkpoints c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = b.checkpoint_ns
           AND c.checkpoint->'channel_versions'->>b.channel = b.version)`,
      [thread_id],
    );
    expect(orphans.rowCount).toBe(0);
    const ended = await client.runs.wait(thread_id, 'deep', { command: { resume: 'yes' } });
    expect(JSON.stringify(ended)).toContain('answered yes');
    // A finished thread needs no state of its nested graphs.
    await waitFor('the nested graphs to be gone', async () => (await kept(thread_id)).checkpoints === 1);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: 'idle', values: ended });
  });

  const wasPruned = async (threadId: string): Promise<boolean> => {
    const { rowCount } = await gantry.sql.query(
      `SELECT 1 FROM threads WHERE thread_id = $1 AND pruned_at > updated_at`,
      [threadId],
    );
    return rowCount === 1;
  };

  it('leaves the history of a thread whose time to live was extended after the search had found it', async () => {
    const threads: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'three', { input: {} });
      threads.push(thread_id);
    }
    const [first, extended, last] = threads;
    const before = await kept(extended);
    const holder = await gantry.sql.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM threads WHERE thread_id = $1 FOR KEY SHARE', [first]);
      await gantry.sql.query(
        `UPDATE threads SET ttl_strategy = 'keep_latest', ttl_minutes = 1,
           updated_at = now() - interval '1 hour' + array_position($1::uuid[], thread_id) * interval '1 minute'
         WHERE thread_id = ANY ($1)`,
        [threads],
      );
      await waitFor('the search to wait for the first thread', async () => {
        const { rowCount } = await gantry.sql.query(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM threads%FOR UPDATE%'
             AND datname = current_database()`,
        );
        return rowCount! > 0;
      });
      await client.threads.update(extended, { ttl: { ttl: 600, strategy: 'keep_latest' } as never });
      await holder.query('COMMIT');
    } finally {
      holder.release();
    }
    await waitFor('the threads before and after it to be pruned', async () => {
      return (await wasPruned(first)) && (await wasPruned(last));
    });
    expect(await kept(extended)).toEqual(before);
    expect((await kept(first)).checkpoints).toBe(1);
  });

  describeDeltaThreads(
    () => gantry,
    (threads) => {
      it('may keep the latest state, with the checkpoints that it is read from', async () => {
        const threadId = await threads.ranTwice({ ttl: SOON, strategy: 'keep_latest' });
        const before = await threads.stateOf(threadId);
        await waitFor('the search', () => wasPruned(threadId), 30_000);
        expect(await threads.stateOf(threadId)).toEqual(before);
        await threads.expectToContinueFrom(threadId, before);
      });
    },
  );

  it('is enforced by a Schedule that can be paused, and stays paused', async () => {
    const schedule = gantry.temporal.schedule.getHandle(SCHEDULE);
    await schedule.pause('to look at a thread first');
    await gantry.killWorker();
    await gantry.startWorker();
    const { thread_id } = await client.threads.create({ ttl: SOON });
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(await isGone(thread_id)).toBe(false);
    expect((await schedule.describe()).state).toMatchObject({ paused: true, note: 'to look at a thread first' });
    await schedule.unpause();
    await waitFor('the end of the thread', () => isGone(thread_id), 30_000);
  });

  describe('POST /threads/prune', () => {
    it('deletes threads, and skips those that do not exist', async () => {
      const [one, two] = [await client.threads.create(), await client.threads.create()];
      const pruned = await client.threads.prune([one.thread_id, two.thread_id, two.thread_id, UNKNOWN_ID]);
      expect(pruned).toEqual({ pruned_count: 2 });
      expect(await isGone(one.thread_id)).toBe(true);
      expect(await client.threads.prune([])).toEqual({ pruned_count: 0 });
    });

    it('skips a thread with a run in flight', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'three', { input: {} });
      const run = await client.runs.create(thread_id, 'sleep', { input: { sleep_ms: 2_000 } });
      expect(await client.threads.prune([thread_id], { strategy: 'keep_latest' })).toEqual({ pruned_count: 0 });
      await client.runs.join(thread_id, run.run_id);
      expect(await client.threads.prune([thread_id], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
      expect(await client.threads.getHistory(thread_id)).toHaveLength(1);
    });

    it('prunes a thread of 10,000 checkpoints while another is in use', async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'three', { input: {} });
      const small = await kept(thread_id);
      await multiply(thread_id, 10_000);
      expect((await kept(thread_id)).checkpoints).toBe(small.checkpoints + 10_000);
      const other = await client.threads.create();
      const [pruned] = await Promise.all([
        client.threads.prune([thread_id], { strategy: 'keep_latest' }),
        client.runs.wait(other.thread_id, 'three', { input: {} }),
      ]);
      expect(pruned).toEqual({ pruned_count: 1 });
      expect((await kept(thread_id)).checkpoints).toBe(1);
      expect(await client.threads.getHistory(thread_id)).toHaveLength(1);
      expect(await client.runs.wait(thread_id, 'three', { input: {} })).toMatchObject({ done: expect.anything() });
    });

    /** Copies the thread's first checkpoint many times, each with a value of its own. */
    async function multiply(threadId: string, count: number): Promise<void> {
      await gantry.sql.query(
        `WITH first AS (SELECT * FROM langgraph.checkpoints WHERE thread_id = $1 ORDER BY checkpoint_id LIMIT 1),
         copies AS (
           SELECT n, lpad(to_hex(n), 8, '0') || substr(checkpoint_id, 9) AS id, first.* FROM first, generate_series(1, $2::int) AS n
         ), blobs AS (
           INSERT INTO langgraph.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
           SELECT $1, '', 'done', (n + 1000)::text, 'json', '"x"' FROM copies
         ), writes AS (
           INSERT INTO langgraph.checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
           SELECT $1, '', id, 'task', 0, 'done', 'json', '"x"' FROM copies
         )
         INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
         SELECT $1, '', id, NULL, type,
           jsonb_set(checkpoint, '{channel_versions,done}', to_jsonb(n + 1000)) || jsonb_build_object('id', id), metadata
         FROM copies`,
        [threadId, count],
      );
    }
  });
});
