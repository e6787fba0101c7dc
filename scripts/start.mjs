// npm start: everything that Gantry needs on one machine, until Ctrl-C. `--help` lists the settings.
//
//   supervisor (this process)
//    ├─ postgres   records                    embedded, or DATABASE_URL
//    ├─ temporal   workflows, and their UI    embedded, or TEMPORAL_ADDRESS
//    ├─ s3         where exports go           embedded, or GANTRY_S3_ENDPOINT
//    ├─ api        node dist/src/main.js
//    └─ worker     node dist/worker/main.js
//
// Each is a process of its own, described by a Part (services/process.mjs); services/supervisor.mjs keeps them running
// and stops them in order. A shell waits beside them to stop them if this process is killed (services/leftovers.mjs).
import { launcherPid } from './services/runtime.mjs';
import { parseArgs } from 'node:util';
import { callerFolder, refuseSecondHome } from './services/caller-folder.mjs';
import { runGantry } from './services/gantry.mjs';
import { parentOf } from './services/identity.mjs';
import { say } from './services/progress.mjs';
import { SettingsError, helpText, readSettings } from './services/settings.mjs';

/** Time in milliseconds within which two signals count as one: npm forwards a signal that the terminal has already sent. */
const SAME_SIGNAL_MS = 1_000;
/** Signals that a person sends again to speed up a stop; the others follow each other when a terminal closes. */
const IMPATIENT = new Set(['SIGINT', 'SIGTERM']);

/**
 * npm can't pass its own SIGKILL on, and runs this process below a shell that outlives it.
 * @param {() => void} onGone
 */
function watchNpm(onGone) {
  const parent = process.ppid;
  const shell = parent === launcherPid() ? parentOf(parent) : parent;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    const isAttached = process.ppid === parent && (parent === shell || parentOf(parent) === shell);
    if (isAttached && exists(npm)) return;
    clearInterval(timer);
    onGone();
  }, 1_000);
  timer.unref();
}

/** @param {number} pid */
function exists(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Requests to stop, from wherever they come.
 * @param {(reason: string) => void} onRequest
 */
function listenForStop(onRequest) {
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(name, () => onRequest(name));
  // The parent that opened a channel, such as a test, has ended.
  process.on('disconnect', () => onRequest('the parent process is gone'));
  if (process.env.npm_lifecycle_event) watchNpm(() => onRequest('npm is gone'));
  // A closed terminal must not end the process in the middle of a stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** @param {string[]} args */
function readOptions(args) {
  try {
    const options = /** @type {const} */ ({ help: { type: 'boolean', short: 'h' }, verbose: { type: 'boolean' } });
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    throw new SettingsError([`${error.message}. "npm start -- --help" lists the options.`]);
  }
}

async function main() {
  const stop = new AbortController();
  const stopNow = new AbortController();
  let askedAt = 0;
  try {
    const { help, verbose } = readOptions(process.argv.slice(2));
    if (help) {
      process.stdout.write(helpText());
      return;
    }
    const folder = callerFolder();
    refuseSecondHome(folder);
    process.chdir(folder);
    const settings = readSettings();
    listenForStop((reason) => {
      if (!stop.signal.aborted) {
        askedAt = Date.now();
        say('gantry', `stopping (${reason}); once more kills what is still busy`);
        stop.abort();
      } else if (IMPATIENT.has(reason) && Date.now() - askedAt > SAME_SIGNAL_MS) {
        stopNow.abort();
      }
    });
    await runGantry(settings, { signal: stop.signal, stopNow: stopNow.signal, isVerbose: verbose });
    say('gantry', 'stopped; the data is kept');
  } catch (error) {
    if (stop.signal.aborted) {
      say('gantry', 'stopped before it was up');
    } else {
      process.stderr.write(`\nGantry can't start.\n${error.message}\n`);
    }
    process.exitCode = error instanceof SettingsError ? 2 : 1;
  }
  // A parent's channel, or a pipe that a stopped part has left open, must not keep the process.
  process.exit();
}

await main();
