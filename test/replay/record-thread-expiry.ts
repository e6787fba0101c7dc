/**
 * Records the history in `histories/thread-expiry.json` again, from a real search on a real server: needed when the workflow
 * was changed in a way that old histories can't follow, which is to be avoided once there is a release.
 *
 *   GANTRY_TEST_DATABASE_URL=… GANTRY_TEST_TEMPORAL_ADDRESS=… npx tsx test/replay/record-thread-expiry.ts
 */
import { startGantry } from '../support/gantry';
import { recordHistory } from '../support/replay';
import { waitFor } from '../support/wait-for';

async function main(): Promise<void> {
  const gantry = await startGantry({ env: { LANGGRAPH_THREAD_TTL: '{"sweep_interval_minutes":0.02}' } });
  try {
    await gantry.client().threads.create({ ttl: 0.01 });
    const query = `WorkflowType = 'threadExpiryWorkflow' AND ExecutionStatus = 'Completed'`;
    const { workflowId, runId } = await waitFor(
      'a search',
      async () => {
        for await (const found of gantry.temporal.workflow.list({ query })) return found;
        return undefined;
      },
      60_000,
    );
    await recordHistory(gantry.temporal.workflow.getHandle(workflowId, runId), 'thread-expiry');
  } finally {
    await gantry.stop();
  }
}

void main();
