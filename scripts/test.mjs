// npm test [-- jest arguments]: real Postgres, Temporal and S3 on free ports, then jest, then "N passed, N failed".
//
// What the tests find in their environment:
//   GANTRY_TEST_DATABASE_URL          superuser of the Postgres server; each test file makes its own database
//   GANTRY_TEST_TEMPORAL_ADDRESS      the Temporal server
//   GANTRY_TEST_S3                    JSON: endpoint, bucket, region, access_key_id, secret_access_key
//   GANTRY_TEST_PYTHON                a Python with the public clients (test/python/requirements.txt)
//   GANTRY_TEST_MCP_CONFORMANCE       the script of MCP's public conformance suite
//   GANTRY_TEST_OLD_NODE              the installed Node, where it is too old to run Gantry
//   GANTRY_TEST_TIME_SKIPPING_SERVER  program for TestWorkflowEnvironment.createTimeSkipping
// A test that needs a whole Gantry runs `node scripts/start.mjs` with these as DATABASE_URL, TEMPORAL_ADDRESS and
// GANTRY_S3_*, GANTRY_PORT=0 and a GANTRY_HOME of its own, and reads endpoints.json there.
import { launcherProgram } from './services/runtime.mjs';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { startPostgres, startS3, startTemporal } from './services/backing-services.mjs';
import { build, installDependencies } from './services/build.mjs';
import { openHome } from './services/home.mjs';
import { readJson } from './services/json-file.mjs';
import { findMcpConformance } from './services/mcp-conformance.mjs';
import { cacheDir, ROOT } from './services/paths.mjs';
import { freePort } from './services/ports.mjs';
import { say } from './services/progress.mjs';
import { findPython } from './services/python.mjs';
import { loadSecrets } from './services/secrets.mjs';
import { Supervisor } from './services/supervisor.mjs';
import { failuresOf, judge } from './services/test-outcome.mjs';
import { findTimeSkippingServer } from './services/time-skipping-server.mjs';

const LOOPBACK = '127.0.0.1';

/**
 * @param {string} home
 * @param {import('./services/backing-services.mjs').Context} context
 */
async function bringUp(home, context) {
  const { installed, signal } = context;
  const secrets = loadSecrets(home);
  const ports = await Promise.all([freePort(LOOPBACK), freePort(LOOPBACK), freePort(LOOPBACK), freePort(LOOPBACK)]);
  const [postgresPort, temporalPort, uiPort, s3Port] = ports;
  const [databaseUrl, temporal, s3, python, mcpConformance, timeSkippingServer] = await Promise.all([
    startPostgres(context, { port: postgresPort, password: secrets.postgres_password }),
    startTemporal(context, { port: temporalPort, uiPort, namespace: 'default' }),
    startS3(context, {
      port: s3Port,
      bucket: 'gantry',
      region: 'us-east-1',
      accessKeyId: secrets.s3_access_key_id,
      secretAccessKey: secrets.s3_secret_access_key,
    }),
    findPython(signal),
    findMcpConformance(signal),
    installed.then(() => findTimeSkippingServer(signal)), // the download goes through an npm package
    installed.then(() => build(signal)),
  ]);
  return {
    GANTRY_TEST_DATABASE_URL: databaseUrl,
    GANTRY_TEST_TEMPORAL_ADDRESS: temporal.address,
    GANTRY_TEST_S3: JSON.stringify(s3),
    GANTRY_TEST_PYTHON: python,
    GANTRY_TEST_MCP_CONFORMANCE: mcpConformance,
    GANTRY_TEST_OLD_NODE: launcherProgram() ?? '',
    // Code that one process has compiled serves the next one; the folder goes with the tests.
    NODE_COMPILE_CACHE: join(home, 'compile-cache'),
    GANTRY_TEST_TIME_SKIPPING_SERVER: timeSkippingServer,
  };
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} testEnv
 * @param {AbortSignal} signal
 * @returns {Promise<number>} exit code
 */
function runJest(args, testEnv, signal) {
  return new Promise((resolve, reject) => {
    const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
    const config = join(ROOT, 'jest.config.cjs');
    const child = spawn(process.execPath, [jest, '--config', config, ...args], {
      cwd: ROOT,
      env: { ...process.env, NODE_ENV: 'test', ...testEnv },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true, // Ctrl-C comes to this process alone, which passes it on once
    });
    // The whole group: jest's workers and the Gantries that tests have started below them.
    const signalGroup = (/** @type {NodeJS.Signals} */ name) => {
      try {
        if (child.pid) process.kill(-child.pid, name);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error; // nobody is left
      }
    };
    const interrupt = () => signalGroup('SIGINT');
    if (signal.aborted) interrupt();
    signal.addEventListener('abort', interrupt, { once: true });
    child.once('error', reject);
    child.once('exit', (code) => {
      signal.removeEventListener('abort', interrupt);
      signalGroup('SIGTERM'); // what a test that crashed has left
      resolve(code ?? 1);
    });
  });
}

/** With more failures than this, chance is no explanation, and a second try only costs time. */
const MAX_RETRIED = 10;

/**
 * Runs the suite, and the files in which a few tests failed a second time.
 * @param {string} home
 * @param {Record<string, string>} testEnv
 * @param {AbortSignal} signal
 */
async function runTests(home, testEnv, signal) {
  const run = async (/** @type {string} */ name, /** @type {string[]} */ args) => {
    const path = join(home, `${name}.json`);
    const code = await runJest(['--json', `--outputFile=${path}`, ...args], testEnv, signal);
    signal.throwIfAborted();
    const results = readJson(path);
    if (!results) throw new Error('jest ended without results.');
    return { code, results };
  };
  const { code, results } = await run('first', process.argv.slice(2));
  const failures = failuresOf(results);
  if (failures.length === 0 || failures.length > MAX_RETRIED) return { code, ...judge(results) };
  const files = [...new Set(failures.map(({ file }) => file))];
  say('test', `${failures.length} failed; running ${files.length} files once more to separate faults from chance`);
  const { results: again } = await run('second', ['--runInBand', '--runTestsByPath', ...files]);
  const outcome = judge(results, again);
  record(outcome);
  return { code: outcome.failed.length > 0 ? 1 : 0, ...outcome };
}

/**
 * Keeps what failed, a JSON line for each test, so that a test that fails by chance is known by how often it does.
 * @param {import('./services/test-outcome.mjs').Outcome} outcome
 */
function record({ failed, flaky }) {
  const time = new Date().toISOString();
  const line =
    (/** @type {boolean} */ isFlaky) => (/** @type {import('./services/test-outcome.mjs').TestName} */ test) =>
      `${JSON.stringify({ time, ...test, file: relative(ROOT, test.file), flaky: isFlaky })}\n`;
  mkdirSync(cacheDir(), { recursive: true });
  appendFileSync(
    join(cacheDir(), 'test-failures.jsonl'),
    [...failed.map(line(false)), ...flaky.map(line(true))].join(''),
  );
}

/** @param {AbortSignal} signal */
async function main(signal) {
  const home = mkdtempSync(join(tmpdir(), 'gantry-test-'));
  // Also aborted when one step fails: the others shall not build on.
  const giveUp = new AbortController();
  const context = { home, signal: AbortSignal.any([signal, giveUp.signal]) };
  const lock = await openHome(home, signal);
  const supervisor = new Supervisor({ home, logs: join(home, 'logs'), signal: context.signal });
  try {
    const installed = installDependencies(context.signal);
    const testEnv = await bringUp(home, { ...context, supervisor, installed });
    return await runTests(home, testEnv, signal);
  } finally {
    giveUp.abort();
    await supervisor.stop();
    lock.release();
    rmSync(home, { recursive: true, force: true });
  }
}

const stop = new AbortController();
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(name, () => stop.abort());

try {
  const { code, passed, failed, flaky } = await main(stop.signal);
  process.exitCode = code !== 0 ? code : Number(failed.length > 0);
  for (const { name } of failed) process.stdout.write(`\nFAILED  ${name}`);
  for (const { name } of flaky) process.stdout.write(`\nFLAKY   ${name}: failed in one of two tries; it needs mending`);
  process.stdout.write(`\n${passed} passed, ${failed.length} failed\n`);
} catch (error) {
  if (stop.signal.aborted) say('test', 'interrupted');
  else process.stderr.write(`\nThe tests could not be run.\n${error.message}\n`);
  process.exitCode = 1;
}
process.exit();
