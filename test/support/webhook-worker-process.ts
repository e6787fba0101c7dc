import { ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { WebhookStack } from './webhook-stack';

const WORKER = join(__dirname, '..', '..', 'dist', 'worker', 'main.js');

/**
 * The worker as it is deployed: the built program in a process of its own, on the stack's services.
 * @param overrides environment variables
 */
export function spawnWorker(stack: WebhookStack, overrides: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [WORKER], {
    env: {
      ...process.env,
      ...stack.environment,
      DATABASE_URL: stack.api.database.url,
      TEMPORAL_ADDRESS: stack.api.config.temporal.address,
      GANTRY_SECRET_KEY: stack.api.config.secrets.key.toString('base64'),
      GANTRY_API_URL: stack.api.url,
      GANTRY_TRACING: 'off',
      GANTRY_LOG_LEVEL: 'warn',
      ...overrides,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
