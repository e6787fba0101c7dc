import { Worker } from '@temporalio/worker';
import { expectLibrary } from '../../../test/support/library-guard';

// What the workers do is tested with a server: test/integration/create-workers.test.ts.
describe('the Temporal worker', () => {
  it('makes its workflow thread in a static method that a subclass can override', () => {
    const { createWorkflowCreator, getOrCreateBundle, create } = Worker as unknown as Record<
      string,
      (...args: unknown[]) => unknown
    >;
    expectLibrary(
      typeof createWorkflowCreator === 'function' && createWorkflowCreator.length === 3,
      'Worker.createWorkflowCreator(bundle, options, logger) has changed: without it each worker starts a workflow thread.',
    );
    expectLibrary(
      typeof getOrCreateBundle === 'function' && create.toString().includes('this.getOrCreateBundle('),
      'Worker.create no longer calls getOrCreateBundle on the class it is called on: each worker parses the bundle.',
    );
    expectLibrary(
      create.toString().includes('this.createWorkflowCreator('),
      'Worker.create no longer calls createWorkflowCreator on the class it is called on: the workers share no thread.',
    );
  });
});
