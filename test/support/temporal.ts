import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';

export interface TestNamespace {
  name: string;
  client: Client;
  /** Deletes the namespace with everything in it, and closes the client. */
  drop(): Promise<void>;
}

const USABLE_MS = 30_000;
const DAY_SECONDS = 86_400;

/** The Temporal server of the test run. */
export function temporalAddress(): string {
  const address = process.env.GANTRY_TEST_TEMPORAL_ADDRESS;
  if (!address) throw new Error('GANTRY_TEST_TEMPORAL_ADDRESS is missing: run the tests with `npm test`');
  return address;
}

/** A namespace of the test file's own: task queues have fixed names, and other files have workers on them. */
export async function registerNamespace(): Promise<string> {
  const connection = await Connection.connect({ address: temporalAddress() });
  try {
    const namespace = `test-${randomBytes(6).toString('hex')}`;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: DAY_SECONDS as never },
    });
    await untilUsable(connection, namespace);
    return namespace;
  } finally {
    await connection.close();
  }
}

/** A namespace with a client, for tests that inspect it and delete it at the end. */
export async function createNamespace(): Promise<TestNamespace> {
  const name = await registerNamespace();
  const connection = await Connection.connect({ address: temporalAddress() });
  return {
    name,
    client: new Client({ connection, namespace: name }),
    drop: async () => {
      await connection.operatorService.deleteNamespace({ namespace: name });
      await connection.close();
    },
  };
}

/** Each of the server's caches learns of a new namespace within seconds. */
async function untilUsable(connection: Connection, namespace: string): Promise<void> {
  const deadline = Date.now() + USABLE_MS;
  for (;;) {
    try {
      await connection.workflowService.listOpenWorkflowExecutions({ namespace, maximumPageSize: 1 });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
