// The same load on Gantry and on other servers of the same API, one after the other on this machine: one table.
//   node test/bench/peers.mjs            the full table
//   node test/bench/peers.mjs --quick    a tenth of it
//   node test/bench/peers.mjs --rounds 3 the median of three rounds, with the range of the first figure
//   node test/bench/peers.mjs --only gantry --only aegra   some of them: gantry, gantry-python, langgraph, langgraphjs, aegra, bare, bare-2, bare-2-records
//   node test/bench/peers.mjs --what 'chats|64'   the measurements whose names match
//
// Gantry is started whole, as by `npm run bench`: with the graphs in TypeScript, and with the same in Python, in the environment
// that `npm start` makes. A peer is measured when the environment says where it is installed:
//   GANTRY_BENCH_LANGGRAPH_PYTHON  a Python (3.11 or later) with langgraph-cli[inmem]: `langgraph dev`, all in memory
//   GANTRY_BENCH_LANGGRAPHJS       node_modules/@langchain/langgraph-cli (npm): `langgraphjs dev`, all in memory
//   GANTRY_BENCH_AEGRA_PYTHON      a Python (3.12 or later) with aegra-api; it gets a Postgres of its own, started with
//                                  the binaries and settings of Gantry's; it runs without Redis, as it does by default
// GANTRY_TRACING=off measures Gantry without tracing, which the other servers don't do either.
// The in-memory servers run at once as many runs as the load asks for; by default that would be 1 and 10.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openHome } from '../../scripts/services/home.mjs';
import { freePort } from '../../scripts/services/ports.mjs';
import { postgresPart } from '../../scripts/services/postgres.mjs';
import { sayTo } from '../../scripts/services/progress.mjs';
import { Supervisor } from '../../scripts/services/supervisor.mjs';
import { withGantry } from './gantry.mjs';
import { formatFigures, memoryMb } from './measure.mjs';
import { measurements, warmUp } from './runs.mjs';

const HOST = '127.0.0.1';
const START_MS = 120_000;
const STOP_MS = 15_000;
const RUNS_AT_ONCE = '512';
const TYPESCRIPT_GRAPHS = join(import.meta.dirname, 'graphs');
const PYTHON_GRAPHS = join(import.meta.dirname, 'peers', 'graphs.py');

/** Environment of a peer: nothing leaves this machine, and no variable of the shell reaches it. */
const PEER_ENV = {
  PATH: process.env.PATH,
  LANGSMITH_TRACING: 'false',
  LANGGRAPH_CLI_NO_ANALYTICS: '1',
  LANGGRAPH_NO_VERSION_CHECK: 'true',
  BROWSER: 'none',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** @typedef {(api: string, worker?: number) => Promise<void>} Work gets a server's address, and the process id of Gantry's worker */
/** @typedef {(work: Work) => Promise<void>} Serve starts a server, and stops it after `work` */
/** @typedef {{ name: string, about: string, serve: Serve }} Server */

/** @param {(folder: string) => Promise<void>} work */
async function withFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {number} group @param {NodeJS.Signals} signal */
function killGroup(group, signal) {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // The whole process group has ended.
  }
}

/**
 * Runs a peer's program, with whatever it starts itself, while `work` lasts.
 * @param {{ command: string, args: string[], cwd: string, port: number, health: string, env?: Record<string, string> }} peer
 * @param {(api: string) => Promise<void>} work
 */
async function withProgram({ command, args, cwd, port, health, env }, work) {
  const log = join(cwd, 'server.log');
  const output = openSync(log, 'w');
  const child = spawn(command, args, {
    cwd,
    env: { ...PEER_ENV, HOME: cwd, ...env },
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const group = child.pid;
  if (group === undefined) throw new Error(`${command} can't be started`);
  const kill = () => killGroup(group, 'SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  try {
    const api = `http://${HOST}:${port}`;
    const deadline = Date.now() + START_MS;
    const answers = () =>
      fetch(`${api}${health}`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await answers())) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`It did not come up. Its last words:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
      }
      await sleep(100);
    }
    await work(api);
  } finally {
    killGroup(group, 'SIGTERM');
    await Promise.race([exited, sleep(STOP_MS, undefined, { ref: false })]);
    kill();
    process.off('exit', kill);
  }
}

/** A configuration that names the graphs of the bench. @param {string} folder @param {Record<string, string>} graphs */
function writeConfig(folder, graphs, more = {}) {
  const file = join(folder, 'langgraph.json');
  writeFileSync(file, JSON.stringify({ ...more, graphs }));
  return file;
}

/** @param {string} python @param {string} name of a distribution */
const pythonVersion = (python, name) =>
  execFileSync(python, ['-c', `from importlib.metadata import version; print(version('${name}'))`], {
    encoding: 'utf8',
  }).trim();

const pythonGraphs = Object.fromEntries(
  ['loop', 'pipeline', 'tokens', 'chat'].map((id) => [id, `${PYTHON_GRAPHS}:${id}`]),
);

/** @param {string} python @returns {Server} */
const langgraphDev = (python) => ({
  name: 'langgraph dev',
  about: `langgraph-api ${pythonVersion(python, 'langgraph-api')}, in memory`,
  serve: (work) =>
    withFolder(async (folder) => {
      const config = writeConfig(folder, pythonGraphs, { dependencies: ['.'] });
      const port = await freePort(HOST);
      const address = ['--host', HOST, '--port', String(port), '--config', config];
      const quiet = ['--no-browser', '--no-reload', '--server-log-level', 'WARNING'];
      const args = ['-m', 'langgraph_cli', 'dev', ...address, ...quiet, '--n-jobs-per-worker', RUNS_AT_ONCE];
      await withProgram({ command: python, args, cwd: folder, port, health: '/ok' }, work);
    }),
});

/** @param {string} folder of the package @returns {Server} */
const langgraphJsDev = (cli) => {
  const { version, bin } = JSON.parse(readFileSync(join(cli, 'package.json'), 'utf8'));
  return {
    name: 'langgraphjs dev',
    about: `@langchain/langgraph-cli ${version}, in memory`,
    serve: (work) =>
      withFolder(async (folder) => {
        // Relative: where they are decides which LangGraph is loaded, here the one that Gantry has.
        const own = JSON.parse(readFileSync(join(TYPESCRIPT_GRAPHS, 'langgraph.json'), 'utf8')).graphs;
        const there = relative(folder, TYPESCRIPT_GRAPHS);
        const graphs = Object.fromEntries(Object.entries(own).map(([id, path]) => [id, `./${join(there, path)}`]));
        const config = writeConfig(folder, graphs, { node_version: '20' });
        const port = await freePort(HOST);
        const address = ['--host', HOST, '--port', String(port), '--config', config];
        const args = [join(cli, bin.langgraphjs), 'dev', ...address, '--no-browser', '--no-reload'];
        const env = { LOG_LEVEL: 'warn' };
        const peer = { command: process.execPath, cwd: folder, port, health: '/ok', env };
        await withProgram({ ...peer, args: [...args, '--n-jobs-per-worker', RUNS_AT_ONCE] }, work);
      }),
  };
};

/** @param {(url: string) => Promise<void>} work */
const withPostgres = (work) =>
  withFolder(async (home) => {
    const lock = await openHome(home);
    const supervisor = new Supervisor({ home, logs: join(home, 'logs'), signal: new AbortController().signal });
    try {
      const port = await freePort(HOST);
      const { part, url } = await postgresPart({ home, port, password: randomBytes(16).toString('hex') });
      await supervisor.start(part);
      await work(url);
    } finally {
      await supervisor.stop();
      lock.release();
    }
  });

/** @param {string} python @returns {Server} */
const aegra = (python) => ({
  name: 'Aegra',
  about: `aegra-api ${pythonVersion(python, 'aegra-api')}, Postgres with fsync, no Redis`,
  serve: (work) =>
    withFolder((project) =>
      withPostgres(async (url) => {
        const port = await freePort(HOST);
        const env = {
          AEGRA_CONFIG: writeConfig(project, pythonGraphs),
          DATABASE_URL: url,
          HOST,
          PORT: String(port),
          LOG_LEVEL: 'WARNING',
        };
        const args = ['-m', 'uvicorn', 'aegra_api.main:app', '--host', HOST, '--port', String(port)];
        const quiet = ['--no-access-log', '--log-level', 'warning'];
        await withProgram(
          { command: python, args: [...args, ...quiet], cwd: project, port, health: '/health', env },
          work,
        );
      }),
    ),
});

/** @param {number} processes @param {boolean} [records] runs and events @returns {Server} */
const bare = (processes, records = false) => ({
  name: `bare LangGraph, ${processes}${records ? ', with records' : ''}`,
  about:
    `LangGraph and its PostgresSaver behind plain HTTP, ${processes} process${processes > 1 ? 'es' : ''}, ` +
    `Postgres with fsync${records ? ', runs and events stored' : ''}`,
  serve: (work) =>
    withFolder((cwd) =>
      withPostgres(async (url) => {
        const port = await freePort(HOST);
        const shape = { PROCESSES: String(processes), RECORDS: records ? 'on' : 'off' };
        const env = { DATABASE_URL: url, PORT: String(port), ...shape };
        const server = { command: process.execPath, args: [join(import.meta.dirname, 'peers', 'bare.mjs')], cwd, port };
        await withProgram({ ...server, health: '/ok', env }, work);
      }),
    ),
});

/** @type {Server} */
const gantry = {
  name: 'Gantry',
  about: 'api, worker, Temporal, S3 gateway, Postgres with fsync',
  serve: (work) => withGantry(({ api, pids }) => work(api, pids.worker)),
};

/** @type {Server} */
const gantryPython = {
  name: 'Gantry, Python',
  about: 'the same with the graphs in Python',
  serve: (work) =>
    withFolder((folder) => {
      const env = { GANTRY_CONFIG: writeConfig(folder, pythonGraphs) };
      return withGantry(({ api, pids }) => work(api, pids.worker), { env });
    }),
};

/** Resident memory of the worker's largest graph process, in MB. @param {number} worker id of its process */
function graphProcessMemory(worker) {
  const children = readFileSync(`/proc/${worker}/task/${worker}/children`, 'utf8').split(' ').filter(Boolean);
  return Math.max(...children.map((pid) => memoryMb(Number(pid))));
}

/** @typedef {Map<string, import('./measure.mjs').Figures>} Round figures of one round by what they measure */

/** @param {Server} server @param {number} scale @param {RegExp} chosen names of measurements @returns {Promise<Round>} */
async function measureRound({ name, serve }, scale, chosen) {
  /** @type {Round} */
  const figures = new Map();
  /**
   * A figure that a server can't give is reported as such; the others are still measured.
   * @param {string} what
   * @param {unknown} error
   */
  const warn = (what, error) => console.error(`${name}, ${what}: ${error instanceof Error ? error.message : error}`);
  try {
    const since = performance.now();
    await serve(async (api, worker) => {
      figures.set('start', { seconds: (performance.now() - since) / 1000 });
      await warmUp(api, scale);
      for (const { what, measure } of measurements(api, scale)) {
        if (!chosen.test(what)) continue;
        const measured = await measure().catch((error) => warn(what, error));
        if (!measured) continue;
        figures.set(what, measured);
        // A table of several rounds takes an hour.
        console.error(`${name}, ${what}: ${formatFigures([measured])}`);
      }
      if (worker !== undefined) {
        figures.set('a graph process, resident', { megabytes: graphProcessMemory(worker) });
      }
    });
  } catch (error) {
    warn('start', error);
  }
  return figures;
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    what: { type: 'string', default: '' },
  },
});
const {
  GANTRY_BENCH_LANGGRAPH_PYTHON: langgraphPython,
  GANTRY_BENCH_LANGGRAPHJS: langgraphJs,
  GANTRY_BENCH_AEGRA_PYTHON: aegraPython,
} = process.env;
/** @type {Record<string, Server | undefined>} */
const servers = {
  bare: bare(1),
  'bare-2': bare(2),
  'bare-2-records': bare(2, true),
  gantry,
  'gantry-python': gantryPython,
  langgraph: langgraphPython ? langgraphDev(langgraphPython) : undefined,
  langgraphjs: langgraphJs ? langgraphJsDev(langgraphJs) : undefined,
  aegra: aegraPython ? aegra(aegraPython) : undefined,
};
sayTo(process.stderr);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const scale = values.quick ? 0.1 : 1;
const chosen = Object.entries(servers).flatMap(([key, server]) =>
  server && (values.only === undefined || values.only.includes(key)) ? [server] : [],
);
/** @type {Round[][]} rounds of each server; they take turns, so that a slow hour of the machine concerns all of them */
const measured = chosen.map(() => []);
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [index, server] of chosen.entries())
    measured[index].push(await measureRound(server, scale, new RegExp(values.what)));
}

console.log(
  `\n${cpus().length} cores, Node ${process.version}, load and servers on this machine, one server at a time\n`,
);
for (const { name, about } of chosen) console.log(`- ${name}: ${about}`);
const whats = new Set(measured.flat().flatMap((round) => [...round.keys()]));
const cellOf = (/** @type {Round[]} */ rounds, /** @type {string} */ what) => {
  const known = rounds.flatMap((round) => round.get(what) ?? []);
  return known.length === 0 ? '–' : formatFigures(known);
};
const rows = [...whats].map((what) => [what, ...measured.map((rounds) => cellOf(rounds, what))]);
const table = [['what', ...chosen.map(({ name }) => name)], ...rows];
const widths = table[0].map((_, column) => Math.max(...table.map((cells) => cells[column].length)));
table.splice(
  1,
  0,
  widths.map((width) => '-'.repeat(width)),
);
console.log();
for (const cells of table) console.log(`| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`);
