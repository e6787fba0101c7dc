import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { HostLost } from './graph-process.errors';
import { GraphProcess } from './graph-process-handle';
import type { GraphRuntime } from './graph-runtime';
import { JSON_TEXT, MessageChannel } from './message-channel';
import type { ExecuteRequest, FromProcess, ProcessData, ToProcess } from './protocol';
import type { StoreOperations } from './store-operations';
import type { Confinement } from './user-code-process';

const TENANT = '00000000-0000-0000-0000-00000000000a';
/** More than an aborted run has to end. */
const GRACE_MS = 10_050;
/** More than a process has to send a pulse after that. */
const LAST_LOOK_MS = 2_050;

describe('a graph process', () => {
  const server = createServer();
  let ofProcess: Socket;
  let ofParent: Socket;
  let child: EventEmitter & { kill: jest.Mock };

  beforeEach(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ofProcess = connect((server.address() as AddressInfo).port, '127.0.0.1');
    [ofParent] = (await once(server, 'connection')) as [Socket];
    const end = (): boolean => child.emit('exit', null, 'SIGKILL');
    child = Object.assign(new EventEmitter(), { pid: 1, kill: jest.fn(end) });
  });

  afterEach(async () => {
    jest.useRealTimers();
    ofProcess.destroy();
    ofParent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** @param answer is called with each message to the process */
  async function start(
    answer: (message: ToProcess, send: (message: FromProcess) => void) => void,
    store: Partial<StoreOperations> = {},
  ): Promise<{ handle: GraphProcess; send: (message: FromProcess) => void }> {
    const runtime = {
      codec: JSON_TEXT,
      start: () => ({ child: child as unknown as ChildProcess, messages: ofParent }),
    };
    const handle = new GraphProcess(
      {
        runtime: runtime as unknown as GraphRuntime,
        confinement: { env: {} } as Confinement,
        data: Promise.resolve({} as ProcessData),
        store: store as StoreOperations,
      },
      () => undefined,
    );
    const send = (message: FromProcess): void => channel.send(message);
    const take = (message: unknown): void => answer(message as ToProcess, send);
    const channel = new MessageChannel(ofProcess, take, () => undefined, { codec: JSON_TEXT });
    send({ type: 'ready', problems: {}, factories: [] });
    await handle.ready;
    return { handle, send };
  }

  function execute(handle: GraphProcess, signal: AbortSignal, handBack = new AbortController().signal) {
    const request = { runId: 'run', tenantId: TENANT } as ExecuteRequest;
    return handle.execute(request, { signal, handBack, onEvents: () => Promise.resolve(), onNode: () => undefined })
      .outcome;
  }

  it('that asks for items of the store gets an error where the answer can’t be written as a message', async () => {
    const answer = Promise.withResolvers<ToProcess>();
    // JSON has no such number, as it has no text of a gigabyte.
    const store = { perform: () => Promise.resolve([{ value: 1n }]) } as unknown as StoreOperations;
    const { handle, send } = await start(
      (message) => message.type === 'store-result' && answer.resolve(message),
      store,
    );
    // The call is open until the process ends with the test.
    handle.call('getState', { tenantId: TENANT } as never).catch(() => undefined);
    send({
      type: 'store',
      request: 7,
      tenantId: TENANT,
      operation: { name: 'search', prefix: [], limit: 1, offset: 0 },
    } as FromProcess);
    expect(await answer.promise).toEqual({
      type: 'store-result',
      request: 7,
      error: expect.stringMatching(/^The answer can't be sent: TypeError/) as string,
    });
  });

  it('that has ended fails the work that it still gets, as it failed what it had', async () => {
    const { handle } = await start(() => undefined);
    child.emit('exit', 1, null);
    await handle.ended;
    await expect(execute(handle, new AbortController().signal)).rejects.toThrow(HostLost);
    expect(await execute(handle, AbortSignal.abort())).toEqual({ status: 'aborted', inDoubt: true });
    await expect(handle.call('getState', { tenantId: TENANT } as never)).rejects.toThrow(HostLost);
    expect(handle.load).toBe(0);
  });

  /** Begins so many runs, of which the first one is aborted; resolves once the process has read that. */
  async function abortFirst(count: number) {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const aborted = Promise.withResolvers<number>();
    let begun = 0;
    const all = Promise.withResolvers<void>();
    const { handle, send } = await start((message, reply) => {
      if (message.type === 'offer') reply({ type: 'accept', id: message.id });
      if (message.type === 'begin' && ++begun === count) all.resolve();
      if (message.type === 'abort') aborted.resolve(message.id);
    });
    const signals = Array.from({ length: count }, () => new AbortController());
    const outcomes = signals.map(({ signal }) => execute(handle, signal));
    await all.promise;
    signals[0].abort();
    return { handle, send, outcomes, id: await aborted.promise };
  }

  it('that is blocked is ended when an aborted run has not ended in time; only its other runs are lost', async () => {
    const { outcomes } = await abortFirst(2);
    const lost = expect(outcomes[1]).rejects.toThrow(HostLost);
    expect(child.kill).not.toHaveBeenCalled();
    jest.advanceTimersByTime(GRACE_MS + LAST_LOOK_MS);
    expect(child.kill).toHaveBeenCalledWith('SIGKILL');
    expect(await outcomes[0]).toEqual({ status: 'aborted', inDoubt: true });
    await lost;
  });

  /** Sends a pulse; resolves once it has been read. */
  async function beat(handle: GraphProcess, send: (message: FromProcess) => void): Promise<void> {
    const heard = jest.spyOn(handle.memory, 'measured');
    send({ type: 'pulse', residentMb: 1, busyShare: 0 });
    while (heard.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    heard.mockRestore();
  }

  it('that was paused with this one is kept, since its pulses are read only after the time has passed', async () => {
    const { handle, send, outcomes } = await abortFirst(2);
    jest.advanceTimersByTime(GRACE_MS);
    await beat(handle, send);
    jest.advanceTimersByTime(LAST_LOOK_MS);
    expect(await outcomes[0]).toEqual({ status: 'aborted', inDoubt: true });
    expect(child.kill).not.toHaveBeenCalled();
    expect(handle.load).toBe(1);
  });

  it('that is idle seems to be stuck since its last pulse, whatever the clock is set to', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { handle, send } = await start(() => undefined);
    jest.setSystemTime(Date.now() + GRACE_MS);
    expect(handle.stuckSince).toBeUndefined();
    expect(handle.responsive).toBe(true);
    expect(handle.idleness).toBe(0);
    jest.advanceTimersByTime(GRACE_MS);
    const { stuckSince } = handle;
    expect(stuckSince).toBeDefined();
    jest.advanceTimersByTime(GRACE_MS);
    expect(handle.stuckSince).toBe(stuckSince);
    await beat(handle, send);
    expect(handle.stuckSince).toBeUndefined();
    jest.advanceTimersByTime(GRACE_MS);
    expect(handle.stuckSince).toBeGreaterThan(stuckSince!);
  });

  it('that answers is kept then, and what the run sends later is ignored', async () => {
    const { handle, send, outcomes, id } = await abortFirst(2);
    jest.advanceTimersByTime(GRACE_MS / 2);
    await beat(handle, send);
    jest.advanceTimersByTime(GRACE_MS / 2);
    expect(await outcomes[0]).toEqual({ status: 'aborted', inDoubt: true });
    expect(child.kill).not.toHaveBeenCalled();
    expect(handle.load).toBe(1);
    send({ type: 'events', id, events: [{ event: 'custom', data: '1' }] });
    send({ type: 'outcome', id, outcome: { status: 'success' } });
    send({ type: 'outcome', id: id + 1, outcome: { status: 'success' } });
    expect(await outcomes[1]).toEqual({ status: 'success' });
    expect(handle.load).toBe(0);
  });
});
