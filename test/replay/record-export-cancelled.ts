/**
 * Records `histories/export-watched-cancelled.json` again: an export whose progress has been read when it is cancelled, from
 * a real server. What its activities would do is left out.
 *
 *   GANTRY_TEST_TEMPORAL_ADDRESS=… npx tsx test/replay/record-export-cancelled.ts
 */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import {
  CANCEL_EXPORT_SIGNAL,
  EXPORT_PARTITIONS_QUEUE,
  exportWorkflowId,
} from '../../workflows/contracts/export.contract';
import { EXPORTS_QUEUE } from '../../workflows/contracts/queues';
import type { exportWorkflow } from '../../workflows/export.workflow';
import { FakeExports, hang } from '../support/fake-exports';
import { recordHistory } from '../support/replay';
import { registerNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

async function main(): Promise<void> {
  const address = process.env.GANTRY_TEST_TEMPORAL_ADDRESS;
  const namespace = await registerNamespace();
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const exports = new FakeExports(() => Promise.resolve(Date.now()), hang);
  exports.days.push('2026-01-01', '2026-01-02', '2026-01-03');
  let looks = 0;
  const activities = {
    ...exports.all(),
    readProgress: () => {
      looks += 1;
      return Promise.resolve({
        partitionsTotal: 3,
        partitionsDone: 0,
        partitionsStalled: 0,
        rows: 1_000,
        rowsTotal: 9_000,
        bytes: 50_000,
        rowsPerSecond: 100,
        secondsLeft: 80,
      });
    },
  };
  const main = await Worker.create({
    connection,
    namespace,
    taskQueue: EXPORTS_QUEUE,
    workflowsPath: require.resolve('../../workflows'),
    activities,
  });
  const partitions = await Worker.create({
    connection,
    namespace,
    taskQueue: EXPORT_PARTITIONS_QUEUE,
    activities,
    maxHeartbeatThrottleInterval: 50,
  });
  const record = async (): Promise<void> => {
    const handle = await client.workflow.start<typeof exportWorkflow>('exportWorkflow', {
      workflowId: exportWorkflowId('recorded'),
      taskQueue: EXPORTS_QUEUE,
      args: [
        {
          exportId: 'recorded',
          tenantId: 'tenant',
          partitionConcurrency: 2,
          heartbeatTimeoutMs: 10_000,
          timeoutMs: 60_000,
        },
      ],
    });
    await waitFor('a look at the progress', () => Promise.resolve(looks > 0 || undefined), 60_000);
    await handle.signal(CANCEL_EXPORT_SIGNAL);
    await handle.result();
    await recordHistory(handle, 'export-watched-cancelled');
  };
  await partitions.runUntil(main.runUntil(record()));
  await connection.close();
  await client.connection.close();
}

void main();
