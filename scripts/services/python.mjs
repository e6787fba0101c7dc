import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillOnce } from './fill-once.mjs';
import { ROOT, cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';

const LISTS = join(ROOT, 'test', 'python');
const INSTALL_MS = 10 * 60_000;

/**
 * A Python with the public clients that the end-to-end tests use. One environment for each list of requirements and
 * version of Python, kept in the cache.
 * @param {'requirements.txt' | 'older-clients.txt'} list
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of its python
 */
export async function findPython(list, signal) {
  const requirements = join(LISTS, list);
  try {
    const version = await runCommand('python3', ['--version'], { signal });
    const hash = createHash('sha256').update(version.join()).update(readFileSync(requirements)).digest('hex');
    const home = join(cacheDir(), `python-${hash.slice(0, 12)}`);
    const python = join(home, 'bin', 'python');
    await fillOnce(home, { part: 'python', what: 'installing the clients that tests use', signal }, async () => {
      await runCommand('python3', ['-m', 'venv', home], { signal, timeoutMs: INSTALL_MS });
      const install = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet', '-r', requirements];
      await runCommand(python, install, { signal, timeoutMs: INSTALL_MS });
    });
    return python;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(
      `The Python environment of the tests could not be made. It needs python3 with its venv module (on Debian the ` +
        `package python3-venv).\n${error.message}`,
      { cause: error },
    );
  }
}
