import { join } from 'node:path';
import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { AppConfig } from '../../config/config';
import { ConfigError } from '../../config/config-error';
import type { AuthUser } from '../../database/request-scope';
import type { AuthSource } from '../../config/langgraph-json';
import { writeUserLog } from '../../graphs/host/sdk-logger';
import { UserCodeChild } from '../../graphs/host/user-code-child';
import type { Confinement } from '../../graphs/host/user-code-process';
import { programFor } from '../../graphs/host/user-code-program';
import { userCodeEnvironment } from '../../graphs/user-code-environment';
import { ApiError } from '../../http/api-error';
import { UserCache } from './user-cache';
import type { AuthAnswer, AuthFailure, AuthQuestion, AuthRequest, FromAuthProcess, ToAuthProcess } from './protocol';

const PROGRAMS = { javascript: join(__dirname, 'auth-process.main'), python: 'gantry_graphs.auth_process' };
/** Time limit of a call of the module, which may send requests itself. */
const CALL_TIMEOUT_MS = 10_000;
/** A process that doesn't answer a ping for this long hangs in its own code. */
const PING_TIMEOUT_MS = 1_000;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

interface Call {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

interface AuthProcess {
  child: UserCodeChild<ToAuthProcess>;
  ready: Promise<void>;
  calls: Map<number, Call>;
}

/** The auth module that langgraph.json names, in a separate process. */
@Injectable()
export class CustomAuth implements OnModuleDestroy {
  /** Its section of langgraph.json; undefined if there is none. */
  readonly source: AuthSource | undefined;
  private readonly logger = new Logger(CustomAuth.name);
  private readonly userLog = new Logger('Auth');
  private readonly confinement: Confinement;
  private readonly interpreter: string;
  private readonly users: UserCache | undefined;
  private process: AuthProcess | undefined;
  private nextId = 1;
  private isClosed = false;

  constructor(config: AppConfig) {
    const { auth, env } = config.langgraphJson;
    this.source = auth;
    this.users = auth?.cache && new UserCache(auth.cache);
    this.interpreter = config.graphs.python;
    this.confinement = { env: auth ? userCodeEnvironment(config, env) : {}, ...config.graphs.user };
  }

  /**
   * Loads the module before the first request needs it. Processes that rarely or never use it don't call this.
   * @throws {ConfigError} when it can't be used
   */
  async load(): Promise<void> {
    if (this.source) await this.running().ready;
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    await this.process?.child.terminate();
  }

  /** @throws {ApiError} the error of the module's `authenticate` if it has a status, else 500 */
  async authenticate(request: AuthRequest): Promise<AuthUser> {
    const cached = this.users?.get(request);
    if (cached) return cached;
    const user = await this.call<AuthUser>({ type: 'authenticate', request });
    this.users?.set(request, user);
    return user;
  }

  /** @throws {ApiError} 403 when the handler refuses, or there is none */
  authorize(question: AuthQuestion): Promise<AuthAnswer> {
    return this.call({ type: 'authorize', question });
  }

  private async call<T>(message: DistributiveOmit<ToAuthProcess, 'id'>): Promise<T> {
    const process = this.running();
    await process.ready;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        void this.endIfHanging(process);
        reject(internal('The custom auth did not answer in time'));
      }, CALL_TIMEOUT_MS);
    });
    try {
      return (await Promise.race([this.send(process, message), late])) as T;
    } finally {
      clearTimeout(timer);
    }
  }

  private send({ child, calls }: AuthProcess, message: DistributiveOmit<ToAuthProcess, 'id'>): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      calls.set(id, { resolve, reject });
      child.send({ ...message, id });
    });
  }

  /** The process, started again when it has ended. */
  private running(): AuthProcess {
    this.process ??= this.start(this.source!);
    return this.process;
  }

  private start({ file, exportName }: AuthSource): AuthProcess {
    const calls = new Map<number, Call>();
    let child!: UserCodeChild<ToAuthProcess>;
    const ready = new Promise<void>((resolve, reject) => {
      const unusable = (why: string): void => reject(new ConfigError([`auth.path: ${file}:${exportName} ${why}`]));
      const receive = (message: FromAuthProcess): void => {
        if (message.type === 'log') return writeUserLog(this.userLog, message);
        if (message.type === 'unusable') return unusable(message.message);
        if (message.type === 'ready') {
          this.reportUncovered(message.uncovered);
          this.warnOfSharedStore(message.generallyCoveredStore);
          return resolve();
        }
        const call = calls.get(message.id);
        calls.delete(message.id);
        if (message.type === 'done') call?.resolve(message.result);
        else call?.reject(this.toError(message.failure));
      };
      const program = programFor(file, { interpreter: this.interpreter, ...PROGRAMS });
      child = new UserCodeChild(program, { file, exportName }, this.confinement, (message) =>
        receive(message as FromAuthProcess),
      );
      void child.ended.then((how) => unusable(`${how} while it was loaded`));
    });
    const process = { child, ready, calls };
    void child.ended.then((how) => {
      if (!this.isClosed) this.logger.error(`The process of the custom auth ${how}`);
      if (this.process === process) this.process = undefined;
      for (const { reject } of calls.values()) reject(internal('The custom auth ended before it had answered'));
      calls.clear();
    });
    // Its users await it; until then a failure must not count as unhandled.
    ready.catch(() => undefined);
    return process;
  }

  private async endIfHanging(process: AuthProcess): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const silent = new Promise<'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), PING_TIMEOUT_MS);
    });
    const pong = this.send(process, { type: 'ping' }).catch(() => undefined);
    const answer = await Promise.race([pong, silent]);
    clearTimeout(timer);
    if (answer !== 'silent') return;
    this.logger.error('The auth module blocks its process: it is loaded again');
    await process.child.terminate();
  }

  private reportUncovered(events: string[]): void {
    if (events.length === 0) return;
    this.logger.warn(
      { events },
      'The custom auth has no handler for these: every request for them is refused with 403',
    );
  }

  private warnOfSharedStore(events: string[]): void {
    if (events.length === 0) return;
    this.logger.warn(
      { events },
      "A handler for '*' answers for the store: a filter that it returns holds only for items that have its fields, and all " +
        "users see the others. Add .on('store', …) that puts the user's identity into the namespace",
    );
  }

  private toError({ status, message, headers }: AuthFailure): ApiError {
    if (status !== undefined) return new ApiError(status, 'custom_auth', message, { ...(headers && { headers }) });
    this.logger.error({ error: message }, 'The custom auth failed');
    return internal('The custom auth failed');
  }
}

function internal(detail: string): ApiError {
  return new ApiError(500, 'custom_auth_failed', detail);
}
