/**
 * Records the histories in `histories/cron-*.json` again, from real ticks on a real server: needed when the workflow was
 * changed in a way that old histories can't follow, which is to be avoided once there is a release.
 *
 *   GANTRY_TEST_DATABASE_URL=… GANTRY_TEST_TEMPORAL_ADDRESS=… npx tsx test/replay/record-crons.ts
 */
import { type Gantry, startGantry } from '../support/gantry';
import { recordHistory } from '../support/replay';
import { waitFor } from '../support/wait-for';

/** The history of the first workflow whose id begins like this. */
async function record(gantry: Gantry, idPrefix: string, name: string): Promise<void> {
  const query = `WorkflowType = 'cronWorkflow' AND ExecutionStatus = 'Completed' AND WorkflowId STARTS_WITH '${idPrefix}'`;
  const execution = await waitFor(
    `the end of ${name}`,
    async () => {
      for await (const found of gantry.temporal.workflow.list({ query })) return found;
      return undefined;
    },
    60_000,
  );
  await recordHistory(gantry.temporal.workflow.getHandle(execution.workflowId, execution.runId), `cron-${name}`);
}

async function main(): Promise<void> {
  const gantry = await startGantry();
  try {
    const client = gantry.client();
    const input = { secret: 'of the input' };
    const ticking = await client.crons.create('three', { schedule: '* * * * * *', input });
    await record(gantry, `cron-tick-${ticking.cron_id}`, 'tick');
    await client.crons.delete(ticking.cron_id);
    const waiting = await client.crons.create('three', { schedule: '0 * * * *', input });
    await fetch(`${gantry.url}/runs/crons/${waiting.cron_id}/backfill`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ start: '2026-01-01T00:00:00Z', end: '2026-01-01T02:00:00Z' }),
    });
    await record(gantry, `cron-wake-${waiting.cron_id}`, 'backfill');
  } finally {
    await gantry.stop();
  }
}

void main();
