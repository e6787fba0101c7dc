import { Logger } from '@nestjs/common';
import { ConfigError } from '../../config/config-error';
import { atMost, LATE } from '../../time/at-most';
import { type UserLogLine, writeUserLog } from './user-log';
import { UserCodeChild } from './user-code-child';
import type { Confinement } from './user-code-process';
import type { UserCodeProgram } from './user-code-program';

/** How long a question waits for a module that is loaded again: it may import much. */
const LOADING_TIMEOUT_MS = 30_000;
/** Time limit of a question: the module may send requests itself to answer it. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A process that doesn't answer a ping for this long hangs in its own code. */
const PING_TIMEOUT_MS = 1_000;

/** The first message to the process: an export of a file in the project. */
export interface UserModuleSource {
  file: string;
  exportName: string;
}

/** Messages to the process after the first. */
export type ToUserModule<Question> = (Question | { type: 'ping' }) & { id: number };

/** Messages from the process. `Failure` describes an error that the module threw. */
export type FromUserModule<Ready, Failure> =
  | UserLogLine
  | { type: 'ready'; module: Ready }
  | { type: 'unusable'; message: string }
  | { type: 'done'; id: number; result: unknown }
  | { type: 'failed'; id: number; failure: Failure };

/** Properties of one kind of module, such as the custom auth. */
export interface UserModuleKind<Ready, Failure> {
  /** Name for log lines, such as `custom auth`. */
  name: string;
  /** Field of langgraph.json that names the module, for the error of one that can't be used. */
  setting: string;
  /** Where the lines go that the module logs. */
  log: Logger;
  /** Called each time the module has been loaded, with what it reports of itself. */
  onReady?: (module: Ready) => void;
  /** Error of a question that the module failed to answer. */
  failed: (failure: Failure) => Error;
  /** Error of the questions in flight when the process ends. */
  ended: () => Error;
  /** Error of a question that has waited 30 s for the module to be loaded. */
  loading: () => Error;
  /** Error of a question that was not answered within 10 s. */
  late: () => Error;
}

interface Running<Question, Ready> {
  child: UserCodeChild<ToUserModule<Question>>;
  ready: Promise<Ready>;
  inFlight: Map<number, PromiseWithResolvers<unknown>>;
}

/**
 * A module of the user's that answers questions, in a separate process. The process starts with the first question, and again
 * after it has ended. A module that blocks its process is loaded again; one that is merely slow is not.
 */
export class UserModuleProcess<Question extends { type: string }, Ready, Failure> {
  private readonly logger = new Logger(UserModuleProcess.name);
  private running: Running<Question, Ready> | undefined;
  private nextId = 1;
  private isClosed = false;

  constructor(
    private readonly program: UserCodeProgram,
    private readonly source: UserModuleSource,
    private readonly confinement: Confinement,
    private readonly kind: UserModuleKind<Ready, Failure>,
  ) {}

  /**
   * Resolves to what the module reports of itself, as soon as it is loaded.
   * @throws {ConfigError} when it can't be used
   */
  ready(): Promise<Ready> {
    return this.started().ready;
  }

  /** @throws the error of its kind when the module isn't loaded, fails or is late, or its process ends */
  async ask(question: Question): Promise<unknown> {
    const process = this.started();
    if ((await atMost(LOADING_TIMEOUT_MS, process.ready)) === LATE) throw this.kind.loading();
    const id = this.nextId;
    const answer = await atMost(ANSWER_TIMEOUT_MS, this.send(process, question));
    if (answer !== LATE) return answer;
    process.inFlight.delete(id);
    void this.endIfHanging(process);
    throw this.kind.late();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.running?.child.terminate();
  }

  private started(): Running<Question, Ready> {
    this.running ??= this.start();
    return this.running;
  }

  private send({ child, inFlight }: Running<Question, Ready>, message: Question | { type: 'ping' }): Promise<unknown> {
    const id = this.nextId++;
    const answer = Promise.withResolvers<unknown>();
    inFlight.set(id, answer);
    child.send({ ...message, id });
    return answer.promise;
  }

  private start(): Running<Question, Ready> {
    const { setting, name } = this.kind;
    const { file, exportName } = this.source;
    const ready = Promise.withResolvers<Ready>();
    const unusable = (why: string): void => ready.reject(new ConfigError([`${setting}: ${why}`]));
    const inFlight: Running<Question, Ready>['inFlight'] = new Map();
    const child = new UserCodeChild<ToUserModule<Question>>(this.program, this.source, this.confinement, (given) => {
      const message = given as FromUserModule<Ready, Failure>;
      if (message.type === 'log') return writeUserLog(this.kind.log, message);
      if (message.type === 'unusable') return unusable(message.message);
      if (message.type === 'ready') {
        this.kind.onReady?.(message.module);
        return ready.resolve(message.module);
      }
      const answer = inFlight.get(message.id);
      inFlight.delete(message.id);
      if (message.type === 'done') answer?.resolve(message.result);
      else answer?.reject(this.kind.failed(message.failure));
    });
    const process = { child, ready: ready.promise, inFlight };
    void child.ended.then((how) => {
      unusable(`${file}:${exportName} ${how} while it was loaded`);
      if (!this.isClosed) this.logger.error(`The process of the ${name} ${how}`);
      if (this.running === process) this.running = undefined;
      for (const { reject } of inFlight.values()) reject(this.kind.ended());
      inFlight.clear();
    });
    // The questions await it; until then a failure must not count as unhandled.
    ready.promise.catch(() => undefined);
    return process;
  }

  private async endIfHanging(process: Running<Question, Ready>): Promise<void> {
    const pong = this.send(process, { type: 'ping' }).catch(() => undefined);
    if ((await atMost(PING_TIMEOUT_MS, pong)) !== LATE) return;
    this.logger.error(`The ${this.kind.name} blocks its process: its module is loaded again`);
    await process.child.terminate();
  }
}
