import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as setTimeoutAsPromised } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ConfigError } from '../config/config-error';
import { languageOf } from '../config/graph-language';
import type { PythonSettings } from '../config/python-settings';
import { writeUserLog } from '../graphs/host/user-log';
import { UserCodeChild } from '../graphs/host/user-code-child';
import type { Confinement } from '../graphs/host/user-code-process';
import { programFor, type UserCodeProgram } from '../graphs/host/user-code-program';
import type { AppProcessData, FromAppProcess, ToAppProcess } from './custom-app.protocol';
import { CustomRoutes } from './custom-routes';
import { makeSocketFolder, removeAbandonedFolders, removeSocketFolder, type SocketFolder } from './socket-folder';

const PROGRAMS = { javascript: join(__dirname, 'app-process.main'), python: 'gantry_graphs.app_process' };
/** Time for an app in Python to stop after its last request. */
const STOP_MS = 5_000;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

const logger = new Logger('CustomApp');
const userLog = new Logger('App');

type Ready = Extract<FromAppProcess, { type: 'ready' }>;

/** `http.app` of langgraph.json: a process that serves it on a Unix socket, started again when it ends. */
export class CustomApp {
  readonly routes: CustomRoutes;
  private backoffMs = FIRST_BACKOFF_MS;
  private isClosed = false;

  private constructor(
    private readonly sockets: SocketFolder,
    private readonly data: AppProcessData,
    private readonly launch: () => AppProcess,
    private child: UserCodeChild<ToAppProcess>,
    { routes, ...reading }: Ready,
  ) {
    this.routes = new CustomRoutes(routes, reading);
    this.watch(child);
  }

  /**
   * Loads the app, and serves it.
   * @param python for an app in Python
   * @throws {ConfigError} when the module can't be loaded or exports nothing that takes requests
   */
  static async start(
    app: { file: string; exportName: string },
    python: PythonSettings,
    confinement: Confinement,
  ): Promise<CustomApp> {
    await removeAbandonedFolders();
    const sockets = makeSocketFolder(confinement);
    const { socketPath, innerSocketPath } = sockets;
    const data: AppProcessData = { ...app, socketPath, innerSocketPath };
    const program = programFor(app.file, python, PROGRAMS);
    const launch = (): AppProcess => startAppProcess(program, data, { ...confinement, leadsGroup: true });
    try {
      const { child, ready } = launch();
      return new CustomApp(sockets, data, launch, child, await ready);
    } catch (error) {
      removeSocketFolder(sockets);
      throw new ConfigError([`http.app: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }

  /** The app's address as @fastify/reply-from takes it. */
  get base(): string {
    return `unix+http://${encodeURIComponent(this.data.socketPath)}/`;
  }

  get socketPath(): string {
    return this.data.socketPath;
  }

  /** Where the app looks for the API. */
  get innerSocketPath(): string {
    return this.data.innerSocketPath;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (languageOf(this.data.file) === 'python') await this.stop();
    await this.child.terminate();
    removeSocketFolder(this.sockets);
  }

  /** Lets the app's lifespan end. */
  private async stop(): Promise<void> {
    this.child.send({ type: 'stop' });
    const timeout = new AbortController();
    await Promise.race([
      this.child.ended,
      setTimeoutAsPromised(STOP_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
    ]);
    timeout.abort();
  }

  private watch(child: UserCodeChild<ToAppProcess>): void {
    const startedAt = Date.now();
    void child.ended.then((how) => {
      if (Date.now() - startedAt > LONGEST_BACKOFF_MS) this.backoffMs = FIRST_BACKOFF_MS;
      this.restartLater(how);
    });
  }

  private restartLater(how: string): void {
    if (this.isClosed) return;
    logger.warn(`The process of http.app ${how}; it starts again in ${this.backoffMs / 1000} s`);
    setTimeout(() => void this.restart(), this.backoffMs).unref();
    this.backoffMs = Math.min(this.backoffMs * 2, LONGEST_BACKOFF_MS);
  }

  private async restart(): Promise<void> {
    if (this.isClosed) return;
    try {
      rmSync(this.data.socketPath, { force: true });
      const { child, ready } = this.launch();
      this.child = child;
      await ready;
      this.watch(child);
    } catch (error) {
      logger.error({ err: error }, 'http.app could not be started again');
      await this.child.terminate();
      this.restartLater('could not be loaded');
    }
  }
}

interface AppProcess {
  child: UserCodeChild<ToAppProcess>;
  ready: Promise<Ready>;
}

/** @throws the system's error, such as for a lack of memory */
function startAppProcess(program: UserCodeProgram, data: AppProcessData, confinement: Confinement): AppProcess {
  const { promise: ready, resolve, reject } = Promise.withResolvers<Ready>();
  const receive = (message: FromAppProcess): void => {
    if (message.type === 'log') writeUserLog(userLog, message);
    if (message.type === 'stray') logger.error({ error: message.message }, 'http.app threw outside of a request');
    if (message.type === 'ready') resolve(message);
    if (message.type !== 'unusable') return;
    reject(new Error(message.message));
    void child.terminate();
  };
  const child = new UserCodeChild<ToAppProcess>(program, data, confinement, (message) =>
    receive(message as FromAppProcess),
  );
  void child.ended.then((how) => reject(new Error(`its process ${how} while it was loaded`)));
  return { child, ready };
}
