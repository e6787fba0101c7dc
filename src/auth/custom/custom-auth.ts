import { join } from 'node:path';
import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { AppConfig } from '../../config/config';
import type { AuthUser } from '../../database/request-scope';
import type { AuthSource } from '../../config/langgraph-json';
import { UserModuleProcess } from '../../graphs/host/user-module-process';
import { programFor } from '../../graphs/host/user-code-program';
import { userCodeEnvironment } from '../../graphs/user-code-environment';
import { ApiError } from '../../http/api-error';
import { UserCache } from './user-cache';
import type { AuthAnswer, AuthCoverage, AuthFailure, AuthModuleQuestion, AuthQuestion, AuthRequest } from './protocol';

const PROGRAMS = { javascript: join(__dirname, 'auth-process.main'), python: 'gantry_graphs.auth_process' };
/** The auth module that langgraph.json names, in a separate process. */
@Injectable()
export class CustomAuth implements OnModuleDestroy {
  /** Its section of langgraph.json; undefined if there is none. */
  readonly source: AuthSource | undefined;
  private readonly logger = new Logger(CustomAuth.name);
  private readonly users: UserCache | undefined;
  private readonly module: UserModuleProcess<AuthModuleQuestion, AuthCoverage, AuthFailure> | undefined;

  constructor(config: AppConfig) {
    const { auth, env } = config.langgraphJson;
    this.source = auth;
    if (!auth) return;
    this.users = auth.cache && new UserCache(auth.cache);
    this.module = new UserModuleProcess(
      programFor(auth.file, config.python, PROGRAMS),
      { file: auth.file, exportName: auth.exportName },
      { env: userCodeEnvironment(config, env), ...config.graphs.user },
      {
        name: 'custom auth',
        setting: 'auth.path',
        log: new Logger('Auth'),
        onReady: (coverage) => this.reportCoverage(coverage),
        failed: (failure) => this.toError(failure),
        ended: () => internal('The custom auth ended before it had answered'),
        loading: () =>
          new ApiError(503, 'custom_auth_loading', 'The custom auth is still being loaded', {
            headers: { 'Retry-After': '10' },
          }),
        late: () => internal('The custom auth did not answer in time'),
      },
    );
  }

  /**
   * Loads the module before the first request needs it. Processes that rarely or never use it don't call this.
   * @throws {ConfigError} when it can't be used
   */
  async load(): Promise<void> {
    await this.module?.ready();
  }

  async onModuleDestroy(): Promise<void> {
    await this.module?.close();
  }

  /** @throws {ApiError} the error of the module's `authenticate` if it has a status, else 500 */
  async authenticate(request: AuthRequest): Promise<AuthUser> {
    const cached = this.users?.get(request);
    if (cached) return cached;
    const user = (await this.module!.ask({ type: 'authenticate', request })) as AuthUser;
    this.users?.set(request, user);
    return user;
  }

  /** @throws {ApiError} 403 when the handler refuses, or there is none */
  authorize(question: AuthQuestion): Promise<AuthAnswer> {
    return this.module!.ask({ type: 'authorize', question }) as Promise<AuthAnswer>;
  }

  private reportCoverage({ uncovered, generallyCoveredStore }: AuthCoverage): void {
    if (uncovered.length > 0) {
      this.logger.warn(
        { events: uncovered },
        'The custom auth has no handler for these: every request for them is refused with 403',
      );
    }
    if (generallyCoveredStore.length > 0) {
      this.logger.warn(
        { events: generallyCoveredStore },
        "A handler for '*' answers for the store: a filter that it returns holds only for items that have its fields, and all " +
          "users see the others. Add .on('store', …) that puts the user's identity into the namespace",
      );
    }
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
