import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { GraphProcess } from './graph-process-handle';
import type { GraphRuntime } from './graph-runtime';
import { JSON_TEXT, MessageChannel } from './message-channel';
import type { ProcessData } from './protocol';
import type { StoreOperations } from './store-operations';
import type { Confinement } from './user-code-process';

describe('a graph process that asks for items of the store', () => {
  const server = createServer();
  let ofProcess: Socket;
  let ofParent: Socket;

  beforeEach(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ofProcess = connect((server.address() as AddressInfo).port, '127.0.0.1');
    [ofParent] = (await once(server, 'connection')) as [Socket];
  });

  afterEach(async () => {
    ofProcess.destroy();
    ofParent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('gets an error where the answer can’t be written as a message', async () => {
    const child = Object.assign(new EventEmitter(), { pid: 1, kill: () => true }) as unknown as ChildProcess;
    const runtime = { codec: JSON_TEXT, start: () => ({ child, messages: ofParent }) } as unknown as GraphRuntime;
    // JSON has no such number, as it has no text of a gigabyte.
    const store = { perform: () => Promise.resolve([{ value: 1n }]) } as unknown as StoreOperations;
    const confinement = { env: {} } as Confinement;
    const handle = new GraphProcess(
      { runtime, confinement, data: Promise.resolve({} as ProcessData), store },
      () => undefined,
    );
    const answer = Promise.withResolvers<unknown>();
    const take = (message: unknown): void => {
      if ((message as { type: string }).type === 'store-result') answer.resolve(message);
    };
    const process = new MessageChannel(ofProcess, take, answer.reject, { codec: JSON_TEXT });
    process.send({ type: 'ready', problems: {}, factories: [] });
    await handle.ready;
    const tenantId = '00000000-0000-0000-0000-00000000000a';
    void handle.call('getState', { tenantId } as never);
    process.send({
      type: 'store',
      request: 7,
      tenantId,
      operation: { name: 'search', prefix: [], limit: 1, offset: 0 },
    });
    expect(await answer.promise).toEqual({
      type: 'store-result',
      request: 7,
      error: expect.stringMatching(/^The answer can't be sent: TypeError/) as string,
    });
  });
});
