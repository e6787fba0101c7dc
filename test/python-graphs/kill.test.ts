import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, StreamMode } from '@langchain/langgraph-sdk';
import { amount } from '../support/amount';
import { type Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { pythonForGraphs } from '../support/python';
import { type SseEvent, SseReader } from '../support/sse';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const STEP_MS = 500;

/** A run of a graph in Python survives the death of any process. */
describe('in the middle of a ten-node graph in Python', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, 'project', 'langgraph.json'),
      env: { GANTRY_PYTHON: pythonForGraphs(), GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2' },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  async function startRun(streamMode: StreamMode[] = ['updates'], stepMs = STEP_MS) {
    const { thread_id: thread } = await client.threads.create();
    const input = { step_ms: stepMs };
    const { run_id: run } = await client.runs.create(thread, 'ten', { input, streamMode });
    return { thread, run, stream: `${gantry.url}/threads/${thread}/runs/${run}/stream` };
  }

  const untilNode = (run: string, count: number): Promise<true> =>
    waitFor(`${count} nodes of the run`, async () => (await gantry.ledger.of(run)).length >= count);

  const readAll = async (stream: string): Promise<SseEvent[]> =>
    (await SseReader.get(stream, { 'last-event-id': '-1' })).rest();

  const updatedNodes = (events: SseEvent[]): string[] =>
    events.filter(({ event }) => event === 'updates').flatMap(({ data }) => Object.keys(data as object));

  /** Id of the worker's process in which graphs in Python run. */
  const graphProcesses = (): number[] =>
    graphProcessesOf(gantry.worker.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('gantry_graphs'),
    );

  /** Finished nodes ran once; the one in flight may have begun twice, and passed its tools the same key. */
  async function expectFinishedWithoutGap({ thread, run, stream }: Awaited<ReturnType<typeof startRun>>) {
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
    const executions = await gantry.ledger.of(run);
    expect([...new Set(executions.map(({ node }) => node))]).toEqual(NODES);
    expect(executions.length).toBeLessThanOrEqual(NODES.length + 1);
    expect(new Set(executions.map(({ key }) => key)).size).toBe(NODES.length);
    const events = await readAll(stream);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
    expect(updatedNodes(events)).toEqual(NODES);
  }

  it('SIGKILL of the graph process: the run resumes from its last checkpoint in another one', async () => {
    const run = await startRun();
    await untilNode(run.run, 4);
    for (const pid of graphProcesses()) process.kill(pid, 'SIGKILL');
    await expectFinishedWithoutGap(run);
    expect((await gantry.ledger.of(run.run)).at(-1)!.attempt).toBe(2);
  }, 90_000);

  it('SIGKILL of the worker: another one finishes the run', async () => {
    const run = await startRun();
    await untilNode(run.run, 4);
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    await expectFinishedWithoutGap(run);
  }, 90_000);

  it('SIGSTOP of the graph process: when it wakes, what it still writes is refused', async () => {
    const run = await startRun(['updates', 'values'], 3_000);
    await untilNode(run.run, 2);
    const frozen = graphProcesses();
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    const first = gantry.worker;
    first.signal('SIGSTOP');
    await gantry.startWorker();
    await waitFor('the next attempt', async () =>
      (await gantry.ledger.of(run.run)).some(({ attempt }) => attempt === 2),
    );
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
    first.signal('SIGCONT');
    await expectFinishedWithoutGap(run);
    await gantry.killWorker('SIGKILL', first);
  }, 120_000);

  it('SIGTERM of the worker: it hands the run back at a checkpoint, and no node is repeated', async () => {
    const run = await startRun();
    await untilNode(run.run, 3);
    const next = gantry.startWorker();
    await gantry.killWorker('SIGTERM', gantry.workers[0]);
    await next;
    await expectFinishedWithoutGap(run);
    expect(await gantry.ledger.of(run.run)).toHaveLength(NODES.length);
  }, 90_000);

  it('SIGKILL before finished nodes were emitted: the next attempt emits them, once and in order', async () => {
    const run = await startRun(['updates', 'values', 'tasks']);
    await untilNode(run.run, 2);
    // Checkpoints are still written; events wait for the lock, and are lost with the worker that asked for it.
    const lock = await gantry.sql.connect();
    try {
      await lock.query('BEGIN; LOCK TABLE run_events IN SHARE MODE');
      await untilNode(run.run, 6);
      await gantry.killWorker('SIGKILL');
      await lock.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'run_events'::regclass AND NOT granted`,
      );
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
    }
    await gantry.startWorker();
    await expectFinishedWithoutGap(run);
    const events = await readAll(run.stream);
    const values = events
      .filter(({ event }) => event === 'values')
      .map(({ data }) => (data as { done: string[] }).done);
    expect(values).toEqual([[], ...NODES.map((_, index) => NODES.slice(0, index + 1))]);
    const ends = events.flatMap(({ event, data }) =>
      event === 'tasks' && 'result' in (data as object) ? [(data as { name: string }).name] : [],
    );
    expect(ends).toEqual(NODES);
  }, 90_000);
});

describe('runs of a graph in Python that kill the process that executes them', () => {
  const admin = 'admin-key-0123456789';
  let gantry: Gantry;
  let healthy: Client;
  let poisonous: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, 'project', 'langgraph.json'),
      env: {
        GANTRY_PYTHON: pythonForGraphs(),
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: admin,
        GANTRY_RUN_LOST_ATTEMPTS: '2',
        GANTRY_GRAPH_THREADS_MAX: '2',
      },
    });
    const tenants = [await TenantCaller.create(gantry.url, admin), await TenantCaller.create(gantry.url, admin)];
    [healthy, poisonous] = tenants.map(({ key }) => gantry.client({ apiKey: key }));
  }, 90_000);

  afterAll(() => gantry?.stop());

  const start = async (client: Client, graph: string, input: object): Promise<{ thread: string; run: string }> => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, graph, { input: input as Record<string, unknown> });
    return { thread, run };
  };

  it("end none of the concurrent runs, which are another tenant's", async () => {
    const good = await Promise.all(Array.from({ length: 4 }, () => start(healthy, 'ten', { step_ms: 1_000 })));
    await waitFor('the healthy runs to be in their processes', async () => {
      const executions = await gantry.ledger.all();
      return good.every(({ run }) => executions.some(({ run_id }) => run_id === run));
    });
    const bad = await Promise.all(Array.from({ length: amount(3, 5) }, () => start(poisonous, 'poison', {})));
    for (const { thread, run } of good) {
      expect(await healthy.runs.join(thread, run)).toMatchObject({ done: NODES });
      expect(await healthy.runs.get(thread, run)).toMatchObject({ status: 'success' });
    }
    for (const { thread, run } of bad) {
      await poisonous.runs.join(thread, run);
      expect(await poisonous.threads.get(thread)).toMatchObject({ status: 'error', error: { error: 'RunLost' } });
    }
    // The healthy ones were in the processes that died: else this shows nothing.
    const attempts = (await gantry.ledger.all()).filter(({ run_id }) => good.some(({ run }) => run === run_id));
    expect(Math.max(...attempts.map(({ attempt }) => attempt))).toBeGreaterThan(1);
  }, 180_000);
});
