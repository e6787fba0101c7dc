import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INestApplicationContext } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { VersioningBehavior } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, WorkerOptions } from '@temporalio/worker';
import { activitiesOf } from '../activities/activities';
import { RunActivityProvider } from '../activities/run.activities';
import { AppConfig } from '../src/config/config';
import { WORKER_QUEUES, type WorkerQueue } from '../src/config/settings/worker';
import { orderedProviders } from '../src/discovery/ordered-providers';
import { EagerRuns } from '../src/runs/eager-runs';
import { RunExecutor } from '../src/runs/run-executor';
import { RunHandover } from '../src/runs/run-handover';
import { UntakenRuns } from '../src/runs/untaken-runs';
import { type Sweep, Sweeps } from '../src/sweeps/sweep';
import { Sweeper } from '../src/sweeps/sweeper';
import { telemetry } from '../src/telemetry/start-telemetry';
import { WorkerDeployment } from '../src/temporal/worker-deployment';
import { EXPORT_PARTITIONS_QUEUE } from '../workflows/contracts/export.contract';
import { CRONS_QUEUE, EXPORTS_QUEUE, RUNS_QUEUE, WEBHOOKS_QUEUE } from '../workflows/contracts/queues';
import { createWorkers } from '../src/patches/temporalio-worker/create-workers';
import { RunSlotSupplier } from './run-slot-supplier';

/** Built once by `npm run build`; a source checkout (tests) bundles on the spot. */
const BUNDLE = join(__dirname, '..', 'workflow-bundle.js');
/** Workflow bundle with the tracer's interceptors; part of the image. */
const TRACED_BUNDLE = join(__dirname, '..', 'workflow-bundle-traced.js');

/**
 * Runs that this process begins at the same time: each has a workflow task until it is over or, after two seconds, watched.
 * More of them would only slow each other down; the others wait in Temporal, for any worker.
 */
const RUNS_BEGINNING = 64;

/**
 * Time for Temporal to notice that this worker has ended its polls. A task that it gives to one of them before is lost until the
 * task's timeout.
 */
const POLLS_END_MS = 250;

type WorkflowSource = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'plugins'>;

/** One bundle for all queues. */
async function workflowSource(): Promise<WorkflowSource> {
  const workflowsPath = require.resolve('../workflows');
  const traces = telemetry()?.temporal;
  if (traces) {
    const plugins = [traces];
    if (existsSync(TRACED_BUNDLE)) return { workflowBundle: { codePath: TRACED_BUNDLE }, plugins };
    const logger = new DefaultLogger('WARN');
    return { workflowBundle: await bundleWorkflowCode({ workflowsPath, plugins, logger }), plugins };
  }
  return existsSync(BUNDLE) ? { workflowBundle: { codePath: BUNDLE } } : { workflowsPath };
}

/** How a process begins, executes and hands over runs. */
interface RunServices {
  executor: RunExecutor;
  eager: EagerRuns;
  handover: RunHandover;
  untaken: UntakenRuns;
}

/** The Temporal workers of a process, one per task queue, and the sweeps; started and drained together. */
export class WorkerProcess {
  private readonly stopping = new AbortController();

  private constructor(
    private readonly connection: NativeConnection,
    private readonly workers: Worker[],
    /** Polls for questions about the runs that this process owns; present if it executes runs. */
    private readonly owner: Worker | undefined,
    private readonly sweeper: Sweeper,
    private readonly deployment: WorkerDeployment,
    private readonly runs: RunServices,
    private readonly config: AppConfig,
  ) {}

  static async create(app: INestApplicationContext, config: AppConfig): Promise<WorkerProcess> {
    const { address, namespace, apiKey, tls } = config.temporal;
    const connection = await NativeConnection.connect({ address, ...(apiKey && { apiKey }), ...(tls && { tls }) });
    const runs = {
      executor: app.get(RunExecutor, { strict: false }),
      eager: app.get(EagerRuns, { strict: false }),
      handover: app.get(RunHandover, { strict: false }),
      untaken: app.get(UntakenRuns, { strict: false }),
    };
    const activityWorker: Omit<WorkerOptions, 'taskQueue'> = {
      connection,
      namespace,
      // Same name as in the rows of its runs, by which they are found when the process is lost.
      identity: `${process.pid}@${hostname()} ${runs.executor.taskQueue}`,
      shutdownGraceTime: config.worker.handBackAfterMs + config.worker.shutdownGraceMs,
      shutdownForceTime: config.worker.handBackAfterMs + config.worker.shutdownGraceMs + 5_000,
    };
    // Lost runs resume while the workers of Temporal are made: they need Temporal, but not yet its tasks.
    runs.handover.takeOverRuns();
    const deployment = app.get(WorkerDeployment);
    const discovery = app.get(DiscoveryService, { strict: false });
    // A run stays with the code that it began on; all other workflows continue with any, as replay tests prove.
    const versioned = (
      defaultVersioningBehavior: VersioningBehavior,
    ): Pick<WorkerOptions, 'workerDeploymentOptions'> =>
      deployment.version
        ? {
            workerDeploymentOptions: {
              version: deployment.version,
              useWorkerVersioning: true,
              defaultVersioningBehavior,
            },
          }
        : {};
    const shared: Omit<WorkerOptions, 'taskQueue'> = {
      ...activityWorker,
      ...(await workflowSource()),
      ...versioned('AUTO_UPGRADE'),
      // A workflow waits for a dead worker that has it in memory no longer than a run does.
      stickyQueueScheduleToStartTimeout: config.worker.heartbeatTimeoutMs,
    };
    const options: Record<WorkerQueue, WorkerOptions[]> = {
      runs: [
        {
          ...shared,
          ...versioned('PINNED'),
          taskQueue: RUNS_QUEUE,
          activities: activitiesOf(discovery, RUNS_QUEUE),
          tuner: {
            workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: RUNS_BEGINNING },
            localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: RUNS_BEGINNING },
            activityTaskSlotSupplier: new RunSlotSupplier(runs.executor.slots),
            nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
          },
          // Temporal keeps handing tasks to the open polls of a worker that is frozen or cut off: each costs its run a
          // heartbeat timeout, so there are as few as the throughput allows.
          maxConcurrentActivityTaskPolls: Math.min(2, config.worker.runs),
        },
      ],
      exports: [
        {
          ...shared,
          taskQueue: EXPORTS_QUEUE,
          activities: activitiesOf(discovery, EXPORTS_QUEUE),
        },
        // A cancellation is heard with the answer to a heartbeat, so partitions send theirs every second.
        {
          ...activityWorker,
          ...versioned('AUTO_UPGRADE'),
          taskQueue: EXPORT_PARTITIONS_QUEUE,
          activities: activitiesOf(discovery, EXPORT_PARTITIONS_QUEUE),
          maxConcurrentActivityTaskExecutions: config.exports.partitionsPerWorker,
          maxHeartbeatThrottleInterval: '1 second',
        },
      ],
      webhooks: [
        {
          ...shared,
          taskQueue: WEBHOOKS_QUEUE,
          activities: activitiesOf(discovery, WEBHOOKS_QUEUE),
          maxConcurrentActivityTaskExecutions: config.webhooks.delivery.concurrency,
        },
      ],
      // Work that Schedules start. Ticks are short, so capacity is better used for the runs that they start.
      crons: [
        {
          ...shared,
          taskQueue: CRONS_QUEUE,
          activities: activitiesOf(discovery, CRONS_QUEUE),
          maxConcurrentActivityTaskExecutions: 20,
          maxConcurrentActivityTaskPolls: 1,
          maxConcurrentWorkflowTaskPolls: 2,
        },
      ],
    };
    const workers = await createWorkers(
      WORKER_QUEUES.filter((queue) => config.worker.queues.includes(queue)).flatMap((queue) => options[queue]),
    );
    // Of no version: a version's task queues are few, and each process has another one of these.
    const owner = config.worker.queues.includes('runs')
      ? await Worker.create({
          ...activityWorker,
          taskQueue: runs.executor.taskQueue,
          activities: app.get(RunActivityProvider).ownedActivities(),
          maxConcurrentActivityTaskExecutions: config.worker.runs,
          maxConcurrentActivityTaskPolls: 2,
        })
      : undefined;
    const sweeper = new Sweeper(
      app.get(getDataSourceToken()),
      orderedProviders<Sweep>(discovery, Sweeps),
      config.worker.sweepIntervalMs,
    );
    return new WorkerProcess(connection, workers, owner, sweeper, deployment, runs, config);
  }

  /** Whether every queue is polled: from the start on until the shutdown. */
  get isReady(): boolean {
    return this.all.every((worker) => worker.getState() === 'RUNNING');
  }

  private get all(): Worker[] {
    return this.owner ? [...this.workers, this.owner] : this.workers;
  }

  /** Polls until `shutdown`; resolves when every activity has ended or handed its work back. */
  async run(): Promise<void> {
    this.sweeper.start();
    try {
      const running = this.all.map((worker) => worker.run());
      // Which version a run gets is for Temporal to say.
      if (this.owner && !this.deployment.version) await this.runs.eager.beginAtOnce();
      await Promise.all([...running, this.deployment.begin(this.stopping.signal)]);
      if (this.owner) await this.runs.handover.recoverHandedBack();
    } finally {
      await this.sweeper.stop();
    }
    // After a failure it ends with the process: the other workers still use it, and it refuses to be closed.
    await this.connection.close();
  }

  /**
   * Takes no more work. Its runs continue here for as long as GANTRY_HAND_BACK_AFTER_SECONDS allows, so that they end on the
   * code that they began on; then they are handed back at their next checkpoint.
   */
  shutdown(): void {
    this.stopping.abort();
    const { handBackAfterMs, shutdownGraceMs } = this.config.worker;
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    this.runs.executor.stopBeginning(sleep(POLLS_END_MS));
    this.runs.untaken.stop();
    if (handBackAfterMs > 0) setTimeout(() => this.runs.executor.handBackAll(), handBackAfterMs).unref();
    else this.runs.executor.handBackAll();
    // Activities that watch the runs that have just begun may still arrive.
    const grace = sleep(handBackAfterMs + shutdownGraceMs, undefined, { ref: false });
    const settled = Promise.all([this.runs.executor.allWatched(), this.runs.eager.settled()]);
    void Promise.race([settled, grace]).then(() => {
      if (this.owner?.getState() === 'RUNNING') this.owner.shutdown();
    });
  }
}
