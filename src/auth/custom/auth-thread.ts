/**
 * The entry point of the auth thread: the user's auth module runs here, beside the event loop that serves requests, so
 * that a slow hash or an endless loop in it delays only the requests that wait for its answer.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { registerSdkLogger } from '../../graphs/host/sdk-logger';
import { importExport } from '../../graphs/host/user-module';
import { AuthModuleHandlers, toFailure } from './auth-module';
import type { AuthThreadData, FromAuthThread, ToAuthThread } from './protocol';

const port = parentPort!;

function send(message: FromAuthThread): void {
  port.postMessage(message);
}

async function answer(handlers: AuthModuleHandlers, message: ToAuthThread): Promise<unknown> {
  switch (message.type) {
    case 'authenticate':
      return handlers.authenticate(message.request);
    case 'authorize':
      return handlers.authorize(message.question);
    case 'ping':
      return undefined;
  }
}

async function main(): Promise<void> {
  registerSdkLogger(send);
  const handlers = new AuthModuleHandlers(await importExport(workerData as AuthThreadData));
  port.on('message', (message: ToAuthThread) => {
    const { id } = message;
    answer(handlers, message).then(
      (result) => send({ type: 'done', id, result }),
      (error: unknown) => send({ type: 'failed', id, failure: toFailure(error) }),
    );
  });
  const { uncovered, generallyCoveredStore } = handlers;
  send({ type: 'ready', uncovered, generallyCoveredStore });
}

main().catch((error: unknown) => {
  send({ type: 'unusable', message: error instanceof Error ? error.message : String(error) });
});
