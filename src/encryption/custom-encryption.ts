import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { ConfigError } from '../config/config-error';
import type { EncryptionSource } from '../config/langgraph-json';
import {
  type Cipher,
  type EncryptionContext,
  givenEncryptionContext,
  type SealOperation,
  useCipher,
} from '../database/at-rest';
import { isJsonObject } from '../database/json';
import { currentScope, type RequestScope } from '../database/request-scope';
import { UserCodeChild } from '../graphs/host/user-code-child';
import type { Confinement } from '../graphs/host/user-code-process';
import { pythonProgram } from '../graphs/host/user-code-program';
import { userCodeEnvironment } from '../graphs/user-code-environment';
import { parseJson } from '../http/json-limits';
import { encryptionErrors } from './encryption.errors';
import type { FromEncryptionProcess, ToEncryptionProcess } from './protocol';
import { EncryptionRefused, openValues, sealValues } from './sealed-values';

const PROGRAM = 'gantry_graphs.encryption_process';
/** Time limit of a call of the module, which may send requests of its own to a service that has the keys. */
const CALL_TIMEOUT_MS = 10_000;

interface Call {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

interface EncryptionProcess {
  child: UserCodeChild<ToEncryptionProcess>;
  /** Whether the module derives the context from the user. */
  ready: Promise<boolean>;
  calls: Map<number, Call>;
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/**
 * The encryption that langgraph.json names, in a process of its own with the environment of user code: the keys that its
 * handlers use are in no graph process, and in neither the api nor the worker.
 */
@Injectable()
export class CustomEncryption implements Cipher, OnModuleDestroy {
  private readonly logger = new Logger(CustomEncryption.name);
  private readonly source: EncryptionSource | undefined;
  private readonly confinement: Confinement;
  private readonly interpreter: string;
  private readonly contexts = new WeakMap<RequestScope, Promise<EncryptionContext>>();
  private process: EncryptionProcess | undefined;
  private nextId = 1;
  private isClosed = false;

  constructor(config: AppConfig) {
    const { encryption, env } = config.langgraphJson;
    this.source = encryption;
    this.interpreter = config.graphs.python;
    this.confinement = { env: encryption ? userCodeEnvironment(config, env) : {}, ...config.graphs.user };
    useCipher(encryption && this);
  }

  /**
   * Loads the module before anything is stored.
   * @throws {ConfigError} when it can't be used
   */
  async load(): Promise<void> {
    if (this.source) await this.running().ready;
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    await this.process?.child.terminate();
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
    if (tenantId === undefined || !(await this.running().ready)) return context;
    // Without a custom auth it is the tenant who asks.
    const asks = user ?? { identity: tenantId, display_name: tenantId, is_authenticated: true, permissions: [] };
    const derived = await this.call({ type: 'context', user: asks, context });
    if (isJsonObject(derived)) return derived;
    this.logger.error('The context handler of encryption.path returned no dict');
    throw encryptionErrors.failed();
  }

  private transform(calls: Extract<ToEncryptionProcess, { type: 'transform' }>['calls']): Promise<unknown[]> {
    return this.call({ type: 'transform', calls }) as Promise<unknown[]>;
  }

  private async refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof EncryptionRefused) throw encryptionErrors.refused(error.message);
      throw error;
    }
  }

  private async call(message: DistributiveOmit<ToEncryptionProcess, 'id'>): Promise<unknown> {
    const process = this.running();
    await process.ready;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.logger.error('The custom encryption did not answer in time: its module is loaded again');
        void process.child.terminate();
        reject(encryptionErrors.late());
      }, CALL_TIMEOUT_MS);
    });
    const id = this.nextId++;
    const answer = new Promise<unknown>((resolve, reject) => {
      process.calls.set(id, { resolve, reject });
      process.child.send({ ...message, id });
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The process, started again when it has ended. */
  private running(): EncryptionProcess {
    this.process ??= this.start(this.source!);
    return this.process;
  }

  private start({ file, exportName }: EncryptionSource): EncryptionProcess {
    const calls = new Map<number, Call>();
    let child!: UserCodeChild<ToEncryptionProcess>;
    const ready = new Promise<boolean>((resolve, reject) => {
      const unusable = (why: string): void => reject(new ConfigError([`encryption.path: ${why}`]));
      const receive = (message: FromEncryptionProcess): void => {
        if (message.type === 'unusable') return unusable(message.message);
        if (message.type === 'ready') return resolve(message.hasContext);
        const call = calls.get(message.id);
        calls.delete(message.id);
        if (message.type === 'done') return call?.resolve(message.result);
        this.logger.error({ error: message.message }, 'The custom encryption failed');
        call?.reject(encryptionErrors.failed());
      };
      child = new UserCodeChild(
        pythonProgram(this.interpreter, PROGRAM),
        { file, exportName },
        this.confinement,
        (message) => receive(message as FromEncryptionProcess),
      );
      void child.ended.then((how) => unusable(`${file}:${exportName} ${how} while it was loaded`));
    });
    const process = { child, ready, calls };
    void child.ended.then((how) => {
      if (!this.isClosed) this.logger.error(`The process of the custom encryption ${how}`);
      if (this.process === process) this.process = undefined;
      for (const { reject } of calls.values()) reject(encryptionErrors.failed());
      calls.clear();
    });
    // Its users await it; until then a failure must not count as unhandled.
    ready.catch(() => undefined);
    return process;
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
