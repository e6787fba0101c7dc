// Gantry runs on Node 24. Importing this module first makes sure of it: where the Node that was started is older, the
// module fetches Node 24 into the cache, runs the same command line with it, and never resolves; the process then ends
// as that one does. Written so that Node 18 and later can read it, as are the scripts that import it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { NODE_PACKAGES, nodeArchive } from './node-packages.mjs';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { sayTo, sayWhile } from './progress.mjs';
import { ARCHIVE_FILE, downloadRelease } from './release-download.mjs';

/**
 * Version of Node that Gantry runs on: the active LTS. Up to Node 22, AsyncLocalStorage costs LangGraph half of its speed.
 */
const MINIMUM_MAJOR = 24;
const INSTALL_MS = 10 * 60_000;
/** This machine's platform, by Node's names of systems and processors. */
const PLATFORM = `${process.platform}-${process.arch}`;
/** Names the process that launched this one because its own Node was too old. */
const LAUNCHER = 'GANTRY_LAUNCHER';

/** Whether this process's Node is one that Gantry runs on. */
function isRecent() {
  return Number(process.versions.node.split('.')[0]) >= MINIMUM_MAJOR;
}

/** Node's version, and where it came from when it isn't the one that the user started. */
export function describeRuntime() {
  const fetched = process.execPath.startsWith(cacheDir()) ? ', fetched because the installed Node is older' : '';
  return `Node ${process.versions.node}${fetched}`;
}

/** Process id of the launcher that started this process, if one did. @returns {number | undefined} */
export function launcherPid() {
  const pid = Number(process.env[LAUNCHER]?.split(':')[0]);
  return pid === process.ppid ? pid : undefined;
}

/** Program of the older Node that launched this process, if one did. @returns {string | undefined} */
export function launcherProgram() {
  return launcherPid() === undefined ? undefined : process.env[LAUNCHER]?.replace(/^\d+:/, '');
}

/**
 * Makes a folder of the cache, unless it is there; of several processes, one does it.
 * @param {string} home the folder
 * @param {AbortSignal | undefined} signal
 * @param {(draft: string) => Promise<void>} fill
 */
async function fillFolder(home, signal, fill) {
  if (existsSync(home)) return;
  const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
  const draft = `${home}.draft`;
  try {
    if (existsSync(home)) return;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    await fill(draft);
    renameSync(draft, home); // The rename is atomic: a folder that exists is complete.
  } finally {
    rmSync(draft, { recursive: true, force: true });
    lock.release();
  }
}

/**
 * Node as an npm package, which npm checks against its checksum.
 * @param {{ name: string, version: string, integrity: string }} source
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the program
 */
async function installPackage({ name, version, integrity }, signal) {
  const home = join(cacheDir(), `node-${version}-${PLATFORM}`);
  const program = join(home, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  await fillFolder(home, signal, async (draft) => {
    const dependencies = { [name]: version };
    const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    writeFileSync(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies }));
    writeFileSync(join(draft, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
    await sayWhile('node', `fetching Node ${version}, since the installed one is ${process.versions.node}`, () =>
      runCommand('npm', ['ci', '--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: draft,
        signal,
        timeoutMs: INSTALL_MS,
      }),
    );
  });
  return program;
}

/**
 * Node from the archive that its makers have published.
 * @param {import('./release-download.mjs').Release} archive
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the program
 */
async function unpackArchive(archive, signal) {
  const home = join(cacheDir(), `node-archive-${archive.sha256.slice(0, 16)}`);
  await fillFolder(home, signal, async (draft) => {
    await sayWhile('node', `downloading ${archive.url}`, () => downloadRelease(archive, draft, signal));
    rmSync(join(draft, ARCHIVE_FILE));
  });
  return join(home, archive.path);
}

/**
 * The pinned Node for this platform: as an npm package, or else from the official archive.
 * @param {AbortSignal} [signal]
 * @param {{ source?: { name: string, version: string, integrity: string },
 *   archive?: import('./release-download.mjs').Release }} [from]
 * @returns {Promise<string>} path of the program
 * @throws where there is neither for the platform, or neither can be fetched
 */
export async function findRuntime(signal, from = { source: NODE_PACKAGES[PLATFORM], archive: nodeArchive(PLATFORM) }) {
  const { source, archive } = from;
  const ways = [
    ...(source ? [{ what: `${source.name}@${source.version}`, fetch: () => installPackage(source, signal) }] : []),
    ...(archive ? [{ what: archive.url, fetch: () => unpackArchive(archive, signal) }] : []),
  ];
  const problems = [];
  for (const { what, fetch } of ways) {
    try {
      return await fetch();
    } catch (error) {
      signal?.throwIfAborted();
      problems.push(`${what} could not be fetched: ${error.message}`);
    }
  }
  const missing = `there is neither a package nor an archive to fetch for ${PLATFORM}`;
  throw new Error(
    `Gantry needs Node ${MINIMUM_MAJOR}; this is ${process.versions.node}, and ${problems.length > 0 ? 'no other can be fetched' : missing}. ` +
      `Install Node ${MINIMUM_MAJOR} from nodejs.org or with a version manager.${problems.map((each) => `\n${each}`).join('')}`,
  );
}

/**
 * The environment in which a command finds the runtime as `node`.
 * @param {string} program
 * @returns {NodeJS.ProcessEnv}
 */
function environmentWith(program) {
  return {
    ...process.env,
    PATH: [dirname(program), process.env.PATH].filter(Boolean).join(delimiter),
    [LAUNCHER]: `${process.pid}:${process.execPath}`,
  };
}

/**
 * Runs this process's own command line with another Node, and ends as it ends.
 * @param {string} program
 * @returns {Promise<never>}
 */
function relaunch(program) {
  // The caller's channel is forwarded: the command stops when it disconnects.
  const stdio = /** @type {import('node:child_process').StdioOptions} */ (['inherit', 'inherit', 'inherit', 'ipc']);
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(program, args, { stdio, env: environmentWith(program) });
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(name, () => child.kill(name));
  child.on('message', (message) => process.send?.(message));
  process.on('message', (message) => child.connected && child.send(/** @type {any} */ (message)));
  if (process.send) process.on('disconnect', () => child.connected && child.disconnect());
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** @returns {Promise<void>} a promise that resolves only where this process's Node is recent enough */
async function useRuntime() {
  if (isRecent()) {
    // Lets child processes reuse V8's compiled code of their modules.
    process.env.NODE_COMPILE_CACHE ??= join(cacheDir(), 'compile-cache');
    return;
  }
  // Programs read the output of a command, so nothing else goes to stdout.
  sayTo(process.stderr);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const program = await findRuntime(interrupted.signal);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await relaunch(program);
  } catch (error) {
    process.stderr.write(`${interrupted.signal.aborted ? 'Interrupted.' : error.message}\n`);
    process.exit(2);
  }
}

await useRuntime();
