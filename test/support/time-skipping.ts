import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

export interface TimeSkipping {
  environment: TestWorkflowEnvironment;
  workflowBundle: WorkflowBundleWithSourceMap;
}

/** A Temporal test server whose clock jumps while a result is awaited, and the bundle of these workflows (a path). */
export async function startTimeSkipping(workflowsPath: string): Promise<TimeSkipping> {
  const path = process.env.GANTRY_TEST_TIME_SKIPPING_SERVER;
  if (!path) throw new Error('GANTRY_TEST_TIME_SKIPPING_SERVER is missing: run the tests with `npm test`');
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
  const environment = await startServer(path);
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  return { environment, workflowBundle };
}

/** The SDK gives the server five seconds, which a busy machine may not keep. */
async function startServer(path: string): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}
