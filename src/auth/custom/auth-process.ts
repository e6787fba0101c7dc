/**
 * The entry point of the auth process: the user's auth module runs here, beside the event loop that serves requests, so
 * that a slow hash or an endless loop in it delays only the requests that wait for its answer, and without the api's memory.
 */
import { keepCompiledCode } from '../../config/compiled-code';
import { returnUnusedMemory } from '../../config/unused-memory';
import { connectToParent, type ParentChannel } from '../../graphs/host/parent-channel';
import { registerSdkLogger } from '../../graphs/host/sdk-logger';
import { importExport } from '../../graphs/host/user-module';
import { AuthModuleHandlers, toFailure } from './auth-module';
import type { UserModuleSource } from '../../graphs/host/user-module-process';
import type { FromAuthProcess, ToAuthProcess } from './protocol';

async function answer(handlers: AuthModuleHandlers, message: ToAuthProcess): Promise<unknown> {
  switch (message.type) {
    case 'authenticate':
      return handlers.authenticate(message.request);
    case 'authorize':
      return handlers.authorize(message.question);
    case 'ping':
      return undefined;
  }
}

type Channel = ParentChannel<ToAuthProcess, FromAuthProcess>;

async function main(data: UserModuleSource, { send, onMessage }: Channel): Promise<void> {
  registerSdkLogger(send);
  const handlers = new AuthModuleHandlers(await importExport(data));
  onMessage((message) => {
    const { id } = message;
    answer(handlers, message).then(
      (result) => send({ type: 'done', id, result }),
      (error: unknown) => send({ type: 'failed', id, failure: toFailure(error) }),
    );
  });
  const { uncovered, generallyCoveredStore } = handlers;
  send({ type: 'ready', module: { uncovered, generallyCoveredStore } });
  keepCompiledCode();
  returnUnusedMemory();
}

void connectToParent<UserModuleSource, ToAuthProcess, FromAuthProcess>().then(([data, channel]) =>
  main(data, channel).catch((error: unknown) => {
    channel.send({
      type: 'unusable',
      message: `${data.file}:${data.exportName} ${error instanceof Error ? error.message : String(error)}`,
    });
  }),
);
