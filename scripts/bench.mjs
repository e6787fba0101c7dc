// npm run bench: one table of figures, made by one run against a Gantry of its own on free ports.
//   npm run bench            the full table
//   npm run bench -- --quick a tenth of it
//   npm run bench -- --only runs   (or store, export) a part of it
import { mkdtempSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ROOT } from './services/paths.mjs';

const START_MS = 180_000;
const GRAPHS = join(ROOT, 'test', 'bench', 'graphs', 'langgraph.json');
const FREE_PORTS = {
  GANTRY_PORT: '0',
  GANTRY_POSTGRES_PORT: '0',
  GANTRY_TEMPORAL_PORT: '0',
  GANTRY_TEMPORAL_UI_PORT: '0',
  GANTRY_S3_PORT: '0',
};

/** @param {string} home */
function startGantry(home) {
  return fork(join(ROOT, 'scripts', 'start.mjs'), [], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...FREE_PORTS, GANTRY_HOME: home, GANTRY_CONFIG: GRAPHS, GANTRY_LOG_LEVEL: 'warn' },
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

/** @param {string} what @param {string} figure */
const row = (what, figure) => console.log(`| ${what.padEnd(46)} | ${figure.padEnd(44)} |`);

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const isWanted = (/** @type {string} */ part) => values.only === undefined || values.only === part;
const home = mkdtempSync(join(tmpdir(), 'gantry-bench-'));
const gantry = startGantry(home);
try {
  const endpoints = await endpointsOf(home, gantry);
  // What can only be loaded once the dependencies are there, which the start above has seen to.
  const { benchRuns } = await import('../test/bench/runs.mjs');
  const { benchStore } = await import('../test/bench/store.mjs');
  const { benchExport } = await import('../test/bench/exports.mjs');
  const { peakMemoryMb } = await import('../test/bench/measure.mjs');
  console.log(`\n${cpus().length} cores, Node ${process.version}, everything on this machine, Postgres with fsync\n`);
  row('what', 'figure');
  row('-'.repeat(46), '-'.repeat(44));
  const scale = values.quick ? 0.1 : 1;
  if (isWanted('runs')) {
    for await (const [what, figure] of benchRuns(endpoints.api, endpoints.postgres, scale)) row(what, figure);
  }
  if (isWanted('store')) {
    for await (const [what, figure] of benchStore(endpoints.api, scale)) row(what, figure);
  }
  if (isWanted('export')) {
    for await (const [what, figure] of benchExport(endpoints, values.quick ? 5_000 : 100_000)) row(what, figure);
  }
  const { api, worker } = endpoints.pids;
  row('peak memory', `api ${peakMemoryMb(api)} MB, worker ${peakMemoryMb(worker)} MB`);
} finally {
  if (gantry.exitCode === null) {
    gantry.kill('SIGTERM');
    await once(gantry, 'exit');
  }
  rmSync(home, { recursive: true, force: true });
}
