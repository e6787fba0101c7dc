import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, goInstall } from './binaries.mjs';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { sayWhile } from './progress.mjs';

/** Versions that were tried with Gantry. */
const GCS = 'github.com/fsouza/fake-gcs-server@v1.54.0';
const AZURE = 'azurite@3.37.0';
const INSTALL_MS = 10 * 60_000;

/**
 * An emulator of Google Cloud Storage. It accepts everybody: who asks is for the test to check.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the program
 */
export async function findGcsEmulator(signal) {
  const name = 'fake-gcs-server';
  if (existsSync(cached(name))) return cached(name);
  const lock = await waitForLock(join(cacheDir(), `${name}.lock`), 'builder', { signal });
  try {
    if (existsSync(cached(name))) return cached(name);
    return await sayWhile('gcs', 'building the emulator of Google Cloud Storage with Go, once, for tests', () =>
      goInstall(name, GCS, signal),
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`No emulator of Google Cloud Storage could be built. It needs Go (go.dev).\n${error.message}`, {
      cause: error,
    });
  } finally {
    lock.release();
  }
}

/**
 * An emulator of Azure Blob Storage, which checks signatures.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of its script
 */
export async function findAzureEmulator(signal) {
  const home = join(cacheDir(), AZURE.replace('@', '-'));
  const script = join(home, 'node_modules', 'azurite', 'dist', 'src', 'blob', 'main.js');
  const complete = join(home, 'complete'); // npm fills a folder bit by bit: a mark says it is whole
  if (existsSync(complete)) return script;
  const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
  try {
    if (existsSync(complete)) return script;
    await sayWhile('azure', 'installing the emulator of Azure Blob Storage, once, for tests', async () => {
      rmSync(home, { recursive: true, force: true });
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'package.json'), '{"private":true}');
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      await runCommand('npm', ['install', '--prefix', home, ...options, AZURE], { signal, timeoutMs: INSTALL_MS });
      writeFileSync(complete, '');
    });
    return script;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The emulator of Azure Blob Storage could not be installed.\n${error.message}`, { cause: error });
  } finally {
    lock.release();
  }
}
