import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { say, sayWhile } from './progress.mjs';
import { downloadRelease, STALLED_MS } from './release-download.mjs';

/** Versions that were tried with Gantry. Later Temporal CLIs can't be installed with `go install`. */
const TEMPORAL_CLI = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const VERSITYGW_VERSION = 'v1.8.0';
const VERSITYGW = `github.com/versity/versitygw/cmd/versitygw@${VERSITYGW_VERSION}`;
/** The archives of that release, by Node's names of platforms, with the checksums that were published with them. */
const VERSITYGW_ARCHIVES = /** @type {Record<string, { name: string, sha256: string } | undefined>} */ ({
  'linux-x64': {
    name: `versitygw_${VERSITYGW_VERSION}_Linux_x86_64`,
    sha256: '2ba2c734d10d2c4e651d03182cb4b246656bc735a2f282db7b0b73fba6073467',
  },
  'linux-arm64': {
    name: `versitygw_${VERSITYGW_VERSION}_Linux_arm64`,
    sha256: 'b34051d33f5a9c457f790896acb7bd7d7e15ad8d92efb70616b924f37e401910',
  },
  'darwin-arm64': {
    name: `versitygw_${VERSITYGW_VERSION}_Darwin_arm64`,
    sha256: '4953096f65a9c0d62ab184fb6b2ba7c2435229205cf00a56cb62cd4bf6b216ca',
  },
  'darwin-x64': {
    name: `versitygw_${VERSITYGW_VERSION}_Darwin_x86_64`,
    sha256: '104bd978e80ef0173554cfd8630ccc5bac24b00da440510b60365a3b6b6ab134',
  },
});

const DOWNLOAD_MS = 10 * 60_000;
const BUILD_MS = 30 * 60_000;

const SDK_DOWNLOAD = fileURLToPath(new URL('./sdk-download.mjs', import.meta.url));

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** @param {string} name */
export function findOnPath(name) {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/**
 * Whether a program runs: a file may be for another machine, or incomplete.
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
async function runs(path, signal) {
  try {
    await runCommand(path, ['--version'], { signal, timeoutMs: 20_000 });
    return true;
  } catch (error) {
    signal?.throwIfAborted();
    say('gantry', `${path} is passed over, since it does not run: ${error.lastLine ?? error.message}`);
    return false;
  }
}

/** @param {string} name */
export function cached(name) {
  return join(cacheDir(), 'bin', name);
}

/**
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @returns {Promise<string | undefined>} one from PATH, or else from the cache
 */
async function findInstalled(name, signal) {
  for (const path of [findOnPath(name), cached(name)]) {
    if (path && isExecutable(path) && (await runs(path, signal))) return path;
  }
  return undefined;
}

/**
 * Puts a program into the cache: `make` writes it into an empty directory, and only a complete one is moved to where
 * it is looked for.
 * @param {string} name
 * @param {(directory: string) => Promise<string>} make returns the path of what it made
 */
async function fillCache(name, make) {
  const bin = join(cacheDir(), 'bin');
  mkdirSync(bin, { recursive: true });
  const draft = mkdtempSync(join(bin, `.${name}-`));
  try {
    const made = await make(draft);
    if (!isExecutable(made)) throw new Error(`${made} was not made.`);
    renameSync(made, cached(name));
    return cached(name);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * @param {string} name
 * @param {string} target
 * @param {AbortSignal} [signal]
 */
export function goInstall(name, target, signal) {
  return fillCache(name, async (directory) => {
    // Neither program needs a C compiler.
    const env = { ...process.env, GOBIN: directory, CGO_ENABLED: '0' };
    await runCommand('go', ['install', target], { env, signal, timeoutMs: BUILD_MS });
    return join(directory, name);
  });
}

/** @param {string} directory */
function bytesIn(directory) {
  return readdirSync(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/**
 * Lets the Temporal SDK download one of its servers.
 * @param {'dev-server' | 'time-skipping'} kind
 * @param {string} directory
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>}
 */
export async function downloadBySdk(kind, directory, signal) {
  const stalled = new AbortController();
  let bytes = -1;
  const watch = setInterval(() => {
    const now = bytesIn(directory);
    if (now === bytes) stalled.abort();
    bytes = now;
  }, STALLED_MS);
  try {
    const signals = signal ? [signal, stalled.signal] : [stalled.signal];
    await runCommand(process.execPath, [SDK_DOWNLOAD, kind, directory], {
      signal: AbortSignal.any(signals),
      timeoutMs: DOWNLOAD_MS,
    });
  } finally {
    clearInterval(watch);
  }
  const [file] = readdirSync(directory).filter((name) => !name.endsWith('.downloading'));
  if (!file) throw new Error('The Temporal SDK downloaded nothing.');
  return join(directory, file);
}

/**
 * @param {string} name
 * @param {AbortSignal | undefined} signal
 * @param {() => Promise<string>} obtain
 */
async function installedOr(name, signal, obtain) {
  const installed = await findInstalled(name, signal);
  if (installed) return installed;
  // Two Gantries that start at the same time must not both build for minutes.
  const lock = await waitForLock(join(cacheDir(), `${name}.lock`), 'builder', {
    signal,
    onWait: ({ pid }) => say(name, `process ${pid} fetches it already; waiting for that`),
  });
  try {
    if (existsSync(cached(name)) && (await runs(cached(name), signal))) return cached(name);
    return await obtain();
  } finally {
    lock.release();
  }
}

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the Temporal CLI, which contains the server
 */
export function findTemporal(signal) {
  return installedOr('temporal', signal, async () => {
    try {
      return await sayWhile('temporal', 'downloading the server, through the Temporal SDK', () =>
        fillCache('temporal', (directory) => downloadBySdk('dev-server', directory, signal)),
      );
    } catch (error) {
      signal?.throwIfAborted();
      say('temporal', `the download failed (${error.lastLine ?? error.message}); building it with Go instead`);
    }
    try {
      return await sayWhile('temporal', 'building the server with Go, once; this takes about three minutes', () =>
        goInstall('temporal', TEMPORAL_CLI, signal),
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(
        `No Temporal server could be obtained. Install the Temporal CLI so that "temporal" is on PATH, or install Go ` +
          `(go.dev) so that it can be built, or set TEMPORAL_ADDRESS to a server of yours.\n${error.message}`,
        { cause: error },
      );
    }
  });
}

/** Thrown when no S3 gateway is installed and none can be built. */
export class NoGatewayError extends Error {}

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the S3 gateway
 * @throws {NoGatewayError}
 */
export function findS3Gateway(signal) {
  return installedOr('versitygw', signal, async () => {
    const archive = VERSITYGW_ARCHIVES[`${process.platform}-${process.arch}`];
    if (archive) {
      const { name, sha256 } = archive;
      const url = `https://github.com/versity/versitygw/releases/download/${VERSITYGW_VERSION}/${name}.tar.gz`;
      try {
        return await sayWhile('s3', 'downloading the S3 gateway', () =>
          fillCache('versitygw', (directory) =>
            downloadRelease({ url, sha256, path: join(name, 'versitygw') }, directory, signal),
          ),
        );
      } catch (error) {
        signal?.throwIfAborted();
        say('s3', `the download failed (${error.lastLine ?? error.message}); building it with Go instead`);
      }
    }
    try {
      return await sayWhile('s3', 'building the S3 gateway with Go, once; this takes about a minute', () =>
        goInstall('versitygw', VERSITYGW, signal),
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw new NoGatewayError(
        `No S3 gateway could be obtained. Install versitygw so that it is on PATH, or install Go (go.dev) so that it ` +
          `can be built, or set GANTRY_S3_ENDPOINT to an S3 service of yours.\n${error.message}`,
        { cause: error },
      );
    }
  });
}
