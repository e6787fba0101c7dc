/**
 * Records histories in `histories/run-*.json` again, from real runs on a real server: needed when the workflow was
 * changed in a way that old histories can't follow, which is to be avoided once there is a release. Those that are not
 * recorded here are of an earlier workflow, whose runs may still be open; `run-taken-over` is of a worker that its heartbeat missed.
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

/**
 * A run whose worker is lost is taken over by another one, and its workflow sees the loss before it is replaced: on a third worker, where
 * it learns who has the run. Which worker does what is chance, so there are several such runs.
 */
async function recordPassedOn(gantry: Gantry): Promise<void> {
  const client = gantry.client();
  await Promise.all([gantry.startWorker(), gantry.startWorker()]);
  const { workflowService, options } = gantry.temporal;
  for (;;) {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'sleep', { input: { sleep_ms: 12_000 } });
    const handle = await gantry.workflowOf(run);
    const watching = await waitFor('the activity that watches it', async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.[0];
    });
    const [{ pid }] = await gantry.ledger.of(run);
    await gantry.killWorker(
      'SIGKILL',
      gantry.workers.find((worker) => worker.pid === pid)!,
    );
    await waitFor('its next attempt', async () => (await gantry.ledger.of(run)).some(({ attempt }) => attempt === 2));
    const isLate = await workflowService
      .respondActivityTaskFailedById({
        namespace: options.namespace,
        workflowId: runWorkflowId(run),
        activityId: watching.activityId,
        failure: { message: 'The worker was lost', applicationFailureInfo: {} },
      })
      .then(
        () => false,
        () => true,
      );
    await gantry.startWorker();
    await client.runs.join(thread, run);
    // Its workflow had been replaced.
    if (isLate) continue;
    const { events } = await handle.fetchHistory();
    const types = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: attributes }) => attributes?.activityType?.name ?? [],
    );
    if (types.join() === 'watchRun,executeRun,watchRun') return record(gantry, run, 'passed-on');
  }
}

async function main(): Promise<void> {
  const receiver = await new WebhookReceiver().start();
  const gantry = await startGantry({
    env: {
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      GANTRY_RUN_TIMEOUT_SECONDS: '40',
      // Timeouts that no lost worker is missed by: its session is.
      GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '600',
    },
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
    const watched = await start('sleep', { sleep_ms: 3_000 });
    const timedOut = await start('sleep', { sleep_ms: 60_000 });
    const cancelled = await start('sleep', { sleep_ms: 60_000 });
    await Promise.all(
      [cancelled, watched].map(({ run }) =>
        waitFor('a workflow that knows who has the run', async () => {
          const { raw } = await gantry.temporal.workflow.getHandle(runWorkflowId(run)).describe();
          return (raw.pendingActivities?.length ?? 0) > 0;
        }),
      ),
    );
    await client.runs.cancel(cancelled.thread, cancelled.run);
    await record(gantry, done.run, 'begun-done');
    await record(gantry, failed.run, 'begun-failed');
    await record(gantry, webhook.run, 'begun-webhook');
    await record(gantry, watched.run, 'watched-done');
    await record(gantry, timedOut.run, 'watched-timed-out');
    await record(gantry, cancelled.run, 'watched-cancelled');
    const lost = await start('sleep', { sleep_ms: 5_000 });
    await waitFor('the node to sleep', async () => (await gantry.ledger.of(lost.run)).length > 0);
    await waitFor('the activity that watches it', async () => {
      const { raw } = await gantry.temporal.workflow.getHandle(runWorkflowId(lost.run)).describe();
      return raw.pendingActivities?.length === 1;
    });
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    await record(gantry, lost.run, 'handed-over');
    const begun = await start('sleep', { sleep_ms: 2_000 });
    await waitFor('the node to sleep', async () => (await gantry.ledger.of(begun.run)).length > 0);
    // Its workflow task is lost with the worker: another workflow takes the run over.
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    await record(gantry, begun.run, 'replaced');
    await recordPassedOn(gantry);
  } finally {
    await gantry.stop();
    await receiver.stop();
  }
}

void main();
