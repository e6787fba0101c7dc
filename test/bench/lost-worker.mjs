// How long runs in flight stand still when their worker is killed: until each of them has begun a node again.
//   npm run build && node test/bench/lost-worker.mjs 20
// In turns with another worker beside it, and with none, where the supervisor of `npm start` starts it again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@langchain/langgraph-sdk';
import pg from 'pg';
import { load, percentile } from './measure.mjs';
import { withGantry } from './gantry.mjs';
import { ONE_NODE, wait } from './runs.mjs';

const RUNS = Number(process.argv[2] ?? 20);
const ROUNDS = 3;
const LOOK_MS = 20;
/** Duration of a node in milliseconds: none ends before its worker is killed, nor while the others resume. */
const STEP_MS = 60_000;
/** Runs after which the other worker has graph processes, as one of a deployment has. */
const WARMING_RUNS = 40;
/** Half of the runs have workflows when the worker is killed, the others are too young for that. */
const SETTINGS = { GANTRY_WORKFLOW_AFTER_SECONDS: '2' };
const APART_MS = 3_000;
/** Time after which the supervisor starts a worker at once that fails again. */
const RECOVERED_MS = 12_000;

/** @param {number} pid @param {string} file */
const processFile = (pid, file) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
/** @param {number} pid */
const parentOf = (pid) => Number(processFile(pid, 'status').match(/^PPid:\s+(\d+)/m)?.[1]);

/** @param {number} supervisor @param {string} command of the worker @returns {number | undefined} */
function workerOf(supervisor, command) {
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .find((pid) => {
      try {
        return parentOf(pid) === supervisor && processFile(pid, 'cmdline') === command;
      } catch {
        return false; // The process has ended meanwhile.
      }
    });
}

/** Another worker with the settings of this one. @param {number} pid */
async function startTwinOf(pid) {
  const [node, ...args] = processFile(pid, 'cmdline').split('\0').filter(Boolean);
  const variables = processFile(pid, 'environ').split('\0').filter(Boolean);
  const env = Object.fromEntries(
    variables.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  // The channel to its parent.
  delete env.NODE_CHANNEL_FD;
  const twin = spawn(node, args, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(twin, 'message');
  return twin;
}

await withGantry(
  async ({ api, postgres, pids }) => {
    const client = new Client({ apiUrl: api });
    const database = new pg.Pool({ connectionString: postgres, max: 1 });
    const supervisor = parentOf(pids.worker);
    /** @type {Map<string, string>} */
    const threads = new Map();
    const command = processFile(pids.worker, 'cmdline');

    /** @param {string} sql of the ids of runs among $1 @param {string[]} runs @param {(run: string) => void} [onFound] */
    async function untilAll(sql, runs, onFound) {
      for (const found = new Set(); found.size < runs.length; await sleep(LOOK_MS)) {
        const { rows } = await database.query(sql, [runs]);
        for (const { run_id } of rows) {
          if (!found.has(run_id)) onFound?.(run_id);
          found.add(run_id);
        }
      }
    }

    /** Resolves when so many more runs have begun their first node. @param {number} count */
    async function start(count) {
      const runs = await Promise.all(
        Array.from({ length: count }, async () => {
          const { thread_id } = await client.threads.create();
          const payload = { input: { step_ms: STEP_MS }, streamMode: /** @type {const} */ ('tasks') };
          const { run_id } = await client.runs.create(thread_id, 'pipeline', payload);
          threads.set(run_id, thread_id);
          return run_id;
        }),
      );
      await untilAll(`SELECT DISTINCT run_id FROM run_events WHERE run_id = ANY ($1) AND event = 'tasks'`, runs);
      return runs;
    }

    /** @param {boolean} hasCompany */
    async function measure(hasCompany) {
      const early = await start(Math.ceil(RUNS / 2));
      const worker = workerOf(supervisor, command);
      if (worker === undefined) throw new Error('There is no worker');
      await sleep(APART_MS);
      const runs = [...early, ...(await start(Math.floor(RUNS / 2)))];
      // Started once all runs have begun; otherwise it would take some of them.
      const twin = hasCompany ? await startTwinOf(worker) : undefined;
      if (twin) await load(WARMING_RUNS, 8, () => wait(api, ONE_NODE));
      // Its second graph process still loads.
      if (twin) await sleep(APART_MS);
      /** @type {number[]} */
      const times = [];
      const killed = performance.now();
      process.kill(worker, 'SIGKILL');
      await untilAll(
        `SELECT DISTINCT run_id FROM run_events e JOIN run_events again USING (run_id)
       WHERE run_id = ANY ($1) AND again.event = 'metadata' AND again.seq > 0 AND e.event = 'tasks' AND e.seq > again.seq`,
        runs,
        () => times.push(performance.now() - killed),
      );
      await Promise.all(runs.map((run) => client.runs.cancel(threads.get(run) ?? '', run, true)));
      twin?.kill('SIGKILL');
      const [p50, last] = [percentile(times, 0.5), Math.max(...times)].map((each) => (each / 1000).toFixed(1));
      return `p50 ${p50} s, last ${last} s`;
    }

    for (let round = 1; round <= ROUNDS; round += 1) {
      console.log(`| ${round} | another worker beside it  | ${await measure(true)} |`);
      while (workerOf(supervisor, command) === undefined) await sleep(LOOK_MS);
      await wait(api, ONE_NODE);
      await sleep(RECOVERED_MS);
      console.log(`| ${round} | it alone, and started again | ${await measure(false)} |`);
    }
    await database.end();
  },
  { env: SETTINGS },
);
