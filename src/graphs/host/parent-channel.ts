import { Worker } from 'node:worker_threads';

/** Descriptor whose other end the parent holds for as long as it lives. */
const LIFELINE = 4;

/** A thread of its own, since user code may keep the event loop of the process to itself. */
const WATCH_PARENT = `
  const { Socket } = require('node:net');
  new Socket({ fd: ${LIFELINE} }).on('error', () => undefined).on('close', () => process.kill(process.pid, 'SIGKILL')).resume();`;

export interface ParentChannel<ToChild, FromChild> {
  send: (message: FromChild) => void;
  onMessage: (listener: (message: ToChild) => void) => void;
}

/**
 * Connects a process for user code with its parent, and resolves with the first message, which says what to do.
 * User code finds no `process.send`: what it said there would be taken for ours.
 */
export function connectToParent<Data, ToChild, FromChild>(): Promise<[Data, ParentChannel<ToChild, FromChild>]> {
  const post = process.send!.bind(process);
  delete process.send;
  // A signal to the whole group is the parent's business: it hands the runs back before it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  new Worker(WATCH_PARENT, { eval: true, env: {}, execArgv: [] }).unref();
  return new Promise((resolve) => {
    let listener: ((message: ToChild) => void) | undefined;
    process.on('message', (message: unknown) => {
      if (listener) return listener(message as ToChild);
      const channel: ParentChannel<ToChild, FromChild> = {
        // What can't be sent any more has no reader: the parent is gone, and this process goes next.
        send: (answer) => void post(answer, undefined, undefined, () => undefined),
        onMessage: (given) => {
          listener = given;
        },
      };
      resolve([message as Data, channel]);
    });
  });
}
