/**
 * @library @temporalio/worker 1.24.0
 * @patch Overrides the protected static methods `Worker.createWorkflowCreator` and `Worker.getOrCreateBundle` and names types of
 * `lib/`, so that all workers of a process share one workflow thread and parse the bundle once.
 * @why The SDK starts a thread for each task queue, each loads the SDK and the bundle, and the main thread parses the bundle's
 * source map and compiles it for each (docs/decisions/start-time.md).
 * @upstream None known.
 * @remove When workers can be given a workflow thread, or one worker can poll several task queues.
 */
import type { ActivityFunction, Logger } from '@temporalio/common';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';

/**
 * Creates the Temporal workers of a process; the workflows of all of them run on one thread. By itself the SDK starts one
 * for each task queue, and each loads the SDK and the bundle (docs/decisions/start-time.md).
 *
 * @param all with the same bundle
 */
export function createWorkers(all: WorkerOptions[]): Promise<Worker[]> {
  // The thread is given once the activities that a workflow may call locally.
  const activities = new Map(all.flatMap((options) => Object.entries<ActivityFunction>({ ...options.activities })));
  let thread: Promise<WorkflowCreator> | undefined;
  let parsed: Promise<WorkflowBundleWithSourceMapAndFilename | undefined> | undefined;
  let users = 0;

  class SharingWorker extends Worker {
    protected static override getOrCreateBundle(
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowBundleWithSourceMapAndFilename | undefined> {
      if (!options.workflowBundle) return super.getOrCreateBundle(options, logger);
      parsed ??= super.getOrCreateBundle(options, logger);
      return parsed;
    }

    protected static override async createWorkflowCreator(
      bundle: WorkflowBundleWithSourceMapAndFilename,
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      thread ??= super.createWorkflowCreator(bundle, { ...options, activities }, logger);
      users += 1;
      const creator = await thread;
      return {
        createWorkflow: (workflow) => creator.createWorkflow(workflow),
        destroy: async () => {
          users -= 1;
          if (users === 0) await creator.destroy();
        },
      };
    }
  }

  return Promise.all(all.map((options) => SharingWorker.create(options)));
}
