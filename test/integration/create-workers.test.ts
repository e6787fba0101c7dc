import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { createWorkers } from '../../src/patches/temporalio-worker/create-workers';
import { createNamespace, temporalAddress, type TestNamespace } from '../support/temporal';
import { localCall } from '../support/workflows/local-calls';

/** Threads of this process, the one of the event loop not counted. */
function threads(): number {
  return (process.report!.getReport() as unknown as { workers: unknown[] }).workers.length;
}

describe('the workers of a process', () => {
  let namespace: TestNamespace;
  let connection: NativeConnection;

  beforeAll(async () => {
    namespace = await createNamespace();
    connection = await NativeConnection.connect({ address: temporalAddress() });
  });

  afterAll(async () => {
    await connection?.close();
    await namespace?.drop();
  });

  it('run their workflows on one thread, which stays until the last of them has stopped', async () => {
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('../support/workflows/local-calls'),
      logger: new DefaultLogger('ERROR'),
    });
    const before = threads();
    const shared = { connection, namespace: namespace.name, workflowBundle };
    const workers = await createWorkers([
      { ...shared, taskQueue: 'left', activities: { left: () => Promise.resolve('from the left') } },
      { ...shared, taskQueue: 'right', activities: { right: () => Promise.resolve('from the right') } },
      { ...shared, workflowBundle: undefined, taskQueue: 'busy', activities: { busy: () => Promise.resolve() } },
    ]);
    expect(threads() - before).toBe(1);
    const [left, right, busy] = workers.map((worker: Worker) => ({ worker, ended: worker.run() }));
    const call = (taskQueue: string, n: number): Promise<string> =>
      namespace.client.workflow.execute(localCall, { taskQueue, args: [taskQueue], workflowId: `${taskQueue}-${n}` });

    expect(await Promise.all([call('left', 1), call('right', 1)])).toEqual(['from the left', 'from the right']);
    left.worker.shutdown();
    await left.ended;
    expect(await call('right', 2)).toBe('from the right');
    expect(threads() - before).toBe(1);

    right.worker.shutdown();
    busy.worker.shutdown();
    await Promise.all([right.ended, busy.ended]);
    expect(threads()).toBe(before);
  });
});
