import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { say, sayWhile } from './progress.mjs';

const INSTALL_MS = 10 * 60_000;

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const findInstalled = () => PLACES.find((path) => existsSync(path));

/** Whether this user may install Debian's packages; Ubuntu's package of the same name needs snapd. */
function canInstall() {
  const release = '/etc/os-release';
  return process.getuid?.() === 0 && existsSync(release) && /^ID=debian$/m.test(readFileSync(release, 'utf8'));
}

/**
 * The browser of the tests with pages: GANTRY_TEST_CHROMIUM, else one that is installed, else Debian's package, installed once.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} its path; empty where there is none, so that these tests are skipped
 */
export async function findChromium(signal) {
  const given = process.env.GANTRY_TEST_CHROMIUM;
  if (given) return given;
  const installed = findInstalled();
  if (installed) return installed;
  const remedy = 'install Chromium, or name one in GANTRY_TEST_CHROMIUM';
  if (!canInstall()) {
    say('chromium', `is missing: tests with a browser are skipped; ${remedy}`);
    return '';
  }
  const lock = await waitForLock(join(cacheDir(), 'chromium.lock'), 'builder', { signal });
  try {
    return findInstalled() ?? (await install(signal));
  } catch (error) {
    signal?.throwIfAborted();
    say('chromium', `could not be installed: tests with a browser are skipped; ${remedy}. ${error.message}`);
    return '';
  } finally {
    lock.release();
  }
}

/** @param {AbortSignal} [signal] */
async function install(signal) {
  await sayWhile('chromium', 'installing the browser that tests use', async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const options = { env, signal, timeoutMs: INSTALL_MS };
    await runCommand('apt-get', ['update', '-qq'], options);
    await runCommand('apt-get', ['install', '-qq', '--yes', '--no-install-recommends', 'chromium'], options);
  });
  const installed = findInstalled();
  if (!installed) throw new Error('Its package brought no program.');
  return installed;
}
