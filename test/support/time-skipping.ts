import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { KeptOutput } from './kept-output';
import { freePort } from './ports';
import { waitFor } from './wait-for';

/** Each takes at most the five seconds of the SDK. */
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
  const { server, port } = await startServer(path);
  const stopServer = async (): Promise<void> => {
    if (hasEnded(server)) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  try {
    const environment = await connectEnvironment(port);
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    const stop = async (): Promise<void> => {
      await environment.teardown();
      await stopServer();
    };
    return { environment, workflowBundle, stop };
  } catch (error) {
    await stopServer();
    throw error;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Starts the server, on another port when something else has taken the first one, and waits until it listens. */
async function startServer(path: string): Promise<{ server: ChildProcess; port: number }> {
  return waitFor('the time-skipping test server', async () => {
    const port = await freePort();
    const server = spawn(path, [String(port)], { stdio: ['ignore', 'pipe', 'pipe'] });
    new KeptOutput(`time-skipping ${server.pid}`, [server.stdout, server.stderr]);
    try {
      await waitFor('the port of the time-skipping test server', async () => hasEnded(server) || (await accepts(port)));
    } catch (error) {
      server.kill('SIGKILL');
      throw error;
    }
    return !hasEnded(server) && { server, port };
  });
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * An environment of the server on this port. The SDK gives a server that it starts itself five seconds, which a busy machine
 * doesn't keep, and lets no clock jump on one that is there already: the program that it starts here is `sleep`, which waits
 * for as many seconds as the port's number.
 */
async function connectEnvironment(port: number): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path: '/bin/sleep' }, port },
      });
    } catch (error) {
      if (attempt === CONNECT_ATTEMPTS) throw error;
    }
  }
}
