// npm run test:services: the Postgres, Temporal and S3 of the tests, kept running until Ctrl-C. `npm test` in the same clone
// uses them instead of starting its own, so that one file is run within seconds.
import './services/runtime.mjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installDependencies } from './services/build.mjs';
import { openHome } from './services/home.mjs';
import { abortedWhenAskedToEnd } from './services/process.mjs';
import { say } from './services/progress.mjs';
import { Supervisor } from './services/supervisor.mjs';
import { findTestServices, publishTestServices, startTestServices } from './services/test-services.mjs';

/** @param {AbortSignal} signal */
async function main(signal) {
  if (findTestServices()) throw new Error('They are running already, in another terminal.');
  const home = mkdtempSync(join(tmpdir(), 'gantry-test-services-'));
  const lock = await openHome(home, signal);
  const supervisor = new Supervisor({ home, logs: join(home, 'logs'), signal });
  let unpublish = () => {};
  try {
    const installed = installDependencies(signal);
    unpublish = publishTestServices(await startTestServices({ home, signal, supervisor, installed }));
    say('test', 'ready: npm test uses these services. Ctrl-C stops them and removes their data.');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  } finally {
    unpublish();
    await supervisor.stop();
    lock.release();
    rmSync(home, { recursive: true, force: true });
  }
}

const stop = abortedWhenAskedToEnd();

try {
  await main(stop);
} catch (error) {
  if (!stop.aborted) {
    process.stderr.write(`\nThe services of the tests could not be started.\n${error.message}\n`);
    process.exitCode = 1;
  }
}
process.exit();
