import type { Client } from '@langchain/langgraph-sdk';
import { WorkflowNotFoundError } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { RUN_DUE_CHANNEL } from '../../src/streams/run-event';
import { RUNS_QUEUE } from '../../workflows/contracts/queues';
import { runWorkflowId } from '../../workflows/contracts/run.contract';
import { amount } from '../support/amount';
import { Gantry, startGantry } from '../support/gantry';
import type { Execution } from '../support/ledger';
import { waitFor } from '../support/wait-for';

const { EventType } = temporal.api.enums.v1;
const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const STEP_MS = 250;
/** Slow enough for a dozen runs to be in flight together after their first two seconds, which no activity watches. */
const WATCHED_STEP_MS = 1_000;

/**
 * Heartbeats that nothing here waits for: a worker that is killed is missed by the end of its session with Postgres. Files about frozen
 * workers show the heartbeat.
 */
const HEARTBEAT_SECONDS = '3600';

/** Only the node that was in flight when its worker was lost may have run twice. */
function expectOneNodeRepeatedAtMost(executions: Execution[]): void {
  const repeated = NODES.filter((name) => executions.filter(({ node }) => node === name).length > 1);
  expect(repeated.length).toBeLessThanOrEqual(1);
  expect(executions).toHaveLength(NODES.length + repeated.length);
}

/**
 * In its first moments a run is executed before any activity watches it, and with several workers often in another process
 * than the one that has its workflow.
 */
describe('a run that has just begun', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      workers: 2,
      graphProcesses: 1,
      env: { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: HEARTBEAT_SECONDS },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  async function startRun(stepMs = STEP_MS): Promise<{ thread: string; run: string; first: Execution }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'ten', { input: { step_ms: stepMs } });
    const first = await waitFor('the first node', async () => (await gantry.ledger.of(run))[0]);
    return { thread, run, first };
  }

  /** Types of the events of the run's workflow. */
  async function historyOf(run: string): Promise<string[]> {
    const { events } = await (await gantry.workflowOf(run)).fetchHistory();
    return (events ?? []).map(({ eventType }) => EventType[eventType!]);
  }

  /** Identities of the workers that execute activities of the run's workflow. */
  async function watchersOf(run: string): Promise<string[]> {
    const { raw } = await (await gantry.workflowOf(run)).describe();
    return (raw.pendingActivities ?? []).map(({ lastWorkerIdentity }) => lastWorkerIdentity ?? '');
  }

  /** Kills the worker that owns the run; the other one continues, and a new one is started. */
  async function end(signal: NodeJS.Signals, { pid }: Execution): Promise<void> {
    const holder = gantry.workers.find((worker) => worker.pid === pid)!;
    await Promise.all([gantry.killWorker(signal, holder), gantry.startWorker()]);
  }

  /** A run as an api leaves it that dies after storing it, and before the start of its workflow; a worker has begun it. */
  async function startWithoutWorkflow(): Promise<{ thread: string; run: string }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'ten', {
      input: { step_ms: WATCHED_STEP_MS },
      afterSeconds: 3600,
    });
    await (await gantry.workflowOf(run)).terminate();
    await gantry.sql.query('UPDATE runs SET scheduled_at = now() WHERE run_id = $1', [run]);
    await gantry.sql.query('SELECT pg_notify($1, $2)', [RUN_DUE_CHANNEL, run]);
    await waitFor('the first node', async () => (await gantry.ledger.of(run)).length > 0);
    return { thread, run };
  }

  it('is handed over by a worker that stops: no node is repeated, and none is interrupted', async () => {
    for (let round = 0; round < amount(1, 4); round += 1) {
      const { thread, run, first } = await startRun();
      await end('SIGTERM', first);
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
      const executions = await gantry.ledger.of(run);
      expect(executions.map(({ node }) => node)).toEqual(NODES);
      expect(executions.every(({ ended_at }) => ended_at !== null)).toBe(true);
    }
  });

  it('is finished by another worker when its own is killed: only the node in flight starts again', async () => {
    for (let round = 0; round < amount(1, 2); round += 1) {
      const { thread, run, first } = await startRun();
      await end('SIGKILL', first);
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
      const executions = await gantry.ledger.of(run);
      expectOneNodeRepeatedAtMost(executions);
    }
  });

  it('and twenty others, one without a workflow, are finished by another worker: their finished nodes ran once', async () => {
    const earlier = await Promise.all(Array.from({ length: 12 }, () => startRun(WATCHED_STEP_MS)));
    await waitFor('activities that watch them', async () => {
      const watchers = await Promise.all(earlier.map(({ run }) => watchersOf(run)));
      return watchers.every(({ length }) => length === 1);
    });
    const runs = [...earlier, ...(await Promise.all(Array.from({ length: 8 }, () => startRun())))];
    const unstarted = await startWithoutWorkflow();
    // No worker that owned any of them is left.
    await Promise.all([
      ...[...gantry.workers].map((worker) => gantry.killWorker('SIGKILL', worker)),
      gantry.startWorker(),
      gantry.startWorker(),
    ]);
    for (const { thread, run } of runs) {
      expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
      const executions = await gantry.ledger.of(run);
      const inFlight = executions.filter(({ ended_at }) => ended_at === null);
      expect(inFlight.length).toBeLessThanOrEqual(1);
      expectOneNodeRepeatedAtMost(executions);
    }
    expect(await client.runs.join(unstarted.thread, unstarted.run)).toMatchObject({ done: NODES });
    const attempts = (await gantry.ledger.of(unstarted.run)).map(({ attempt }) => attempt);
    expect(new Set(attempts)).toEqual(new Set([1, 2]));
  });

  it('gets a workflow that watches it where it was taken over: it has two attempts', async () => {
    const { thread, run, first } = await startRun(WATCHED_STEP_MS);
    await waitFor('the activity that watches it', async () => (await watchersOf(run)).length === 1);
    await end('SIGKILL', first);
    await waitFor('its next attempt', async () => (await gantry.ledger.of(run)).some(({ attempt }) => attempt === 2));
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    expect(await (await gantry.workflowOf(run)).result()).toEqual({ ending: 'success' });
    const history = await historyOf(run);
    // It found the run, rather than taking it from the worker that has it.
    expect(history.filter((type) => type === 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toHaveLength(1);
    expect(history).toContain('EVENT_TYPE_MARKER_RECORDED');
    const attempts = (await gantry.ledger.of(run)).map(({ attempt }) => attempt);
    expect(new Set(attempts)).toEqual(new Set([1, 2]));
  });

  it('stays where it is when the session of its worker is disconnected and reconnects', async () => {
    const { thread, run } = await startRun();
    const { rows } = await gantry.sql.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gantry-owner' AND datname = current_database()`,
    );
    expect(rows).toHaveLength(2);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    expect((await gantry.ledger.of(run)).map(({ node, attempt }) => [node, attempt])).toEqual(
      NODES.map((node) => [node, 1]),
    );
  });

  it('is taken over from a worker that lives without a session, whose writes are refused from then on', async () => {
    const watched = await startRun();
    await waitFor('the activity that watches it', async () => (await watchersOf(watched.run)).length === 1);
    const runs = [watched, ...(await Promise.all(Array.from({ length: 5 }, () => startRun())))];
    const findOwner = async (): Promise<{ owner_id: number; pid: number } | undefined> => {
      const { rows } = await gantry.sql.query<{ owner_id: number; pid: number }>(
        `SELECT o.owner_id, l.pid FROM run_owners o JOIN pg_locks l ON l.objid = o.owner_id::oid
         WHERE o.task_queue = $1 AND l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
           AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [taskQueue],
      );
      return rows[0];
    };
    const { rows } = await gantry.sql.query<{ task_queue: string }>('SELECT task_queue FROM runs WHERE run_id = $1', [
      watched.run,
    ]);
    const taskQueue = rows[0].task_queue;
    const before = await findOwner();
    const blocker = await gantry.sql.connect();
    try {
      // Its worker can't register another session, and the other worker sees that.
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE run_owners IN SHARE ROW EXCLUSIVE MODE');
      await blocker.query('SELECT pg_terminate_backend($1)', [before?.pid]);
      for (const { thread, run } of runs) expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    } finally {
      await blocker.query('COMMIT');
      blocker.release();
    }
    await waitFor('the worker to be back under another id', async () => {
      const now = await findOwner();
      return now !== undefined && now.owner_id !== before?.owner_id;
    });
    for (const { run } of runs) {
      // The worker that lost the run has finished the node that it was at, and begun no other.
      const executions = await gantry.ledger.of(run);
      expectOneNodeRepeatedAtMost(executions);
      // Its workflow, which sees the loss as well, left the run to the worker that took it over.
      expect(Math.max(...executions.map(({ attempt }) => attempt))).toBeLessThanOrEqual(2);
    }
  });

  it('is watched where it is when its workflow is on another worker: it has one attempt', async () => {
    const workers = new Set<number>();
    // Which worker is the first to begin a run is chance: there are runs until both have been.
    for (let round = 0; workers.size < 2; round += 1) {
      expect(round).toBeLessThan(6);
      const runs = await Promise.all(Array.from({ length: 8 }, () => startRun()));
      for (const { thread, run, first } of runs) {
        expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
        const executions = await gantry.ledger.of(run);
        expect(executions.map(({ node, attempt }) => [node, attempt])).toEqual(NODES.map((node) => [node, 1]));
        workers.add(first.pid);
      }
    }
  });

  it('has no workflow when it is over soon, and leaves none', async () => {
    const run = await waitFor('a run that is over soon', async () => {
      const { thread_id: thread } = await client.threads.create();
      const { run_id: id } = await client.runs.create(thread, 'three', { input: { step_ms: 0 } });
      await client.runs.join(thread, id);
      // On a busy machine, the first one may wait for a process.
      const { rows } = await gantry.sql.query<{ soon: boolean }>(
        `SELECT ended_at - created_at < interval '1 second' AS soon FROM runs WHERE run_id = $1`,
        [id],
      );
      return rows[0].soon && id;
    });
    // A workflow that is to come would come before that of a later run.
    await gantry.workflowOf((await startRun()).run);
    await expect(gantry.temporal.workflow.getHandle(runWorkflowId(run)).describe()).rejects.toThrow(
      WorkflowNotFoundError,
    );
  });

  it('gets a workflow when it takes longer, which watches it where it is', async () => {
    const { thread, run } = await startRun();
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    expect(await (await gantry.workflowOf(run)).result()).toEqual({ ending: 'success' });
    expect(await historyOf(run)).toContain('EVENT_TYPE_ACTIVITY_TASK_COMPLETED');
    expect((await gantry.ledger.of(run)).map(({ node, attempt }) => [node, attempt])).toEqual(
      NODES.map((node) => [node, 1]),
    );
  });

  it('ends when it is cancelled before it has a workflow', async () => {
    const { thread, run } = await startRun(WATCHED_STEP_MS);
    await client.runs.cancel(thread, run, true);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
    expect((await gantry.ledger.of(run)).length).toBeLessThan(NODES.length);
  });

  it('ends when a request to cancel it reached neither its worker nor a workflow', async () => {
    const { thread, run } = await startRun(WATCHED_STEP_MS);
    // As the api stores it, without the notification.
    await gantry.sql.query(`UPDATE runs SET cancel_action = 'interrupt' WHERE run_id = $1`, [run]);
    await client.runs.join(thread, run);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
    expect((await gantry.ledger.of(run)).length).toBeLessThan(NODES.length);
  });

  it('is handed over although Temporal gave its task to a poll that its worker had ended', async () => {
    await Promise.all(gantry.workers.slice(1).map((worker) => gantry.killWorker('SIGTERM', worker)));
    const { thread, run } = await startRun(WATCHED_STEP_MS);
    const { workflowService, options } = gantry.temporal;
    // Like the poll of a worker that has stopped: what it gets is not worked on.
    const poll = { namespace: options.namespace, taskQueue: { name: RUNS_QUEUE }, identity: 'a poll that has ended' };
    const lost = gantry.temporal.withDeadline(Date.now() + 30_000, () => workflowService.pollWorkflowTaskQueue(poll));
    await gantry.killWorker('SIGTERM');
    expect((await lost).workflowExecution?.workflowId).toBe(runWorkflowId(run));
    await gantry.startWorker();
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    const executions = await gantry.ledger.of(run);
    expect(executions.map(({ node }) => node)).toEqual(NODES);
  });

  it('waits in Temporal for a worker when all that were notified have died', async () => {
    await Promise.all([...gantry.workers].map((worker) => gantry.killWorker('SIGKILL', worker)));
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'three', { input: { step_ms: 0 } });
    await gantry.workflowOf(run);
    // From here on there is one worker, with a limit, for the last case.
    await gantry.startWorker({ GANTRY_RUNS_PER_WORKER: '3' });
    await client.runs.join(thread, run);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
  });

  it('is begun by no worker that is at its limit, whichever way it arrives', async () => {
    const runs = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const { thread_id: thread } = await client.threads.create();
        const { run_id: run } = await client.runs.create(thread, 'three', { input: { step_ms: STEP_MS } });
        return { thread, run };
      }),
    );
    await Promise.all(runs.map(({ thread, run }) => client.runs.join(thread, run)));
    const { rows } = await gantry.sql.query<{ at_once: string }>(
      `WITH mine AS (SELECT * FROM runs WHERE run_id = ANY ($1))
       SELECT max((SELECT count(*) FROM mine o WHERE o.started_at <= r.started_at AND o.ended_at > r.started_at)) AS at_once
       FROM mine r`,
      [runs.map(({ run }) => run)],
    );
    expect(Number(rows[0].at_once)).toBeLessThanOrEqual(3);
    expect(Number(rows[0].at_once)).toBeGreaterThan(1);
  });

  it('and others of its worker, which is killed, are finished by one that has room for only three at a time', async () => {
    const [limited] = gantry.workers;
    const roomy = await gantry.startWorker();
    // The limited worker may begin some of them, but not all.
    const runs = await Promise.all(Array.from({ length: 9 }, () => startRun(WATCHED_STEP_MS)));
    const lost = runs.filter(({ first }) => first.pid === roomy.pid);
    expect(lost.length).toBeGreaterThan(3);
    await gantry.killWorker('SIGKILL', roomy);
    for (const { thread, run } of runs) expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    for (const { run } of lost) {
      const executions = await gantry.ledger.of(run);
      expectOneNodeRepeatedAtMost(executions);
      expect(executions.at(-1)).toMatchObject({ pid: limited.pid });
    }
  });
});
