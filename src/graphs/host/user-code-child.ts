import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import { MessageChannel } from './message-channel';
import type { Confinement } from './user-code-process';
import type { UserCodeProgram } from './user-code-program';

const logger = new Logger('UserCode');

/** A process for users' code other than graphs, and the messages with it. */
export class UserCodeChild<ToChild> {
  /** Resolves to how it ended, as part of a sentence. */
  readonly ended: Promise<string>;
  readonly terminate: () => Promise<void>;
  private readonly messages: MessageChannel;

  /**
   * @param data the first message
   * @param onMessage called with each message. What it throws ends the process: user code can write messages of its own making.
   */
  constructor(
    program: UserCodeProgram,
    data: unknown,
    confinement: Confinement,
    onMessage: (message: unknown) => void,
  ) {
    const { child, messages } = program.start(confinement);
    const onCorrupt = (error: Error): void =>
      logger.error({ err: error, pid: child.pid }, 'User code wrote to the channel of its process, which is ended');
    this.messages = new MessageChannel(messages, onMessage, onCorrupt, { awaitsReader: true, codec: program.codec });
    this.messages.send(data);
    // A process that can't be spoken to is of no use.
    messages.once('close', () => child.kill('SIGKILL'));
    this.ended = once(child, 'exit').then(
      ([code, signal]: (number | string | null)[]) => `ended with ${signal ?? `code ${code}`}`,
      (error: Error) => `could not be started: ${error.message}`,
    );
    // Errors after that are those of signals which it didn't get.
    child.on('error', () => undefined);
    this.terminate = async () => {
      child.kill('SIGKILL');
      await this.ended;
    };
  }

  send(message: ToChild): void {
    this.messages.send(message);
  }
}
