import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';

/** A namespace of the test file's own, so that no other test's workers take its tasks. */
export async function createTestNamespace(): Promise<string> {
  const address = process.env.GANTRY_TEST_TEMPORAL_ADDRESS;
  if (!address) throw new Error('GANTRY_TEST_TEMPORAL_ADDRESS is missing: run the tests with `npm test`');
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
  } finally {
    await connection.close();
  }
  return namespace;
}
