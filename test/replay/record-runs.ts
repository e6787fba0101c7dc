/**
 * Records the histories in `histories/run-*.json` anew, from real runs on a real server: needed when the workflow was
 * changed in a way that old histories can't follow, which is to be avoided once there is a release.
 *
 *   GANTRY_TEST_DATABASE_URL=… GANTRY_TEST_TEMPORAL_ADDRESS=… npx tsx test/replay/record-runs.ts
 */
import { runWorkflowId } from '../../workflows/contracts/run.contract';
import { type Gantry, startGantry } from '../support/gantry';
import { recordHistory } from '../support/replay';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

async function record(gantry: Gantry, runId: string, name: string): Promise<void> {
  const handle = gantry.temporal.workflow.getHandle(runWorkflowId(runId));
  await waitFor(`the end of ${name}`, async () => (await handle.describe()).status.name !== 'RUNNING', 60_000);
  await recordHistory(handle, `run-${name}`);
}

async function main(): Promise<void> {
  const receiver = await new WebhookReceiver().start();
  const gantry = await startGantry({
    env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', GANTRY_RUN_TIMEOUT_SECONDS: '4' },
  });
  try {
    const client = gantry.client();
    const start = async (
      graph: string,
      input: Record<string, unknown>,
      webhook?: string,
    ): Promise<{ thread: string; run: string }> => {
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, graph, { input, ...(webhook && { webhook }) });
      return { thread, run };
    };
    const done = await start('three', {});
    const failed = await start('fail', {});
    const webhook = await start('three', {}, receiver.url());
    const timedOut = await start('sleep', { sleep_ms: 60_000 });
    const cancelled = await start('sleep', { sleep_ms: 60_000 });
    await waitFor('the node to sleep', async () => (await gantry.ledger.of(cancelled.run)).length > 0);
    await client.runs.cancel(cancelled.thread, cancelled.run);
    await record(gantry, done.run, 'done');
    await record(gantry, failed.run, 'failed');
    await record(gantry, webhook.run, 'webhook');
    await record(gantry, timedOut.run, 'timed-out');
    await record(gantry, cancelled.run, 'cancelled');
  } finally {
    await gantry.stop();
    await receiver.stop();
  }
}

void main();
