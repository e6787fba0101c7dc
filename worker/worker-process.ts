import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { INestApplicationContext } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { NativeConnection, Worker, WorkerOptions } from '@temporalio/worker';
import { RunActivityProvider } from '../activities/run.activities';
import { AppConfig } from '../src/config/config';
import { RunSweep } from '../src/runs/run-sweep';
import { Sweeper } from '../src/sweeps/sweeper';
import { RUNS_QUEUE, WEBHOOKS_QUEUE } from '../workflows/contracts/queues';

/** Built once by `npm run build`; a source checkout (tests) bundles on the spot. */
const BUNDLE = join(__dirname, '..', 'workflow-bundle.js');

function workflowSource(): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  return existsSync(BUNDLE)
    ? { workflowBundle: { codePath: BUNDLE } }
    : { workflowsPath: require.resolve('../workflows') };
}

/** The Temporal workers of a process, one per task queue, and the sweeps; started and drained together. */
export class WorkerProcess {
  private constructor(
    private readonly connection: NativeConnection,
    private readonly workers: Worker[],
    private readonly sweeper: Sweeper,
  ) {}

  static async create(app: INestApplicationContext, config: AppConfig): Promise<WorkerProcess> {
    const { address, namespace, apiKey, tls } = config.temporal;
    const connection = await NativeConnection.connect({ address, ...(apiKey && { apiKey }), ...(tls && { tls }) });
    const shared: Omit<WorkerOptions, 'taskQueue'> = {
      connection,
      namespace,
      ...workflowSource(),
      shutdownGraceTime: config.shutdownGraceMs,
      shutdownForceTime: config.shutdownGraceMs + 10_000,
    };
    const workers = await Promise.all([
      Worker.create({
        ...shared,
        taskQueue: RUNS_QUEUE,
        activities: app.get(RunActivityProvider).activities(),
        maxConcurrentActivityTaskExecutions: config.runsPerWorker,
      }),
      Worker.create({ ...shared, taskQueue: WEBHOOKS_QUEUE, activities: {} }),
    ]);
    const sweeper = new Sweeper(app.get(getDataSourceToken()), [app.get(RunSweep)], config.sweepIntervalMs);
    return new WorkerProcess(connection, workers, sweeper);
  }

  /** Polls until `shutdown`; resolves when every activity has ended or handed its work back. */
  async run(): Promise<void> {
    this.sweeper.start();
    try {
      await Promise.all(this.workers.map((worker) => worker.run()));
    } finally {
      await this.sweeper.stop();
      await this.connection.close();
    }
  }

  shutdown(): void {
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}
