import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { AppConfig } from '../config/config';
import {
  type Cipher,
  type EncryptionContext,
  givenEncryptionContext,
  type SealOperation,
  useCipher,
} from '../database/at-rest';
import { isJsonObject } from '../database/json';
import { currentScope, type RequestScope } from '../database/request-scope';
import { pythonProgram } from '../graphs/host/user-code-program';
import { UserModuleProcess } from '../graphs/host/user-module-process';
import { userCodeEnvironment } from '../graphs/user-code-environment';
import { parseJson } from '../http/json-limits';
import { encryptionErrors } from './encryption.errors';
import type { EncryptionModule, EncryptionQuestion } from './protocol';
import { EncryptionRefused, type HandlerCall, openValues, sealValues } from './sealed-values';

const PROGRAM = 'gantry_graphs.encryption_process';
/**
 * The encryption that langgraph.json names, in a process of its own with the environment of user code: the keys that its
 * handlers use are in no graph process, and in neither the api nor the worker.
 */
@Injectable()
export class CustomEncryption implements Cipher, OnModuleDestroy {
  private readonly logger = new Logger(CustomEncryption.name);
  private readonly contexts = new WeakMap<RequestScope, Promise<EncryptionContext>>();
  /** Undefined if langgraph.json names none: then nothing is sealed, and this is never asked. */
  private readonly module: UserModuleProcess<EncryptionQuestion, EncryptionModule, string> | undefined;

  constructor(config: AppConfig) {
    const { encryption, env } = config.langgraphJson;
    useCipher(encryption && this);
    if (!encryption) return;
    this.module = new UserModuleProcess(
      pythonProgram(config.python, PROGRAM),
      encryption,
      { env: userCodeEnvironment(config, env), ...config.graphs.user },
      {
        name: 'custom encryption',
        setting: 'encryption.path',
        log: new Logger('Encryption'),
        failed: (why) => {
          this.logger.error({ error: why }, 'The custom encryption failed');
          return encryptionErrors.failed();
        },
        ended: encryptionErrors.failed,
        loading: encryptionErrors.loading,
        late: encryptionErrors.late,
      },
    );
  }

  /**
   * Loads the module before anything is stored.
   * @throws {ConfigError} when it can't be used
   */
  async load(): Promise<void> {
    await this.module?.ready();
  }

  async onModuleDestroy(): Promise<void> {
    await this.module?.close();
  }

  async seal(operations: SealOperation[]): Promise<unknown[]> {
    if (operations.length === 0) return [];
    return this.refusing(async () => sealValues(operations, await this.context(), (calls) => this.transform(calls)));
  }

  open(values: unknown[]): Promise<unknown[]> {
    return this.refusing(() => openValues(values, (calls) => this.transform(calls)));
  }

  /** The context of the run or cron that is in flight; that of the request else, derived once. */
  context(): Promise<EncryptionContext> {
    const given = givenEncryptionContext();
    if (given) return Promise.resolve(given);
    const scope = currentScope();
    if (!scope) return Promise.resolve({});
    const known = this.contexts.get(scope) ?? this.contextOf(scope);
    this.contexts.set(scope, known);
    return known;
  }

  private async contextOf({ tenantId, user, encryptionContext }: RequestScope): Promise<EncryptionContext> {
    const context = parseContext(encryptionContext);
    if (tenantId === undefined || !(await this.module!.ready()).hasContext) return context;
    // Without a custom auth it is the tenant who asks.
    const asks = user ?? { identity: tenantId, display_name: tenantId, is_authenticated: true, permissions: [] };
    const derived = await this.module!.ask({ type: 'context', user: asks, context });
    if (isJsonObject(derived)) return derived;
    this.logger.error('The context handler of encryption.path returned no dict');
    throw encryptionErrors.failed();
  }

  private transform(calls: HandlerCall[]): Promise<unknown[]> {
    return this.module!.ask({ type: 'transform', calls }) as Promise<unknown[]>;
  }

  private async refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof EncryptionRefused) throw encryptionErrors.refused(error.message);
      throw error;
    }
  }
}

/** @throws {ApiError} 422 for a header that is no base64 of a JSON object, or of one that is too deep */
function parseContext(header: string | undefined): EncryptionContext {
  if (!header) return {};
  let context: unknown;
  try {
    context = parseJson(Buffer.from(header, 'base64').toString());
  } catch {
    throw encryptionErrors.malformedContext();
  }
  if (!isJsonObject(context)) throw encryptionErrors.malformedContext();
  return context;
}
