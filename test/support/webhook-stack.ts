import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamicModule, INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { WebhookActivityProvider } from '../../activities/webhook.activities';
import type { TenantId } from '../../src/auth/tenant';
import { AppConfig } from '../../src/config/config';
import { ConfigModule } from '../../src/config/config.module';
import { DatabaseModule } from '../../src/database/database.module';
import { createLogger, NestLogger } from '../../src/http/logging';
import { Sweeper } from '../../src/sweeps/sweeper';
import { WebhookOrchestrator } from '../../src/temporal/webhook-orchestrator';
import { DeliveriesService } from '../../src/webhooks/deliveries.service';
import { DeliverySweep } from '../../src/webhooks/delivery-sweep';
import { WebhooksWorkerModule } from '../../src/webhooks/webhooks-worker.module';
import type { DeliveryDetailResponse, DeliveryResponse } from '../../src/webhooks/webhooks.schemas';
import { WEBHOOKS_QUEUE } from '../../workflows/contracts/queues';
import { startTestApi, TestApi } from './api';
import { testConfig } from './config';
import { registerNamespace } from './temporal';
import { waitFor } from './wait-for';

const EXAMPLES = join(__dirname, '..', '..', 'examples', 'graphs');

/** Once per test file, since Temporal's progress lines would hide the results. */
let quiet = false;
function silenceTemporal(): void {
  if (!quiet) Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
  quiet = true;
}

/** The webhook half of a worker process. */
@Module({})
class WebhookWorkerModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: WebhookWorkerModule,
      imports: [ConfigModule.forRoot(config), DatabaseModule, WebhooksWorkerModule],
      providers: [WebhookActivityProvider],
    };
  }
}

export interface WebhookWorker {
  app: INestApplicationContext;
  stop(): Promise<void>;
}

/** The api, its database, a namespace of its own and, once started, the worker that delivers. */
export class WebhookStack {
  private worker: WebhookWorker | undefined;

  private constructor(
    readonly api: TestApi,
    readonly environment: Record<string, string>,
    private readonly folder: string,
  ) {}

  static async start(overrides: Record<string, string> = {}, langgraph: object = {}): Promise<WebhookStack> {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-webhooks-'));
    const config = join(folder, 'langgraph.json');
    writeFileSync(config, JSON.stringify({ graphs: { approval: `${EXAMPLES}/approval.ts:graph` }, ...langgraph }));
    const environment = {
      TEMPORAL_NAMESPACE: await registerNamespace(),
      GANTRY_CONFIG: config,
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      GANTRY_WEBHOOK_RETRY_SECONDS: '0.2,0.2,0.2',
      GANTRY_SWEEP_INTERVAL_SECONDS: '1',
      ...overrides,
    };
    return new WebhookStack(await startTestApi(environment), environment, folder);
  }

  get database(): DataSource {
    return this.api.app.get<DataSource>(getDataSourceToken());
  }

  get tenantId(): TenantId {
    return this.api.config.auth.defaultTenantId as TenantId;
  }

  private get credentials(): Record<string, string> {
    const key = this.environment.GANTRY_API_KEY;
    return key ? { 'x-api-key': key } : {};
  }

  async startWorker(): Promise<WebhookWorker> {
    silenceTemporal();
    const { api } = this;
    const config = this.workerConfig();
    const app = await NestFactory.createApplicationContext(WebhookWorkerModule.forRoot(config), {
      logger: new NestLogger(createLogger('worker', config.telemetry.logLevel)),
      abortOnError: false,
    });
    const { address, namespace } = api.config.temporal;
    const connection = await NativeConnection.connect({ address });
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: WEBHOOKS_QUEUE,
      workflowsPath: require.resolve('../../workflows/webhook-delivery.workflow'),
      activities: app.get(WebhookActivityProvider).activities(),
      maxConcurrentActivityTaskExecutions: config.webhooks.delivery.concurrency,
    });
    const sweeper = new Sweeper(app.get(getDataSourceToken()), [app.get(DeliverySweep)], config.worker.sweepIntervalMs);
    const running = worker.run();
    sweeper.start();
    this.worker = {
      app,
      stop: async () => {
        this.worker = undefined;
        worker.shutdown();
        await running;
        await sweeper.stop();
        await connection.close();
        await app.close();
      },
    };
    return this.worker;
  }

  /** Creates a delivery as the end of a run does: the row in the run's transaction, and then the workflow. */
  async deliver(url: string, payload?: Record<string, unknown>): Promise<string> {
    const deliveryId = await this.enqueue(url, payload);
    const orchestrator = this.api.app.get(WebhookOrchestrator, { strict: false });
    await orchestrator.startDelivery({ deliveryId, tenantId: this.tenantId, runId: null, threadId: null });
    return deliveryId;
  }

  /** The row alone, as when the process died after the commit. */
  async enqueue(url: string, payload: Record<string, unknown> = { status: 'success' }): Promise<string> {
    const deliveryId = await this.api.app
      .get(DeliveriesService, { strict: false })
      .enqueueDelivery(this.database.manager, {
        tenantId: this.tenantId,
        runId: uuidv7(),
        threadId: uuidv7(),
        url,
        payload,
      });
    if (!deliveryId) throw new Error('Webhooks are turned off');
    return deliveryId;
  }

  async get(deliveryId: string): Promise<DeliveryDetailResponse> {
    const response = await fetch(`${this.api.url}/webhooks/deliveries/${deliveryId}`, { headers: this.credentials });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as DeliveryDetailResponse;
  }

  async post(path: string, body?: object): Promise<{ status: number; body: DeliveryResponse & { detail?: string } }> {
    const response = await fetch(this.api.url + path, {
      method: 'POST',
      headers: { ...this.credentials, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as DeliveryResponse & { detail?: string } };
  }

  ended(deliveryId: string, timeoutMs?: number): Promise<DeliveryDetailResponse> {
    return waitFor(
      `the end of delivery ${deliveryId}`,
      async () => {
        const delivery = await this.get(deliveryId);
        return delivery.status !== 'pending' && delivery;
      },
      timeoutMs,
    );
  }

  async stop(): Promise<void> {
    await this.worker?.stop();
    await this.api.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Address at which the worker reaches the api, unknown before the api listens. */
  private workerConfig(): AppConfig {
    return testConfig(this.api.database.url, { ...this.environment, GANTRY_API_URL: this.api.url });
  }
}
