import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestApi } from './api';

const ROOT = join(__dirname, '../..');
/** The worker as it is deployed, built by `npm test`; another build can be tried by its path. */
const WORKER = process.env.GANTRY_TEST_WORKER ?? join(ROOT, 'dist/worker/main.js');

/** A worker for exports alone, in a process of its own; resolves when it works. */
export async function startExportWorkerProcess(api: TestApi, settings: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [WORKER], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: api.database.url,
      TEMPORAL_ADDRESS: process.env.GANTRY_TEST_TEMPORAL_ADDRESS,
      GANTRY_SECRET_KEY: api.config.secrets.key.toString('base64'),
      GANTRY_CONFIG: join(ROOT, 'test/support/graphs/examples.json'),
      GANTRY_TRACING: 'off',
      GANTRY_LOG_LEVEL: 'fatal',
      GANTRY_WORKER_QUEUES: 'exports',
      ...settings,
    },
  });
  await once(child, 'message');
  return child;
}

export async function endProcess(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
