// npm test [-- options] [jest arguments]: real Postgres, Temporal and S3, then jest, then "N passed, N failed". The services are
// those of `npm run test:services` where they run, else services of its own on free ports.
//
//   --changed[=<branch>]   only what the changes since the branch [main] touch (services/changed-tests.mjs has the rules)
//   --full                 faults, fuzzing and chaos in their full amount, and test/nightly: `npm run chaos`
//   --record-durations     writes to test/durations.json, by which files are ordered, and prints: each file's wall time, its
//                          processor time (of jest, and of the processes that it started) and the processes of Gantry; and the
//                          processor time of the services
//   --repeat=<number>      runs everything this many times with one start of the services, each time with a seed of its own and
//                          without second tries, and names at the end what failed, how often and with which seeds
//   --seed=<number>        of all that tests make up [at random]; also GANTRY_TEST_SEED. A run that fails prints it.
//
// What the tests find in their environment:
//   GANTRY_TEST_DATABASE_URL          superuser of the Postgres server; each test file makes its own database
//   GANTRY_TEST_TEMPORAL_ADDRESS      the Temporal server
//   GANTRY_TEST_S3                    JSON: endpoint, bucket, region, access_key_id, secret_access_key
//   GANTRY_TEST_PYTHON                a Python with the public clients (test/python/requirements.txt)
//   GANTRY_TEST_OLDER_PYTHON          with --full: a Python with older clients (test/python/older-clients.txt)
//   GANTRY_TEST_GRAPH_PYTHON          a Python that runs the graphs of test/python-graphs
//   GANTRY_TEST_OLDER_GRAPH_PYTHON    the same with the oldest libraries that graphs may have
//   GANTRY_TEST_MCP_CONFORMANCE       the script of MCP's public conformance suite
//   GANTRY_TEST_CHROMIUM              Chromium or Chrome; empty where there is none: tests with a browser are skipped
//   GANTRY_TEST_OLD_NODE              the installed Node, where it is too old to run Gantry
//   GANTRY_TEST_TIME_SKIPPING_SERVER  program for TestWorkflowEnvironment.createTimeSkipping
//   GANTRY_TEST_FULL                  1 with --full (test/support/amount.ts)
//   GANTRY_TEST_MEASUREMENTS          file for measurements with --record-durations (test/support/test-environment.cjs)
// A test that needs a whole Gantry runs `node scripts/start.mjs` with these as DATABASE_URL, TEMPORAL_ADDRESS and
// GANTRY_S3_*, GANTRY_PORT=0 and a GANTRY_HOME of its own, and reads endpoints.json there.
import './services/runtime.mjs';
import { execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, installDependencies } from './services/build.mjs';
import { changedFiles, touchedTests } from './services/changed-tests.mjs';
import { openHome } from './services/home.mjs';
import { readJson } from './services/json-file.mjs';
import { endGroupOnDeath } from './services/leftovers.mjs';
import { cacheDir, ROOT } from './services/paths.mjs';
import { abortedWhenAskedToEnd } from './services/process.mjs';
import { processorSecondsOf } from './services/processor-time.mjs';
import { say } from './services/progress.mjs';
import { findPython } from './services/python.mjs';
import { Supervisor } from './services/supervisor.mjs';
import { failuresByName, failuresOf, judge, processorTimes, sumOf } from './services/test-outcome.mjs';
import { findTestServices, startTestServices } from './services/test-services.mjs';

const JEST = [join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), '--config', join(ROOT, 'jest.config.cjs')];

/** @param {string[]} args of the command line */
function readArguments(args) {
  const changed = args.find((arg) => /^--changed(=|$)/.test(arg));
  const repeat = args.find((arg) => /^--repeat(=|$)/.test(arg));
  const times = repeat === undefined ? undefined : Number(repeat.split('=')[1]);
  if (times !== undefined && !(Number.isInteger(times) && times > 0))
    throw new Error(`${repeat}: say how many times, as in --repeat=10.`);
  return {
    times,
    isFull: args.includes('--full'),
    recordsDurations: args.includes('--record-durations'),
    branch: changed && (changed.split('=')[1] ?? 'main'),
    seed: args.find((arg) => arg.startsWith('--seed='))?.slice('--seed='.length) ?? process.env.GANTRY_TEST_SEED,
    jestArgs: args.filter((arg) => !/^--(full|record-durations|changed(=.*)?|repeat(=.*)?|seed=.*)$/.test(arg)),
  };
}

/** Paths of test files from the root. @param {string[]} args */
function listTests(args) {
  const output = execFileSync(process.execPath, [...JEST, '--listTests', ...args], { cwd: ROOT, encoding: 'utf8' });
  return output
    .split('\n')
    .filter(Boolean)
    .map((path) => relative(ROOT, path));
}

/**
 * @param {string} branch
 * @returns {string[] | undefined} arguments for jest; undefined when nothing is touched
 */
function argumentsForChanges(branch) {
  const touched = touchedTests(changedFiles(ROOT, branch), listTests([]));
  if ('all' in touched) {
    say('test', `${touched.all} may be part of everything: all tests run`);
    return [];
  }
  const { importersOf } = touched;
  const importers = (/** @type {string[]} */ files) =>
    files.length > 0 ? listTests(['--findRelatedTests', ...files]) : [];
  const tests = [
    ...touched.tests,
    ...importers(importersOf.specs).filter((path) => path.endsWith('.spec.ts')),
    ...importers(importersOf.tests),
  ];
  say('test', tests.length > 0 ? `the changes touch ${tests.length} files with tests` : 'the changes touch no test');
  return tests.length > 0 ? ['--runTestsByPath', ...new Set(tests)] : undefined;
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} testEnv
 * @param {AbortSignal} signal
 * @returns {Promise<number>} exit code
 */
function runJest(args, testEnv, signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...JEST, ...args], {
      cwd: ROOT,
      env: { ...process.env, NODE_ENV: 'test', ...testEnv },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true, // Ctrl-C comes to this process alone, which passes it on once
    });
    // Signals the whole process group: jest's workers, and the Gantries that tests have started below them.
    const signalGroup = (/** @type {NodeJS.Signals} */ name) => {
      try {
        if (child.pid) process.kill(-child.pid, name);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error; // No process is left.
      }
    };
    const interrupt = () => signalGroup('SIGINT');
    if (signal.aborted) interrupt();
    signal.addEventListener('abort', interrupt, { once: true });
    const dismissReaper = child.pid ? endGroupOnDeath(child.pid) : () => {};
    child.once('error', reject);
    child.once('exit', (code) => {
      dismissReaper();
      signal.removeEventListener('abort', interrupt);
      signalGroup('SIGTERM'); // Removes what a crashed test has left.
      resolve(code ?? 1);
    });
  });
}

/** Maximum number of failed tests that are run again: more are no chance, and a second try would only cost time. */
const MAX_RETRIED = 10;

/**
 * Runs the suite again and again. What failed is recorded after each round: a run that is interrupted has found something too.
 * @param {string} home
 * @param {number} times
 * @param {{ seed: string | undefined, args: string[] }} options `seed` of each round; drawn for each where there is none
 * @param {Record<string, string>} testEnv
 * @param {AbortSignal} signal
 * @returns {Promise<import('./services/test-outcome.mjs').Round[]>}
 */
async function repeatTests(home, times, { seed, args }, testEnv, signal) {
  const rounds = [];
  for (let round = 1; round <= times; round += 1) {
    const roundSeed = seed ?? drawSeed();
    say('test', `round ${round} of ${times}, seed ${roundSeed}`);
    const results = await runOnce(join(home, `round-${round}.json`), [`--seed=${roundSeed}`, ...args], testEnv, signal);
    const { passed, failed } = judge(results);
    record({ failed, flaky: [] });
    const named = failed.map(({ file, name }) => ({ file: relative(ROOT, file), name }));
    rounds.push({ passed, failed: named, seed: roundSeed });
    say('test', `round ${round} of ${times}: ${passed} passed, ${failed.length} failed`);
  }
  return rounds;
}

const drawSeed = () => String(randomInt(2 ** 31));

/**
 * @param {string} path of the results
 * @param {string[]} jestArgs
 * @param {Record<string, string>} testEnv
 * @param {AbortSignal} signal
 * @returns {Promise<any>} jest's results
 */
async function runOnce(path, jestArgs, testEnv, signal) {
  const code = await runJest(['--json', `--outputFile=${path}`, ...jestArgs], testEnv, signal);
  signal.throwIfAborted();
  const results = readJson(path);
  if (!results) throw new Error('jest ended without results.');
  return { ...results, code };
}

/**
 * Runs the suite, and the files in which a few tests failed a second time.
 * @param {string} home
 * @param {[string, ...string[]]} args for jest: the seed first, which is that of the second try as well
 * @param {Record<string, string>} testEnv
 * @param {AbortSignal} signal
 */
async function runTests(home, [seed, ...args], testEnv, signal) {
  const results = await runOnce(join(home, 'first.json'), [seed, ...args], testEnv, signal);
  const { code } = results;
  const failures = failuresOf(results);
  if (failures.length === 0 || failures.length > MAX_RETRIED) return { code, ...judge(results) };
  const files = [...new Set(failures.map(({ file }) => file))];
  say('test', `${failures.length} failed; running ${files.length} files once more to separate faults from chance`);
  const retried = [seed, '--runInBand', '--runTestsByPath', ...files];
  const again = await runOnce(join(home, 'second.json'), retried, testEnv, signal);
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

/** Duration in seconds below which a file needs no place in the order. */
const RECORDED_SECONDS = 5;

const DURATIONS = join(ROOT, 'test', 'durations.json');

/**
 * Writes the durations of the files that ran, and prints where the processor time went.
 * @param {string} path of the measurements
 * @param {Record<string, number>} services process ids of those that this run has started
 */
function recordDurations(path, services) {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  // The first run of a failed file counts, not its second.
  const byFile = new Map(lines.reverse().map((line) => [JSON.parse(line).file, JSON.parse(line)]));
  const measured = [...byFile.values()];
  const known = Object.entries(readJson(DURATIONS) ?? {}).filter(
    ([file]) => !byFile.has(file) && existsSync(join(ROOT, file)),
  );
  const long = measured
    .filter(({ wall }) => wall >= RECORDED_SECONDS)
    .map(({ file, wall }) => /** @type {[string, number]} */ ([file, Math.round(wall)]));
  const sorted = [...known, ...long].sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  const ofServices = Object.entries(services).map(
    ([name, pid]) => /** @type {[string, number | undefined]} */ ([name, processorSecondsOf(pid)]),
  );
  process.stdout.write(`\n${processorTimes(measured, ofServices)}\n`);
}

/** @param {AbortSignal} signal */
async function main(signal) {
  const { isFull, recordsDurations, branch, times, seed, jestArgs } = readArguments(process.argv.slice(2));
  const home = mkdtempSync(join(tmpdir(), 'gantry-test-'));
  // Also aborted when one step fails: the others shall not build on.
  const giveUp = new AbortController();
  const context = { home, signal: AbortSignal.any([signal, giveUp.signal]) };
  const lock = await openHome(home, signal);
  const supervisor = new Supervisor({ home, logs: join(home, 'logs'), signal: context.signal });
  try {
    const installed = installDependencies(context.signal);
    const chosen = branch === undefined ? [] : await installed.then(() => argumentsForChanges(branch));
    if (!chosen) return { code: 0, seed, passed: 0, failed: [], flaky: [] };
    const running = findTestServices();
    if (running) say('test', 'uses the services of npm run test:services');
    const [testEnv] = await Promise.all([
      running ?? startTestServices({ ...context, supervisor, installed }),
      installed.then(() => build(context.signal)),
    ]);
    const measurements = join(home, 'measurements.jsonl');
    const env = {
      ...testEnv,
      ...(isFull && { GANTRY_TEST_FULL: '1', GANTRY_TEST_OLDER_PYTHON: await findPython('older-clients.txt', signal) }),
      ...(recordsDurations && { GANTRY_TEST_MEASUREMENTS: measurements }),
    };
    if (times !== undefined) {
      const rounds = await repeatTests(home, times, { seed, args: [...jestArgs, ...chosen] }, env, signal);
      process.stdout.write(`\n${failuresByName(rounds)}\n`);
      return { ...sumOf(rounds), seed, flaky: [] };
    }
    const runSeed = seed ?? drawSeed();
    const outcome = await runTests(home, [`--seed=${runSeed}`, ...jestArgs, ...chosen], env, signal);
    if (recordsDurations) recordDurations(measurements, supervisor.pids());
    return { ...outcome, seed: runSeed };
  } finally {
    giveUp.abort();
    await supervisor.stop();
    lock.release();
    rmSync(home, { recursive: true, force: true });
  }
}

const stop = abortedWhenAskedToEnd();

try {
  const { code, seed, passed, failed, flaky } = await main(stop);
  process.exitCode = code !== 0 ? code : Number(failed.length > 0);
  for (const { name } of failed) process.stdout.write(`\nFAILED  ${name}`);
  for (const { name } of flaky)
    process.stdout.write(`\nFLAKY   ${name}: failed in one of two attempts; it needs a fix`);
  if (seed !== undefined && failed.length + flaky.length > 0)
    process.stdout.write(`\nSEED    ${seed}: npm test -- --seed=${seed} repeats it`);
  process.stdout.write(`\n${passed} passed, ${failed.length} failed\n`);
} catch (error) {
  if (stop.aborted) say('test', 'interrupted');
  else process.stderr.write(`\nThe tests could not be run.\n${error.message}\n`);
  process.exitCode = 1;
}
process.exit();
