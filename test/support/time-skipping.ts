import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { KeptOutput } from './kept-output';
import { freePort } from './ports';
import { waitFor } from './wait-for';

/** Attempts to connect to a server that starts; each takes at most five seconds. */
const CONNECT_ATTEMPTS = 12;

export interface TimeSkipping {
  environment: TestWorkflowEnvironment;
  workflowBundle: WorkflowBundleWithSourceMap;
  stop(): Promise<void>;
}

/** A Temporal test server whose clock jumps while a result is awaited, and the bundle of these workflows (a path). */
export async function startTimeSkipping(workflowsPath: string): Promise<TimeSkipping> {
  const path = process.env.GANTRY_TEST_TIME_SKIPPING_SERVER;
  if (!path) throw new Error('GANTRY_TEST_TIME_SKIPPING_SERVER is missing: run the tests with `npm test`');
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
  const { server, environment } = await waitFor('the time-skipping test server', () => startServer(path));
  const stop = async (): Promise<void> => {
    await environment.teardown();
    server.kill('SIGKILL');
    if (!hasEnded(server)) await once(server, 'exit');
  };
  try {
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    return { environment, workflowBundle, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/**
 * Starts the server and connects to it; resolves to undefined if it ended, as when something else took its port. The SDK gives a
 * server that it starts itself five seconds, which a busy machine doesn't keep, and lets no clock jump on one that is there
 * already: the program that it starts here is `sleep`, which waits for as many seconds as the port's number.
 */
async function startServer(
  path: string,
): Promise<{ server: ChildProcess; environment: TestWorkflowEnvironment } | undefined> {
  const port = await freePort();
  const server = spawn(path, [String(port)], { stdio: ['ignore', 'pipe', 'pipe'] });
  new KeptOutput(`time-skipping ${server.pid}`, [server.stdout, server.stderr]);
  for (let attempt = 1; !hasEnded(server); attempt += 1) {
    try {
      const environment = await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path: '/bin/sleep' }, port },
      });
      return { server, environment };
    } catch (error) {
      if (attempt < CONNECT_ATTEMPTS) continue;
      server.kill('SIGKILL');
      throw error;
    }
  }
}
