import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { ConfigError } from '../config/config-error';
import { writeUserLog } from '../graphs/host/sdk-logger';
import { startUserCodeThread } from '../graphs/host/user-code-thread';
import type { AppThreadData, FromAppThread } from './custom-app.protocol';
import { CustomRoutes } from './custom-routes';

const THREAD_FILE = join(__dirname, 'app-thread');
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

const logger = new Logger('CustomApp');
const userLog = new Logger('App');

type Ready = Extract<FromAppThread, { type: 'ready' }>;

/** `http.app` of langgraph.json: a thread that serves it on a Unix socket, started again when it ends. */
export class CustomApp {
  readonly routes: CustomRoutes;
  private backoffMs = FIRST_BACKOFF_MS;
  private isClosed = false;

  private constructor(
    private readonly folder: string,
    private readonly data: AppThreadData,
    private readonly env: Record<string, string>,
    private worker: Worker,
    ready: Ready,
  ) {
    this.routes = new CustomRoutes(ready.routes);
    this.watch(worker);
  }

  /**
   * Loads the app, and serves it.
   * @throws {ConfigError} when the module can't be loaded or exports nothing that takes requests
   */
  static async start(app: { file: string; exportName: string }, env: Record<string, string>): Promise<CustomApp> {
    // Accessible to this user alone: connections to the sockets aren't authenticated.
    const folder = mkdtempSync(join(tmpdir(), 'gantry-app-'));
    const data: AppThreadData = {
      ...app,
      socketPath: join(folder, 'http.sock'),
      innerSocketPath: join(folder, 'api.sock'),
    };
    try {
      const worker = startAppThread(data, env);
      return new CustomApp(folder, data, env, worker, await whenReady(worker));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw new ConfigError([`http.app: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }

  /** The app's address as @fastify/reply-from takes it. */
  get base(): string {
    return `unix+http://${encodeURIComponent(this.data.socketPath)}/`;
  }

  /** Where the app looks for the API. */
  get innerSocketPath(): string {
    return this.data.innerSocketPath;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.worker.terminate();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private watch(worker: Worker): void {
    worker.on('error', (error: unknown) => logger.error({ err: error }, 'The thread of http.app failed'));
    const startedAt = Date.now();
    worker.once('exit', () => {
      if (Date.now() - startedAt > LONGEST_BACKOFF_MS) this.backoffMs = FIRST_BACKOFF_MS;
      this.restartLater();
    });
  }

  private restartLater(): void {
    if (this.isClosed) return;
    logger.warn(`The thread of http.app ended; it starts again in ${this.backoffMs / 1000} s`);
    setTimeout(() => void this.restart(), this.backoffMs).unref();
    this.backoffMs = Math.min(this.backoffMs * 2, LONGEST_BACKOFF_MS);
  }

  private async restart(): Promise<void> {
    if (this.isClosed) return;
    rmSync(this.data.socketPath, { force: true });
    const worker = startAppThread(this.data, this.env);
    this.worker = worker;
    try {
      await whenReady(worker);
      this.watch(worker);
    } catch (error) {
      logger.error({ err: error }, 'http.app could not be started again');
      await worker.terminate();
      this.restartLater();
    }
  }
}

function startAppThread(data: AppThreadData, env: Record<string, string>): Worker {
  const worker = startUserCodeThread(THREAD_FILE, data, env);
  worker.on('message', (message: FromAppThread) => {
    if (message.type === 'log') writeUserLog(userLog, message);
    if (message.type === 'stray') logger.error({ error: message.message }, 'http.app threw outside of a request');
  });
  return worker;
}

function whenReady(worker: Worker): Promise<Ready> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: FromAppThread) => {
      if (message.type === 'ready') return resolve(message);
      if (message.type !== 'unusable') return;
      reject(new Error(message.message));
      void worker.terminate();
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`its thread ended with code ${code} while it was loaded`)));
  });
}
