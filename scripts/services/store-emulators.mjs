import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cached, goInstall } from './binaries.mjs';
import { fillOnce, installNpmPackage } from './fill-once.mjs';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { sayWhile } from './progress.mjs';

/** Versions that were tried with Gantry. */
const GCS = 'github.com/fsouza/fake-gcs-server@v1.54.0';
const AZURE = 'azurite@3.37.0';

/**
 * An emulator of Google Cloud Storage. It accepts every token, so tests have to check it.
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
  const what = 'installing the emulator of Azure Blob Storage, once, for tests';
  try {
    await fillOnce(home, { part: 'azure', what, signal }, () => installNpmPackage(home, AZURE, signal));
    return script;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The emulator of Azure Blob Storage could not be installed.\n${error.message}`, { cause: error });
  }
}
