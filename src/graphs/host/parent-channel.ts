import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { MessageChannel } from './message-channel';

/** Descriptor of the messages with the parent. */
export const MESSAGES = 3;
/** Descriptor whose other end the parent holds for as long as it lives. */
export const LIFELINE = 4;

/**
 * Runs in its own thread, since user code may block the event loop of the process. A parent that was killed can't end the
 * group of the process (user-code-process.ts). Where it leads none, no group has its id.
 */
const WATCH_PARENT = `
  const { Socket } = require('node:net');
  new Socket({ fd: ${LIFELINE} })
    .on('error', () => undefined)
    .on('close', () => {
      try { process.kill(-process.pid, 'SIGKILL'); } catch {}
      process.kill(process.pid, 'SIGKILL');
    })
    .resume();`;

export interface ParentChannel<ToChild, FromChild> {
  /**
   * @param limit bytes that the parent reads in one message
   * @throws {MessageTooLarge}
   */
  send: (message: FromChild, limit?: number) => void;
  /** Writes everything that `work` sends to the parent at once. */
  together: (work: () => void) => void;
  onMessage: (listener: (message: ToChild) => void) => void;
}

/** Connects a process for user code with its parent, and resolves to the first message, which has its task. */
export function connectToParent<Data, ToChild, FromChild>(): Promise<[Data, ParentChannel<ToChild, FromChild>]> {
  // The parent handles signals to the whole group: it hands the runs back before it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  new Worker(WATCH_PARENT, { eval: true, env: {}, execArgv: [] }).unref();
  const socket = new Socket({ fd: MESSAGES, readable: true, writable: true });
  socket.once('close', () => {
    // It may be closed before the lifeline is.
    process.once('exit', endGroup);
    process.exit();
  });
  return new Promise((resolve) => {
    let listener: ((message: ToChild) => void) | undefined;
    const take = (message: unknown): void => {
      if (listener) return listener(message as ToChild);
      resolve([
        message as Data,
        {
          send: (answer, limit) => messages.send(answer, limit),
          together: (work) => messages.together(work),
          onMessage: (given) => {
            listener = given;
          },
        },
      ]);
    };
    const messages = new MessageChannel(socket, take, () => process.exit(1));
  });
}

/** Ends the programs that user code has started, and this process with them, where they are a group. */
function endGroup(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // It leads no group.
  }
}
