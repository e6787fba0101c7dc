import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForLock } from './lock.mjs';
import { ROOT, cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { sayWhile } from './progress.mjs';

const REQUIREMENTS = join(ROOT, 'test', 'python', 'requirements.txt');
const INSTALL_MS = 10 * 60_000;

/**
 * A Python with the public clients that the end-to-end tests use. One environment for each list of requirements and
 * version of Python, kept in the cache.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of its python
 */
export async function findPython(signal) {
  try {
    const version = await runCommand('python3', ['--version'], { signal });
    const hash = createHash('sha256').update(version.join()).update(readFileSync(REQUIREMENTS)).digest('hex');
    const home = join(cacheDir(), `python-${hash.slice(0, 12)}`);
    const python = join(home, 'bin', 'python');
    const complete = join(home, 'complete'); // an environment can't be moved into place: a mark says it is whole
    if (existsSync(complete)) return python;
    const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
    try {
      if (existsSync(complete)) return python;
      await sayWhile('python', 'installing the clients that tests use', async () => {
        rmSync(home, { recursive: true, force: true });
        await runCommand('python3', ['-m', 'venv', home], { signal, timeoutMs: INSTALL_MS });
        const install = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet', '-r', REQUIREMENTS];
        await runCommand(python, install, { signal, timeoutMs: INSTALL_MS });
        writeFileSync(complete, '');
      });
      return python;
    } finally {
      lock.release();
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(
      `The Python environment of the tests could not be made. It needs python3 with its venv module (on Debian the ` +
        `package python3-venv).\n${error.message}`,
      { cause: error },
    );
  }
}
