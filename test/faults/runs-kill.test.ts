import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { SseReader, type SseEvent } from '../support/sse';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const STEP_MS = 500;

/** A run survives the death of whatever carries it. */
describe('SIGKILL in the middle of a ten-node graph', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ env: { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2' } });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  async function startRun(): Promise<{ thread: string; run: string; stream: string }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'ten', {
      input: { step_ms: STEP_MS },
      streamMode: 'updates',
    });
    return { thread, run, stream: `${gantry.url}/threads/${thread}/runs/${run}/stream` };
  }

  const untilNode = (run: string, count: number): Promise<true> =>
    waitFor(`${count} nodes of the run`, async () => (await gantry.ledger.of(run)).length >= count);

  /** Finished nodes ran once; the one in flight may have begun twice, and said so to its tools by the same key. */
  async function expectEachNodeOnce(run: string): Promise<void> {
    const executions = await gantry.ledger.of(run);
    expect([...new Set(executions.map(({ node }) => node))]).toEqual(NODES);
    const repeated = NODES.filter((name) => executions.filter(({ node }) => node === name).length > 1);
    expect(repeated.length).toBeLessThanOrEqual(1);
    for (const name of repeated) {
      const both = executions.filter(({ node }) => node === name);
      expect(both).toHaveLength(2);
      expect(both[0].key).toBe(both[1].key);
      expect(both.map(({ attempt }) => attempt)).toEqual([1, 2]);
    }
    const keys = executions.map(({ key }) => key);
    expect(new Set(keys).size).toBe(NODES.length);
  }

  function expectNoGaps(events: SseEvent[], from = 0): void {
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(from + index)));
  }

  const updatedNodes = (events: SseEvent[]): string[] =>
    events.filter(({ event }) => event === 'updates').flatMap(({ data }) => Object.keys(data as object));

  it('of the worker: another one finishes the run where it was, and the open stream goes on', async () => {
    const { thread, run, stream } = await startRun();
    const open = SseReader.get(stream).then((reader) => reader.rest());
    await untilNode(run, 4);
    const dead = gantry.worker.pid;
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'idle', values: { done: NODES } });
    await expectEachNodeOnce(run);
    expect(new Set((await gantry.ledger.of(run)).map(({ pid }) => pid))).toEqual(new Set([dead, gantry.worker.pid]));

    const events = await open;
    expectNoGaps(events);
    expect(updatedNodes(events)).toEqual(NODES);
    const attempts = events
      .filter(({ event }) => event === 'metadata')
      .map(({ data }) => (data as { attempt: number }).attempt);
    expect(attempts).toEqual([1, 2]);
    expect(await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest()).toEqual(events);
  }, 90_000);

  it('of the api: the run goes on meanwhile, and its stream is rejoined behind the last id without a gap', async () => {
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
  }, 60_000);

  it('of both at once: nothing but time is lost', async () => {
    const { thread, run, stream } = await startRun();
    await untilNode(run, 3);
    await Promise.all([gantry.killApi('SIGKILL'), gantry.killWorker('SIGKILL')]);
    await Promise.all([gantry.startApi(), gantry.startWorker()]);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    await expectEachNodeOnce(run);
    expectNoGaps(await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest());
  }, 90_000);

  it('of the worker beside a finished node: what was told of that one is not told again', async () => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'fork', {
      input: { step_ms: 4_000 },
      streamMode: ['updates', 'values'],
    });
    const open = SseReader.get(`${gantry.url}/threads/${thread}/runs/${run}/stream`).then((reader) => reader.rest());
    await waitFor('the end of the quick node beside the slow one', async () => {
      const executions = await gantry.ledger.of(run);
      return executions.length === 2 && executions.some(({ node, ended_at }) => node === 'quick' && ended_at !== null);
    });
    await waitFor('its event', async () => {
      const { rows } = await gantry.sql.query(`SELECT 1 FROM run_events WHERE run_id = $1 AND event = 'updates'`, [
        run,
      ]);
      return rows.length > 0;
    });
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    const events = await open;
    expectNoGaps(events);
    expect(updatedNodes(events)).toEqual(['quick', 'slow']);
    const values = events
      .filter(({ event }) => event === 'values')
      .map(({ data }) => (data as { done: string[] }).done);
    expect(values).toEqual([[], ['quick', 'slow']]);
    expect((await gantry.ledger.of(run)).map(({ node }) => node).sort()).toEqual(['quick', 'slow', 'slow']);
  }, 90_000);

  it('of the worker before it told of finished nodes: the next one tells of them, once and in order', async () => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'ten', {
      input: { step_ms: STEP_MS },
      streamMode: ['updates', 'values', 'tasks'],
    });
    const open = SseReader.get(`${gantry.url}/threads/${thread}/runs/${run}/stream`).then((reader) => reader.rest());
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
  }, 90_000);

  it('of the worker while runs wait behind: each of them is run, in order', async () => {
    const { thread, run } = await startRun();
    const waiting = [];
    for (let index = 0; index < 3; index += 1) waiting.push(await client.runs.create(thread, 'three', { input: {} }));
    await untilNode(run, 2);
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    await Promise.all([run, ...waiting.map(({ run_id }) => run_id)].map((id) => client.runs.join(thread, id)));
    const order = (
      await gantry.sql.query<{ run_id: string; status: string }>(
        'SELECT run_id, status FROM runs WHERE thread_id = $1 ORDER BY started_at',
        [thread],
      )
    ).rows;
    expect(order).toEqual(
      [run, ...waiting.map(({ run_id }) => run_id)].map((run_id) => ({ run_id, status: 'success' })),
    );
    expect(await client.threads.get(thread)).toMatchObject({ status: 'idle' });
  }, 90_000);

  it('of a worker that was cancelling: the run is cancelled all the same', async () => {
    const { thread, run } = await startRun();
    await untilNode(run, 2);
    gantry.worker.signal('SIGSTOP');
    await client.runs.cancel(thread, run);
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    await client.runs.join(thread, run);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
    const executed = (await gantry.ledger.of(run)).length;
    expect(executed).toBeLessThan(NODES.length);
    expect(await client.threads.getState(thread)).toMatchObject({ next: [expect.stringMatching(/^node_/)] });
  }, 90_000);

  it('with `on_unknown: interrupt`: the node in doubt is not started again until somebody says so', async () => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'careful', { input: { step_ms: 2_500 } });
    await untilNode(run, 2);
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    const asked = (await client.runs.join(thread, run)) as unknown as { done: string[]; __interrupt__: unknown[] };
    expect(asked.done).toEqual(['node_1']);
    expect(asked.__interrupt__).toEqual([
      expect.objectContaining({
        value: expect.objectContaining({ type: 'unknown_outcome', node: 'node_2', run_id: run }),
      }),
    ]);
    expect((await gantry.ledger.of(run)).map(({ node }) => node)).toEqual(['node_1', 'node_2']);
    expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });

    expect(await client.runs.wait(thread, 'careful', { input: null })).toMatchObject({ done: NODES.slice(0, 3) });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'idle', interrupts: {} });
  }, 90_000);
});

describe('SIGTERM in the middle of a ten-node graph', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ workers: 2 });
  });

  afterAll(() => gantry?.stop());

  it('hands the run to another worker at a checkpoint: no node runs twice, and none is interrupted', async () => {
    const client = gantry.client();
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'ten', {
      input: { step_ms: STEP_MS },
      streamMode: 'updates',
    });
    const [first] = await waitFor('the third node', async () => {
      const executions = await gantry.ledger.of(run);
      return executions.length >= 3 && executions;
    });
    const leaving = gantry.workers.find(({ pid }) => pid === first.pid)!;
    await gantry.killWorker('SIGTERM', leaving);
    expect(leaving.exitCode).toBe(0);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    const executions = await gantry.ledger.of(run);
    expect(executions.map(({ node }) => node)).toEqual(NODES);
    expect(executions.every(({ ended_at }) => ended_at !== null)).toBe(true);
    expect([...new Set(executions.map(({ pid }) => pid))]).toEqual([leaving.pid, gantry.worker.pid]);
    const stream = `${gantry.url}/threads/${thread}/runs/${run}/stream`;
    const events = await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest();
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
    expect(events.map(({ event }) => event)).not.toContain('error');
    const updates = events.filter(({ event }) => event === 'updates');
    expect(updates.flatMap(({ data }) => Object.keys(data as object))).toEqual(NODES);
  }, 60_000);

  it('leaves nothing in doubt: a graph that asks in that case has nothing to ask', async () => {
    const client = gantry.client();
    await gantry.startWorker();
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'careful', { input: { step_ms: 2_500 } });
    const [first] = await waitFor('the first node', async () => {
      const executions = await gantry.ledger.of(run);
      return executions.length > 0 && executions;
    });
    await gantry.killWorker(
      'SIGTERM',
      gantry.workers.find(({ pid }) => pid === first.pid)!,
    );
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES.slice(0, 3) });
    expect((await gantry.ledger.of(run)).map(({ attempt }) => attempt)).toEqual([1, 2, 2]);
  }, 60_000);
});

describe('Runs that kill whatever executes them', () => {
  it("end none of the runs beside them, which are another tenant's", async () => {
    const admin = 'admin-key-0123456789';
    const gantry = await startGantry({
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: admin,
        GANTRY_RUN_LOST_ATTEMPTS: '2',
        GANTRY_GRAPH_THREADS_MAX: '2',
      },
    });
    const newTenant = async (name: string): Promise<Client> => {
      const post = async <T>(path: string, body: unknown): Promise<T> => {
        const headers = { 'content-type': 'application/json', 'x-api-key': admin };
        const response = await fetch(gantry.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
        return (await response.json()) as T;
      };
      const { tenant_id } = await post<{ tenant_id: string }>('/admin/tenants', { name });
      const { key } = await post<{ key: string }>('/admin/keys', { tenant_id, name: 'test' });
      return gantry.client({ apiKey: key });
    };
    const start = async (client: Client, graph: string, input: object): Promise<{ thread: string; run: string }> => {
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, graph, { input: input as Record<string, unknown> });
      return { thread, run };
    };
    try {
      const [healthy, poisonous] = [await newTenant('healthy'), await newTenant('poisonous')];
      const good = await Promise.all(Array.from({ length: 4 }, () => start(healthy, 'sleep', { sleep_ms: 4_000 })));
      await waitFor('the healthy runs to be in their threads', async () => (await gantry.ledger.all()).length === 4);
      const bad = await Promise.all(Array.from({ length: 5 }, () => start(poisonous, 'poison', {})));
      for (const { thread, run } of good) {
        await healthy.runs.join(thread, run);
        expect(await healthy.runs.get(thread, run)).toMatchObject({ status: 'success' });
      }
      for (const { thread, run } of bad) {
        await poisonous.runs.join(thread, run);
        expect(await poisonous.threads.get(thread)).toMatchObject({ status: 'error', error: { error: 'RunLost' } });
      }
      // The healthy ones were in the threads that died: else this shows nothing.
      const attempts = (await gantry.ledger.all()).filter(({ node }) => node === 'nap');
      expect(attempts.length).toBeGreaterThan(4);
    } finally {
      await gantry.stop();
    }
  }, 180_000);
});

describe('A run that kills whatever executes it', () => {
  it('ends as an error after so many attempts, and its finished nodes ran once', async () => {
    const gantry = await startGantry({ env: { GANTRY_RUN_LOST_ATTEMPTS: '3' } });
    try {
      const client = gantry.client();
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, 'poison', { input: {} });
      await client.runs.join(thread, run);
      expect(await client.runs.get(thread, run)).toMatchObject({ status: 'error' });
      expect(await client.threads.get(thread)).toMatchObject({ status: 'error', error: { error: 'RunLost' } });
      expect((await gantry.ledger.of(run)).map(({ node }) => node)).toEqual([
        'fine',
        // Once in a host that others may share, then three times in one of its own.
        ...Array<string>(4).fill('deadly'),
      ]);
      // The worker has outlived it.
      expect(await client.runs.wait(null, 'three', { input: {} })).toMatchObject({ done: NODES.slice(0, 3) });
    } finally {
      await gantry.stop();
    }
  }, 90_000);
});
