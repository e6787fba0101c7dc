// A Gantry of a bench's own. Nothing here needs the dependencies: `npm start` installs them where they are missing.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../scripts/services/paths.mjs';

const START_MS = 180_000;
const GRAPHS = join(ROOT, 'test', 'bench', 'graphs', 'langgraph.json');
const FREE_PORTS = {
  GANTRY_PORT: '0',
  GANTRY_POSTGRES_PORT: '0',
  GANTRY_TEMPORAL_PORT: '0',
  GANTRY_TEMPORAL_UI_PORT: '0',
  GANTRY_S3_PORT: '0',
};

/**
 * @typedef {object} Build
 * @property {string} [root] checkout to start; this one by default
 * @property {NodeJS.ProcessEnv} [env] settings beside those of every bench
 */

/** @param {string} home @param {Build} build */
function startGantry(home, { root = ROOT, env = {} }) {
  return fork(join(root, 'scripts', 'start.mjs'), [], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...FREE_PORTS, GANTRY_HOME: home, GANTRY_CONFIG: GRAPHS, GANTRY_LOG_LEVEL: 'warn', ...env },
  });
}

/** @param {string} home @param {import('node:child_process').ChildProcess} gantry */
async function endpointsOf(home, gantry) {
  const file = join(home, 'endpoints.json');
  const deadline = Date.now() + START_MS;
  while (!existsSync(file)) {
    if (gantry.exitCode !== null) throw new Error(`Gantry ended with code ${gantry.exitCode}`);
    if (Date.now() > deadline) throw new Error('Gantry did not come up');
    await sleep(100);
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * Runs a whole Gantry on free ports, in a home that is removed afterwards.
 * @template T
 * @param {(endpoints: any, pid: number) => Promise<T>} work gets what is in endpoints.json, and the id of the supervisor's process
 * @param {Build} [build]
 * @returns {Promise<T>}
 */
export async function withGantry(work, build = {}) {
  const home = mkdtempSync(join(tmpdir(), 'gantry-bench-'));
  const gantry = startGantry(home, build);
  try {
    return await work(await endpointsOf(home, gantry), /** @type {number} */ (gantry.pid));
  } finally {
    if (gantry.exitCode === null) {
      gantry.kill('SIGTERM');
      await once(gantry, 'exit');
    }
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Runs a Gantry of each build at the same time, to be measured in turns.
 * @typedef {{ name: string, api: string, pid: number }} Server the path of its build, its address, and the id of the supervisor's process
 * @param {string[]} builds paths of built working copies
 * @param {NodeJS.ProcessEnv} env settings beside those of every bench
 * @param {(servers: Server[]) => Promise<void>} work gets the servers in the order of the builds
 * @param {Server[]} [started]
 * @returns {Promise<void>}
 */
export function withBuilds(builds, env, work, started = []) {
  const [root, ...rest] = builds;
  if (root === undefined) return work(started);
  const next = (/** @type {any} */ { api }, /** @type {number} */ pid) =>
    withBuilds(rest, env, work, [...started, { name: root, api, pid }]);
  return withGantry(next, { root, env });
}

/** Names the part of a Gantry that a process belongs to. @param {string} command its command line */
export function partOf(command) {
  if (command.includes('graph-process')) return 'graph process';
  if (command.includes('dist/worker/main.js')) return 'worker';
  if (command.includes('dist/src/main.js')) return 'api';
  if (/postgres/.test(command)) return 'postgres';
  return /temporal/.test(command) ? 'temporal' : 'other';
}
