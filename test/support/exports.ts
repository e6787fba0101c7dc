import { Module, DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { v7 as uuidv7 } from 'uuid';
import { ExportActivityProvider } from '../../activities/export.activities';
import { AppConfig } from '../../src/config/config';
import { ConfigModule } from '../../src/config/config.module';
import { DatabaseModule } from '../../src/database/database.module';
import { ExportsWorkerModule } from '../../src/exports/exports-worker.module';
import { EXPORT_PARTITIONS_QUEUE } from '../../workflows/contracts/export.contract';
import { EXPORTS_QUEUE } from '../../workflows/contracts/queues';
import { waitFor } from './wait-for';

export interface TestStore {
  endpoint: string;
  bucket: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
}

/** The S3 gateway of the test run. */
export function testStore(): TestStore {
  const given = process.env.GANTRY_TEST_S3;
  if (!given) throw new Error('GANTRY_TEST_S3 is missing: run the tests with `npm test`');
  return JSON.parse(given) as TestStore;
}

export interface DestinationChange {
  config?: Record<string, unknown>;
  credentials?: Record<string, unknown>;
}

/** The body of POST …/destinations: the bucket of the test run, under a prefix of its own. */
export function destinationBody({ config, credentials }: DestinationChange = {}): Record<string, unknown> {
  const store = testStore();
  return {
    destination_type: 's3',
    display_name: 'Test bucket',
    config: {
      bucket_name: store.bucket,
      prefix: `it/${uuidv7()}`,
      region: store.region,
      endpoint_url: store.endpoint,
      ...config,
    },
    credentials: { access_key_id: store.access_key_id, secret_access_key: store.secret_access_key, ...credentials },
  };
}

let isInstalled = false;

/** Temporal's progress lines would hide jest's. */
function installQuietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
}

@Module({})
class ExportWorkerModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: ExportWorkerModule,
      imports: [ConfigModule.forRoot(config), DatabaseModule, ExportsWorkerModule],
      providers: [ExportActivityProvider],
    };
  }
}

export interface TestExportWorker {
  app: INestApplicationContext;
  stop(): Promise<void>;
}

/** A worker for exports alone, in the test's process. */
export async function startExportWorker(config: AppConfig): Promise<TestExportWorker> {
  installQuietRuntime();
  const app = await NestFactory.createApplicationContext(ExportWorkerModule.forRoot(config), { logger: false });
  const { address, namespace } = config.temporal;
  const connection = await NativeConnection.connect({ address });
  const activities = app.get(ExportActivityProvider).activities();
  const workers = await Promise.all([
    Worker.create({
      connection,
      namespace,
      taskQueue: EXPORTS_QUEUE,
      workflowsPath: require.resolve('../../workflows'),
      activities,
    }),
    Worker.create({
      connection,
      namespace,
      taskQueue: EXPORT_PARTITIONS_QUEUE,
      activities,
      maxConcurrentActivityTaskExecutions: config.exports.partitionsPerWorker,
      maxHeartbeatThrottleInterval: '1 second',
    }),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    app,
    stop: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
      await connection.close();
      await app.close();
    },
  };
}

/** An answer of the API, whose shape the tests check. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = Record<string, any>;

/** The row of an export when it has ended; asked for by `call`, whose paths continue `/api/v1/bulk-exports`. */
export async function exportEnded(
  call: (method: 'GET', path: string) => Promise<{ body: Json }>,
  id: string,
  timeoutMs?: number,
): Promise<Json> {
  const ended = async (): Promise<Json | false> => {
    const { body } = await call('GET', `/${id}`);
    return !['Created', 'Running'].includes(body.status as string) && body;
  };
  return waitFor(`the end of export ${id}`, ended, timeoutMs).catch(async (error: unknown) => {
    const [row, runs] = await Promise.all([call('GET', `/${id}`), call('GET', `/${id}/runs`)]);
    throw new Error(`It did not end: ${JSON.stringify([row.body, runs.body])}`, { cause: error });
  });
}
