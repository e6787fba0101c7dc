import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { Gantry, startGantry } from '../support/gantry';
import type { Execution } from '../support/ledger';
import { describeLanguages } from '../support/languages';
import { type GantryProcess, graphProcessesOf } from '../support/gantry-process';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);

/** Longer than anything takes here: a run gets no workflow. */
const WORKFLOW_AFTER_SECONDS = 60;

type Row = Record<string, unknown>;

/**
 * A process that stood still for longer than its heartbeat may (a paused virtual machine, a swapping host) has lost its
 * run without knowing it. When it continues, it must not be able to change anything.
 */
describeLanguages('with graphs in $language, a worker frozen by SIGSTOP beyond its heartbeat', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphs,
      graphProcesses: 1,
      // Long enough for the worker that takes over to be late on a busy machine, which would cost it the run as well.
      env: { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '5' },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  /** All rows of a run, as text. */
  async function written(thread: string, run: string): Promise<Record<string, Row[]>> {
    const tables: Record<string, [sql: string, id: string]> = {
      runs: ['SELECT to_jsonb(r) AS row FROM runs r WHERE run_id = $1', run],
      threads: ['SELECT to_jsonb(t) AS row FROM threads t WHERE thread_id = $1', thread],
      events: ['SELECT to_jsonb(e) AS row FROM run_events e WHERE run_id = $1 ORDER BY seq', run],
      checkpoints: [
        `SELECT to_jsonb(c) AS row FROM ${CHECKPOINT_SCHEMA}.checkpoints c WHERE thread_id = $1 ORDER BY checkpoint_id`,
        thread,
      ],
      writes: [
        `SELECT to_jsonb(w) AS row FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes w WHERE thread_id = $1
         ORDER BY checkpoint_id, task_id, idx`,
        thread,
      ],
    };
    const entries = Object.entries(tables).map(async ([name, [sql, id]]) => [
      name,
      (await gantry.sql.query(sql, [id])).rows,
    ]);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, Row[]>;
  }

  /** Freezes the worker in the middle of a node of the run, and resolves to the nodes that it has begun. */
  function freezeInNode(worker: GantryProcess, run: string): Promise<Execution[]> {
    return waitFor('a node in the middle of which its worker is frozen', async () => {
      worker.signal('SIGSTOP');
      // What the processes have sent to Postgres arrives.
      await sleep(200);
      const executions = await gantry.ledger.of(run);
      if (executions.at(-1)!.ended_at === null) return executions;
      worker.signal('SIGCONT');
      return undefined;
    });
  }

  it('changes nothing when SIGCONT wakes it: state, events and status are those of the worker that took over', async () => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'ten', {
      input: { step_ms: 600 },
      streamMode: ['updates', 'values'],
    });
    await waitFor('the third node', async () => (await gantry.ledger.of(run)).length >= 3);
    const frozen: GantryProcess = gantry.worker;
    const begunByFrozen = (await freezeInNode(frozen, run)).length;
    const other = await gantry.startWorker();
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES });
    const before = await written(thread, run);
    expect(before.checkpoints.length).toBeGreaterThanOrEqual(10);

    frozen.signal('SIGCONT');
    // The process resumes, tries to write, is refused and gives up. Once it has served other runs, that is over; it works
    // again when it alone serves.
    await gantry.killWorker('SIGKILL', other);
    for (let count = 0; count < 3; count += 1) {
      expect(await client.runs.wait(null, 'three', { input: {} })).toMatchObject({ done: NODES.slice(0, 3) });
    }
    const pids = (await gantry.ledger.all()).slice(-9).map(({ pid }) => pid);
    expect(new Set(pids)).toEqual(new Set([frozen.pid]));
    expect(await written(thread, run)).toEqual(before);

    const executions = await gantry.ledger.of(run);
    const byFrozen = executions.filter(({ pid }) => pid === frozen.pid);
    expect(byFrozen).toHaveLength(begunByFrozen);
    const twice = NODES.filter((name) => executions.filter(({ node }) => node === name).length > 1);
    expect(twice).toEqual([byFrozen.at(-1)!.node]);
    expect(new Set(executions.filter(({ node }) => node === twice[0]).map(({ key }) => key)).size).toBe(1);
    expect(executions.filter(({ pid }) => pid === other.pid).every(({ attempt }) => attempt === 2)).toBe(true);
    const events = await (
      await SseReader.get(`${gantry.url}/threads/${thread}/runs/${run}/stream`, { 'last-event-id': '-1' })
    ).rest();
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
  });

  it('loses a run that has no workflow yet after the heartbeat as well', async () => {
    const first = gantry.worker;
    const env = { GANTRY_WORKFLOW_AFTER_SECONDS: String(WORKFLOW_AFTER_SECONDS) };
    const frozen = await gantry.startWorker(env);
    await gantry.killWorker('SIGKILL', first);
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'three', { input: { step_ms: 2_000 } });
    await waitFor('the first node', async () => (await gantry.ledger.of(run)).length > 0);
    const begunByFrozen = (await freezeInNode(frozen, run)).length;
    await gantry.startWorker(env);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES.slice(0, 3) });
    const executions = await gantry.ledger.of(run);
    const [lost, resumed] = executions.slice(begunByFrozen - 1);
    expect([lost, resumed].map(({ node, attempt }) => [node, attempt])).toEqual([
      [lost.node, 1],
      [lost.node, 2],
    ]);
    // The sweep would have given it a workflow, which detects the loss too, but only after that time.
    expect(resumed.started_at.getTime() - lost.started_at.getTime()).toBeLessThan(WORKFLOW_AFTER_SECONDS * 1000);
    frozen.signal('SIGCONT');
    await gantry.killWorker('SIGKILL', frozen);
  });

  /** A run in the middle of a node of three seconds, and the graph process that executes it, which is frozen. */
  async function freezeGraphProcess(): Promise<{ thread: string; run: string; frozen: number[] }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'three', {
      input: { step_ms: 3_000 },
      streamMode: ['updates', 'values'],
    });
    await waitFor('the second node', async () => (await gantry.ledger.of(run)).length === 2);
    const frozen = graphProcessesOf(gantry.worker.pid);
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    return { thread, run, frozen };
  }

  const wake = (pids: number[]): void => pids.forEach((pid) => process.kill(pid, 'SIGCONT'));

  it('a frozen graph process keeps its run and blocks no other one, even if the next process is frozen while it loads', async () => {
    const { thread, run, frozen } = await freezeGraphProcess();
    const other = client.runs.wait(null, 'three', { input: {} });
    const loading = await waitFor('another process', () =>
      graphProcessesOf(gantry.worker.pid).find((pid) => !frozen.includes(pid)),
    );
    // On a busy machine, a process that loads may be among the frozen ones already: only one has another in its place.
    if (frozen.length === 1) {
      process.kill(loading, 'SIGSTOP');
      frozen.push(loading);
    }
    expect(await other).toMatchObject({ done: NODES.slice(0, 3) });
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'running' });
    wake(frozen);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES.slice(0, 3) });
    expect((await gantry.ledger.of(run)).map(({ node, attempt }) => [node, attempt])).toEqual(
      NODES.slice(0, 3).map((node) => [node, 1]),
    );
  });

  it('a frozen graph process whose worker died changes nothing when it wakes, and ends', async () => {
    const { thread, run, frozen } = await freezeGraphProcess();
    const first = gantry.worker;
    // The process alone: a kill by the test's helper would wake the frozen ones.
    process.kill(first.pid, 'SIGKILL');
    await gantry.startWorker();
    await waitFor('the next attempt', async () =>
      (await gantry.ledger.of(run)).some(({ attempt, node }) => attempt === 2 && node === 'node_2'),
    );
    wake(frozen);
    expect(await client.runs.join(thread, run)).toMatchObject({ done: NODES.slice(0, 3) });
    const executions = (await gantry.ledger.of(run)).map(({ node, attempt }) => [node, attempt]);
    expect(executions).toEqual([
      ['node_1', 1],
      ['node_2', 1],
      ['node_2', 2],
      ['node_3', 2],
    ]);
    await waitFor('the end of the processes that woke', () => !frozen.some((pid) => existsSync(`/proc/${pid}/exe`)));
    const stream = `${gantry.url}/threads/${thread}/runs/${run}/stream`;
    const events = await (await SseReader.get(stream, { 'last-event-id': '-1' })).rest();
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
    expect(events.filter(({ event }) => event === 'updates')).toHaveLength(3);
    await gantry.killWorker('SIGKILL', first);
  });
});
