import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForLock } from './lock.mjs';
import { runCommand } from './process.mjs';
import { sayWhile } from './progress.mjs';

/**
 * Fills a folder of the cache unless it is complete; of several processes, one does it. The folder is filled in place, since
 * installed packages can't be moved: a marker file says that it is complete.
 * @param {string} home the folder
 * @param {{ part: string, what: string, signal?: AbortSignal }} options what is said meanwhile, and of which part
 * @param {() => Promise<void>} fill makes the folder, which is not there
 */
export async function fillOnce(home, { part, what, signal }, fill) {
  const complete = join(home, 'complete');
  if (existsSync(complete)) return;
  const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
  try {
    if (existsSync(complete)) return;
    await sayWhile(part, what, async () => {
      rmSync(home, { recursive: true, force: true });
      await fill();
      writeFileSync(complete, '');
    });
  } finally {
    lock.release();
  }
}

const NPM_MS = 10 * 60_000;

/**
 * Installs a package of npm with what it depends on.
 * @param {string} home the folder, which is made
 * @param {string} name with its version
 * @param {AbortSignal} [signal]
 */
export async function installNpmPackage(home, name, signal) {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"private":true}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await runCommand('npm', ['install', '--prefix', home, ...options, name], { signal, timeoutMs: NPM_MS });
}
