import { Client } from '@langchain/langgraph-sdk';
import type { Pool } from 'pg';
import { amount } from '../support/amount';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import type { Execution, Ledger } from '../support/ledger';
import { SseReader } from '../support/sse';
import { SupervisedGraphs } from '../support/supervised-graphs';
import { waitFor } from '../support/wait-for';

const THREADS = amount(8, 20);
const RUNS = amount(24, 200);
/** Temporal and Postgres are killed too where the whole amount is asked for: that takes a Gantry with its own. */
const KILLS = amount(
  ['worker', 'api'],
  ['worker', 'api', 'temporal', 'worker', 'postgres', 'api', 'worker', 'temporal', 'postgres', 'worker'],
);
const STEP_MS = 150;
const SETTLE_MS = amount(150_000, 600_000);
const NODES = ['node_1', 'node_2', 'node_3'];
/** Strategies of the runs: mostly enqueue, as users do; each thread gets all of them. */
const STRATEGIES = ['enqueue', 'enqueue', 'interrupt', 'enqueue', 'rollback'] as const;

interface Deployment {
  url: string;
  sql: Pool;
  ledger: Ledger;
  /** Kills a part by SIGKILL and resolves when it is up again. */
  kill(part: string): Promise<void>;
  logs(): string;
  stop(): Promise<void>;
}

async function deploy(graphs: string): Promise<Deployment> {
  const env = { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2', GANTRY_SWEEP_INTERVAL_SECONDS: '1' };
  if (!KILLS.includes('postgres')) return ofProcesses(await startGantry({ graphs, graphProcesses: 1, env }));
  return SupervisedGraphs.start(graphs, env);
}

function ofProcesses(gantry: Gantry): Deployment {
  const { url, sql, ledger } = gantry;
  return {
    url,
    sql,
    ledger,
    kill: async (part) => {
      if (part === 'api') {
        await gantry.killApi('SIGKILL');
        await gantry.startApi();
      } else {
        await gantry.killWorker('SIGKILL');
        await gantry.startWorker();
      }
    },
    logs: () => gantry.logs(),
    stop: () => gantry.stop(),
  };
}

interface RunRow {
  run_id: string;
  thread_id: string;
  status: string;
  attempt: number;
}

const CASE = `${RUNS} runs of graphs in $language on ${THREADS} threads while ${[...new Set(KILLS)].join(', ')} are killed in turn`;

describeLanguages(CASE, ({ graphs }) => {
  let deployment: Deployment;
  let threads: string[];
  /** Runs that the api has acknowledged. */
  const acknowledged: { run: string; thread: string }[] = [];
  let runs: RunRow[];
  let executions: Map<string, Execution[]>;

  beforeAll(async () => {
    deployment = await deploy(graphs);
    const client = clientOf(deployment);
    threads = await Promise.all(Array.from({ length: THREADS }, async () => (await client.threads.create()).thread_id));
    await sendAndKill();
    // One more on each thread: whatever was interrupted, the thread has to be of use afterwards.
    for (const thread of threads) await acknowledge(thread, 'enqueue');
    await settle();
    runs = (await deployment.sql.query<RunRow>('SELECT run_id, thread_id, status, attempt FROM runs')).rows;
    executions = new Map();
    for (const execution of await deployment.ledger.all()) {
      executions.set(execution.run_id, [...(executions.get(execution.run_id) ?? []), execution]);
    }
  }, SETTLE_MS + 120_000);

  afterAll(() => deployment?.stop(), 90_000);

  const clientOf = ({ url }: Deployment): Client =>
    new Client({ apiUrl: url, apiKey: null, callerOptions: { maxRetries: 0 } });

  /** Repeats the request until the api answers. As for users, it is unknown what an api had done when it died. */
  async function acknowledge(thread: string, multitaskStrategy: (typeof STRATEGIES)[number]): Promise<void> {
    const run = await waitFor(
      'the api to take a run',
      () =>
        clientOf(deployment)
          .runs.create(thread, 'three', { input: { step_ms: STEP_MS }, multitaskStrategy, streamMode: 'updates' })
          .catch(() => undefined),
      120_000,
    );
    acknowledged.push({ run: run.run_id, thread });
  }

  /** Each part dies in the middle of work, and while the next runs are being sent. */
  async function sendAndKill(): Promise<void> {
    const perKill = RUNS / KILLS.length;
    for (const [round, part] of KILLS.entries()) {
      const begun = (await deployment.ledger.all()).length;
      const sent = Promise.all(
        Array.from({ length: perKill }, (_, index) => {
          const number = round * perKill + index;
          return acknowledge(threads[number % THREADS]!, STRATEGIES[number % STRATEGIES.length]!);
        }),
      );
      await waitFor('nodes to run', async () => (await deployment.ledger.all()).length > begun + 3, 90_000);
      await deployment.kill(part);
      await sent;
    }
  }

  async function settle(): Promise<void> {
    try {
      await waitFor(
        'every run to end',
        async () => {
          const { rows } = await deployment.sql.query<{ open: number }>(
            `SELECT count(*)::int AS open FROM runs WHERE status IN ('pending', 'running')`,
          );
          return rows[0].open === 0;
        },
        SETTLE_MS,
      );
    } catch (error) {
      const open = await deployment.sql.query(`SELECT run_id, thread_id, status, attempt, cancel_action FROM runs
        WHERE status IN ('pending', 'running') LIMIT 5`);
      throw new Error(`${String(error)}\n${JSON.stringify(open.rows)}\n${deployment.logs()}`, { cause: error });
    }
  }

  it('loses none that was accepted: each has one terminal status, or was rolled back', async () => {
    expect(acknowledged.length).toBe(RUNS + THREADS);
    const byId = new Map(runs.map((run) => [run.run_id, run]));
    const ends = new Map(
      (
        await deployment.sql.query<{ run_id: string; ends: string[] }>(
          `SELECT run_id, array_agg(data::jsonb->>'status') AS ends FROM run_events WHERE event = '__end__' GROUP BY run_id`,
        )
      ).rows.map(({ run_id, ends }) => [run_id, ends]),
    );
    for (const { run } of acknowledged) {
      const status = byId.get(run)?.status ?? 'deleted';
      expect(['success', 'interrupted', 'deleted']).toContain(status);
      expect([run, ends.get(run)]).toEqual([run, [status]]);
    }
    expect(runs.filter(({ status }) => status === 'success').length).toBeGreaterThanOrEqual(THREADS);
  });

  it('repeats no finished node, and gives a repeated one the same key', () => {
    for (const [run, list] of executions) {
      for (let index = 1; index < list.length; index += 1) {
        const [before, now] = [list[index - 1], list[index]];
        const [from, to] = [before, now].map(({ node }) => NODES.indexOf(node)) as [number, number];
        // Forward, or the same node again by a later attempt.
        const isFine = to === from + 1 || (to === from && now.attempt > before.attempt && now.key === before.key);
        expect([run, before.node, now.node, isFine]).toEqual([run, before.node, now.node, true]);
      }
    }
    for (const { run_id, status } of runs) {
      if (status !== 'success') continue;
      expect([run_id, [...new Set(executions.get(run_id)!.map(({ node }) => node))]]).toEqual([run_id, NODES]);
    }
  });

  it('runs one at a time on each thread', () => {
    for (const thread of threads) {
      const order = [...executions.values()]
        .flat()
        .filter(({ thread_id }) => thread_id === thread)
        .sort((a, b) => a.started_at.getTime() - b.started_at.getTime())
        .map(({ run_id }) => run_id);
      const turns = order.filter((run, index) => run !== order[index - 1]);
      expect(turns).toEqual([...new Set(turns)]);
    }
  });

  it('leaves every thread idle, with the values of its last run', async () => {
    const { rows } = await deployment.sql.query<{ status: string; values: { done: string[] } }>(
      `SELECT status, "values" FROM threads WHERE NOT temporary`,
    );
    expect(rows.map(({ status }) => status)).toEqual(Array(THREADS).fill('idle'));
    for (const { values } of rows) expect(values.done.slice(-3)).toEqual(NODES);
  });

  it('numbers the events of each run without gaps, also after rejoining', async () => {
    const { rows } = await deployment.sql.query<{ run_id: string }>(
      `SELECT run_id FROM (SELECT run_id, coalesce(first_seq, seq) AS first, seq AS last FROM run_events) AS held
       JOIN runs USING (run_id) GROUP BY run_id HAVING max(last) + 1 <> sum(last - first + 1) OR min(first) <> 0`,
    );
    expect(rows).toEqual([]);
    // Of a run that was rolled back, the log keeps its end alone.
    const { rows: deleted } = await deployment.sql.query(
      `SELECT run_id, event FROM run_events WHERE event <> '__end__' AND run_id NOT IN (SELECT run_id FROM runs)`,
    );
    expect(deleted).toEqual([]);
    for (const { run_id, thread_id } of runs) {
      const stream = await SseReader.get(`${deployment.url}/threads/${thread_id}/runs/${run_id}/stream`, {
        'last-event-id': '-1',
      });
      const events = await stream.rest();
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
    }
  });

  it('works at once', async () => {
    expect(await clientOf(deployment).runs.wait(threads[0], 'three', { input: {} })).toMatchObject({
      done: expect.arrayContaining(NODES),
    });
  });
});
