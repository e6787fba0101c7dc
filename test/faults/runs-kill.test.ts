import type { Client, StreamMode } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { Gantry, startGantry } from '../support/gantry';
import { type GantryProcess, graphProcessesOf } from '../support/gantry-process';
import { describeLanguages } from '../support/languages';
import { PostgresProxy } from '../support/postgres-proxy';
import { SseReader, type SseEvent } from '../support/sse';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const STEP_MS = 500;

/** A run survives the death of any process. */
describeLanguages('in the middle of a ten-node graph in $language', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;
  let proxy: PostgresProxy | undefined;

  beforeAll(async () => {
    gantry = await startGantry({ sweepSeconds: 1, graphs, graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(async () => {
    await gantry?.stop();
    await proxy?.stop();
  });

  async function startRun(
    graph = 'ten',
    input: Record<string, unknown> = { step_ms: STEP_MS },
    streamMode: StreamMode[] = ['updates'],
  ): Promise<{ thread: string; run: string; stream: string }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, graph, { input, streamMode });
    return { thread, run, stream: `${gantry.url}/threads/${thread}/runs/${run}/stream` };
  }

  const read = async (stream: string): Promise<SseEvent[]> => (await SseReader.get(stream)).rest();

  const untilNode = (run: string, count: number): Promise<true> =>
    waitFor(`${count} nodes of the run`, async () => (await gantry.ledger.of(run)).length >= count);

  /** Finished nodes ran once; the node in flight may have begun twice, with the same idempotency key. */
  async function expectEachNodeOnce(run: string): Promise<void> {
    const executions = await gantry.ledger.of(run);
    expect([...new Set(executions.map(({ node }) => node))]).toEqual(NODES);
    const repeated = NODES.filter((name) => executions.filter(({ node }) => node === name).length > 1);
    expect(repeated.length).toBeLessThanOrEqual(1);
    for (const name of repeated) {
      const both = executions.filter(({ node }) => node === name);
      expect(both).toHaveLength(2);
      expect(both[0].key).toBe(both[1].key);
      // An attempt may be handed over before it begins a node.
      expect(both[0].attempt).toBe(1);
      expect(both[1].attempt).toBeGreaterThan(1);
    }
    const keys = executions.map(({ key }) => key);
    expect(new Set(keys).size).toBe(NODES.length);
  }

  function expectNoGaps(events: SseEvent[], from = 0): void {
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(from + index)));
  }

  const updatedNodes = (events: SseEvent[]): string[] =>
    events.filter(({ event }) => event === 'updates').flatMap(({ data }) => Object.keys(data as object));

  /**
   * One kill hits four runs, each at the place that its case needs: in a node that takes seconds, or before the last of
   * many.
   */
  describe('SIGKILL of the worker', () => {
    let dead: number;
    let ten: Awaited<ReturnType<typeof startRun>>;
    let forked: Awaited<ReturnType<typeof startRun>>;
    let first: Awaited<ReturnType<typeof startRun>>;
    let waiting: string[];
    let careful: Awaited<ReturnType<typeof startRun>>;
    let tenEvents: Promise<SseEvent[]>;
    let forkedEvents: Promise<SseEvent[]>;

    beforeAll(async () => {
      careful = await startRun('careful', { step_ms: 5_000 });
      ten = await startRun('ten', { step_ms: 1_500 });
      tenEvents = read(ten.stream);
      forked = await startRun('fork', { step_ms: 12_000 }, ['updates', 'values']);
      forkedEvents = read(forked.stream);
      first = await startRun();
      waiting = [];
      for (let index = 0; index < 3; index += 1) {
        waiting.push((await client.runs.create(first.thread, 'three', { input: {} })).run_id);
      }
      await Promise.all([
        untilNode(ten.run, 4),
        untilNode(first.run, 2),
        waitFor('the end of the quick node beside the slow one', async () => {
          const executions = await gantry.ledger.of(forked.run);
          return (
            executions.length === 2 && executions.some(({ node, ended_at }) => node === 'quick' && ended_at !== null)
          );
        }),
        waitFor('its event', async () => {
          const sql = `SELECT 1 FROM run_events WHERE run_id = $1 AND event = 'updates'`;
          return (await gantry.sql.query(sql, [forked.run])).rows.length > 0;
        }),
      ]);
      await untilNode(careful.run, 2);
      dead = gantry.worker.pid;
      await gantry.killWorker('SIGKILL');
      await gantry.startWorker();
    });

    it('another one resumes the run where it was, and the open stream continues', async () => {
      const { thread, run, stream } = ten;
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
      expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
      expect(await client.threads.get(thread)).toMatchObject({ status: 'idle', values: { done: NODES } });
      await expectEachNodeOnce(run);
      expect(new Set((await gantry.ledger.of(run)).map(({ pid }) => pid))).toEqual(new Set([dead, gantry.worker.pid]));

      const events = await tenEvents;
      expectNoGaps(events);
      expect(updatedNodes(events)).toEqual(NODES);
      const attempts = events
        .filter(({ event }) => event === 'metadata')
        .map(({ data }) => (data as { attempt: number }).attempt);
      // An attempt may be lost before it begins a node, where a busy machine delays its heartbeats.
      expect(attempts.length).toBeGreaterThanOrEqual(2);
      expect(attempts).toEqual(attempts.map((_, index) => index + 1));
      expect(await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest()).toEqual(events);
    });

    it('beside a finished node: what was emitted of that node is not emitted again', async () => {
      const events = await forkedEvents;
      expectNoGaps(events);
      expect(updatedNodes(events)).toEqual(['quick', 'slow']);
      const values = events
        .filter(({ event }) => event === 'values')
        .map(({ data }) => (data as { done: string[] }).done);
      expect(values).toEqual([[], ['quick', 'slow']]);
      expect((await gantry.ledger.of(forked.run)).map(({ node }) => node).sort()).toEqual(['quick', 'slow', 'slow']);
    });

    it('while other runs wait for this one: each of them is run, in order', async () => {
      const { thread, run } = first;
      await Promise.all([run, ...waiting].map((id) => client.runs.join(thread, id)));
      const order = (
        await gantry.sql.query<{ run_id: string; status: string }>(
          'SELECT run_id, status FROM runs WHERE thread_id = $1 ORDER BY started_at',
          [thread],
        )
      ).rows;
      expect(order).toEqual([run, ...waiting].map((run_id) => ({ run_id, status: 'success' })));
      expect(await client.threads.get(thread)).toMatchObject({ status: 'idle' });
    });

    it('with `on_unknown: interrupt`: the node in doubt is not started again until a person confirms it', async () => {
      const { thread, run } = careful;
      const asked = (await client.runs.join(thread, run)) as unknown as { done: string[]; __interrupt__: unknown[] };
      const begun = (await gantry.ledger.of(run)).map(({ node }) => node);
      expect(begun).toEqual(NODES.slice(0, begun.length));
      expect(asked.done).toEqual(begun.slice(0, -1));
      expect(asked.__interrupt__).toEqual([
        expect.objectContaining({
          value: expect.objectContaining({ type: 'unknown_outcome', node: begun.at(-1), run_id: run }),
        }),
      ]);
      expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });

      expect(await client.runs.wait(thread, 'careful', { input: null })).toMatchObject({ done: NODES.slice(0, 3) });
      expect(await client.threads.get(thread)).toMatchObject({ status: 'idle', interrupts: {} });
    });
  });

  it('SIGKILL of the graph process: the run resumes at its last checkpoint in another one', async () => {
    const { thread, run, stream } = await startRun();
    await untilNode(run, 4);
    for (const pid of graphProcessesOf(gantry.worker.pid)) process.kill(pid, 'SIGKILL');
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    await expectEachNodeOnce(run);
    const events = await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest();
    expectNoGaps(events);
    expect(updatedNodes(events)).toEqual(NODES);
  });

  describe('a step whose nodes run one after the other', () => {
    const WORK = [1, 2, 3, 4].map((number) => `work_${number}`);
    const config = { max_concurrency: 1 } as object;

    async function startFan(input: object): Promise<{ thread: string; run: string }> {
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, 'fan', {
        input: { step_ms: STEP_MS, ...input },
        config,
      });
      return { thread, run };
    }

    const executed = async (run: string): Promise<string[]> => (await gantry.ledger.of(run)).map(({ node }) => node);

    it('SIGKILL of the graph process: those that had ended do not run again', async () => {
      const { thread, run } = await startFan({ step_ms: 4 * STEP_MS });
      await untilNode(run, 3);
      await waitFor('the results of two nodes', async () => {
        const { rows } = await gantry.sql.query(
          `SELECT DISTINCT task_id FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes
           WHERE strpos(thread_id, $1) > 0 AND channel = 'done'`,
          [thread],
        );
        return rows.length >= 2;
      });
      expect(await executed(run)).toEqual(WORK.slice(0, 3));
      for (const pid of graphProcessesOf(gantry.worker.pid)) process.kill(pid, 'SIGKILL');
      expect(await client.runs.join(thread, run)).toMatchObject({ done: WORK });
      expect(await executed(run)).toEqual(['work_1', 'work_2', 'work_3', 'work_3', 'work_4']);
    });

    it('the end of the run, by a client or an error: a later run runs all the others', async () => {
      const cancelled = await startFan({});
      const failed = await startFan({ fails: true });
      await untilNode(cancelled.run, 2);
      await client.runs.cancel(cancelled.thread, cancelled.run, true);
      await client.runs.join(failed.thread, failed.run);
      for (const { thread, run } of [cancelled, failed]) {
        expect((await client.runs.get(thread, run)).status).toBe(run === failed.run ? 'error' : 'interrupted');
        expect(await client.runs.wait(thread, 'fan', { input: null, config })).toMatchObject({ done: WORK });
      }
    });
  });

  it('the end of idle connections to Postgres: the graph process opens others, and repeats no finished node', async () => {
    const { thread, run } = await startRun();
    await untilNode(run, 4);
    const { rows } = await gantry.sql.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'gantry-graphs' AND datname = current_database()`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    const executions = await gantry.ledger.of(run);
    expect(executions.map(({ node, attempt }) => [node, attempt])).toEqual(NODES.map((node) => [node, 1]));
  });

  it('an outage of Postgres while a node ends: its result is written afterwards, and the node does not run again', async () => {
    // The worker that is connected through the proxy serves the cases after this one as well.
    proxy = await PostgresProxy.start(gantry.database.url);
    await gantry.killWorker('SIGTERM');
    await gantry.startWorker({ DATABASE_URL: proxy.url });
    const { thread, run } = await startRun();
    await untilNode(run, 4);
    // The worker keeps its connections: it ends an attempt whose events it can't write.
    proxy.cut('gantry-graphs');
    await waitFor('a write of the graph process', () => proxy!.refused > 0);
    proxy.repair();
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    const executions = await gantry.ledger.of(run);
    expect(executions.map(({ node, attempt }) => [node, attempt])).toEqual(NODES.map((node) => [node, 1]));
  });

  it('a connection that is reset while a checkpoint is written: another attempt ends the run', async () => {
    const { thread, run } = await startRun();
    await untilNode(run, 3);
    const lock = await gantry.sql.connect();
    try {
      await lock.query(`BEGIN; LOCK TABLE ${CHECKPOINT_SCHEMA}.checkpoints IN ACCESS EXCLUSIVE MODE`);
      await waitFor('a write that waits for the lock', async () => {
        const { rows } = await gantry.sql.query(
          `SELECT FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'gantry-graphs' AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      proxy!.reset('gantry-graphs');
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
    }
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
  });

  it('SIGKILL of the api: the run continues, and its stream is rejoined after the last id without a gap', async () => {
    const { thread, run, stream } = await startRun();
    const reader = await SseReader.get(stream);
    const before = await reader.until(({ event }) => event === 'updates');
    await gantry.killApi('SIGKILL');
    await expect(reader.rest()).rejects.toThrow();
    await gantry.startApi();
    const after = await (await SseReader.get(stream, { 'last-event-id': before.at(-1)!.id! })).rest();
    expectNoGaps([...before, ...after]);
    expect(updatedNodes([...before, ...after])).toEqual(NODES);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
    const executions = await gantry.ledger.of(run);
    expect(executions.map(({ node, attempt }) => [node, attempt])).toEqual(NODES.map((node) => [node, 1]));
  });

  describe('SIGKILL of both at once', () => {
    let kept: Awaited<ReturnType<typeof startRun>>;
    let cancelled: Awaited<ReturnType<typeof startRun>>;

    beforeAll(async () => {
      kept = await startRun();
      cancelled = await startRun();
      await Promise.all([untilNode(kept.run, 3), untilNode(cancelled.run, 2)]);
      // The worker never learns of the cancellation.
      gantry.worker.signal('SIGSTOP');
      await client.runs.cancel(cancelled.thread, cancelled.run);
      await Promise.all([gantry.killApi('SIGKILL'), gantry.killWorker('SIGKILL')]);
      await Promise.all([gantry.startApi(), gantry.startWorker()]);
    });

    it('nothing but time is lost', async () => {
      const { thread, run, stream } = kept;
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
      await expectEachNodeOnce(run);
      expectNoGaps(await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest());
    });

    it('a run that the worker was to cancel is cancelled nevertheless', async () => {
      const { thread, run } = cancelled;
      await client.runs.join(thread, run);
      expect(await client.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
      const executed = (await gantry.ledger.of(run)).length;
      expect(executed).toBeLessThan(NODES.length);
      // Its next node may have ended right before the kill. Python then lists it here, and no longer under `next`.
      expect((await client.threads.getState(thread)).tasks).toMatchObject([{ name: expect.stringMatching(/^node_/) }]);
    });
  });

  it('SIGKILL of the worker before it emitted finished nodes: the next one emits them, once and in order', async () => {
    const { run, stream } = await startRun('ten', { step_ms: STEP_MS }, ['updates', 'values', 'tasks']);
    const open = read(stream);
    await untilNode(run, 2);
    // Checkpoints are written on, events wait for the lock, and die with the worker that asked for it.
    const lock = await gantry.sql.connect();
    try {
      await lock.query('BEGIN; LOCK TABLE run_events IN SHARE MODE');
      await untilNode(run, 6);
      await gantry.killWorker('SIGKILL');
      const { rows } = await lock.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'run_events'::regclass AND NOT granted`,
      );
      expect(rows.length).toBeGreaterThan(0);
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
    }
    await gantry.startWorker();
    const events = await open;
    expectNoGaps(events);
    expect(updatedNodes(events)).toEqual(NODES);
    const values = events
      .filter(({ event }) => event === 'values')
      .map(({ data }) => (data as { done: string[] }).done);
    expect(values).toEqual([[], ...NODES.map((_, index) => NODES.slice(0, index + 1))]);
    const ends = events.flatMap(({ event, data }) =>
      event === 'tasks' && 'result' in (data as object) ? [(data as { name: string }).name] : [],
    );
    expect(ends).toEqual(NODES);
    await expectEachNodeOnce(run);
  });

  describe('SIGTERM of a worker', () => {
    let leaving: GantryProcess;
    let ten: Awaited<ReturnType<typeof startRun>>;
    let careful: Awaited<ReturnType<typeof startRun>>;

    beforeAll(async () => {
      leaving = gantry.worker;
      careful = await startRun('careful', { step_ms: 4_000 });
      ten = await startRun('ten', { step_ms: 2 * STEP_MS });
      await Promise.all([untilNode(ten.run, 3), untilNode(careful.run, 1)]);
      // Not after the start of the other one, in which a busy machine may finish the runs.
      await Promise.all([gantry.killWorker('SIGTERM', leaving), gantry.startWorker()]);
    });

    it('hands the run to another worker at a checkpoint: no node runs twice, and none is interrupted', async () => {
      const { thread, run, stream } = ten;
      expect(leaving.exitCode).toBe(0);
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
      const executions = await gantry.ledger.of(run);
      expect(executions.map(({ node }) => node)).toEqual(NODES);
      expect(executions.every(({ ended_at }) => ended_at !== null)).toBe(true);
      expect([...new Set(executions.map(({ pid }) => pid))]).toEqual([leaving.pid, gantry.worker.pid]);
      const events = await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest();
      expectNoGaps(events);
      expect(events.map(({ event }) => event)).not.toContain('error');
      expect(updatedNodes(events)).toEqual(NODES);
    });

    it('leaves nothing in doubt: a graph that asks in case of doubt asks nothing', async () => {
      const { thread, run } = careful;
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES.slice(0, 3) });
      const executions = await gantry.ledger.of(run);
      expect(executions.map(({ node }) => node)).toEqual(NODES.slice(0, 3));
      expect(executions.at(-1)).toMatchObject({ attempt: 2, pid: gantry.worker.pid });
    });
  });
});
