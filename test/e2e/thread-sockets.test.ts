import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Client } from '@langchain/langgraph-sdk';
import { StreamController } from '@langchain/langgraph-sdk/stream';
import WebSocket from 'ws';
import { Gantry, startGantry } from '../support/gantry';
import { type SocketEvent, socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const ALL = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];
const SENTENCE = 'one two three four five six seven eight nine ten';
const human = (content: string) => ({ messages: [{ type: 'human', content }] });

const isEnd = ({ method, params }: SocketEvent): boolean =>
  method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running';

const nodesOf = (events: SocketEvent[]): unknown[] =>
  events.filter(({ method }) => method === 'updates').map(({ params }) => params.node);

/** Without the times at which events were emitted. */
const timeless = (events: SocketEvent[]): unknown[] =>
  events.map((event) => ({ ...event, params: { ...event.params, timestamp: 0 } }));

/** The event protocol on a WebSocket. */
describe('the WebSocket of a thread', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const open = (thread: string, url = gantry.url): Promise<ThreadSocket> => ThreadSocket.open(socketUrl(url, thread));
  const start = (socket: ThreadSocket, assistant: string, input: unknown): Promise<unknown> =>
    socket.command('run.start', { assistant_id: assistant, input });

  async function untilEnd(thread: string, params: object = {}): Promise<SocketEvent[]> {
    const socket = await open(thread);
    await socket.subscribe({ channels: ALL, ...params });
    const events = await socket.until(isEnd);
    await socket.close();
    return events;
  }

  describe('on the wire', () => {
    it('emits the same events under the same numbers as server-sent events, after the reply', async () => {
      const thread = await createThread();
      const socket = await open(thread);
      await start(socket, 'nested', { text: 'hello' });
      await socket.subscribe({ channels: ALL });
      const events = await socket.until(isEnd);
      await socket.close();
      expect(socket.received.map(({ type }) => type)).toEqual(['success', 'success', ...events.map(() => 'event')]);
      const stream = await fetch(`${gantry.url}/threads/${thread}/stream/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ channels: ALL }),
      });
      const emitted: SocketEvent[] = [];
      let text = '';
      for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const frames = text.split('\n\n');
        text = frames.pop()!;
        for (const frame of frames) emitted.push(JSON.parse(/^data: (.*)$/m.exec(frame)![1]) as SocketEvent);
        if (emitted.some(isEnd)) break;
      }
      expect(timeless(events)).toEqual(timeless(emitted));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => events[0].seq + index));
    });

    it('accepts subscriptions before its thread exists: nothing is missing, and a later one learns how many events follow', async () => {
      const thread = randomUUID();
      const socket = await open(thread);
      const early = await socket.command('subscription.subscribe', { channels: ['updates', 'lifecycle'] });
      expect(early.result).toMatchObject({ replayed_events: 0 });
      await client.runs.create(thread, 'three', { input: {}, streamMode: 'updates', ifNotExists: 'create' });
      const events = await socket.until(isEnd);
      expect(nodesOf(events)).toEqual(NODES.slice(0, 3));
      for (const [params, count] of [
        [{ channels: ['updates', 'lifecycle'] }, events.length],
        [{ channels: ['updates'] }, 3],
        [{ channels: ['updates', 'lifecycle'], since: events.at(-2)!.seq }, 1],
      ] as const) {
        const again = await open(thread);
        const { result } = await again.command('subscription.subscribe', params);
        expect([params, result?.replayed_events]).toEqual([params, count]);
        await waitFor('as many events', () => again.events.length === count);
        await again.close();
      }
      await socket.close();
    });

    it('gives each subscription the requested events, each once and in order, and stops on request', async () => {
      const thread = await createThread();
      const socket = await open(thread);
      await start(socket, 'three', {});
      const values = await socket.subscribe({ channels: ['values', 'lifecycle'] });
      await socket.until(isEnd);
      expect(new Set(socket.events.map(({ method }) => method))).toEqual(new Set(['values', 'lifecycle']));
      // The second one has missed the run, and gets its part of it; the first one gets nothing again.
      const seen = socket.events.length;
      const updates = await socket.subscribe({ channels: ['updates'] });
      await socket.until(() => nodesOf(socket.events).length === 3);
      const late = socket.events.slice(seen);
      expect([late.map(({ method }) => method), nodesOf(late)]).toEqual([
        ['updates', 'updates', 'updates'],
        NODES.slice(0, 3),
      ]);

      const before = socket.events.length;
      await start(socket, 'three', {});
      const end = socket.events.find(isEnd)!.seq;
      await socket.until((event) => isEnd(event) && event.seq > end);
      const both = socket.events.slice(before);
      expect(nodesOf(both)).toEqual(NODES.slice(0, 3));
      const numbers = both.map(({ seq }) => seq);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));

      expect(await socket.command('subscription.unsubscribe', { subscription_id: values })).toMatchObject({
        type: 'success',
      });
      const silent = socket.events.length;
      await start(socket, 'three', {});
      await socket.until(() => nodesOf(socket.events.slice(silent)).length === 3);
      await socket.command('subscription.unsubscribe', { subscription_id: updates });
      expect(socket.events.slice(silent).map(({ method }) => method)).toEqual(['updates', 'updates', 'updates']);
      const after = socket.received.length;
      await start(socket, 'three', {});
      await untilEnd(thread, { since: socket.events.at(-1)!.seq + 10 });
      expect(socket.received.slice(after).map(({ type }) => type)).toEqual(['success']);
      await socket.close();
    });

    it('resumes after an event number on every replica, over several runs: nothing is missing or repeated', async () => {
      const replica = await gantry.startReplica();
      const thread = await createThread();
      const socket = await open(thread);
      await start(socket, 'three', {});
      const first = await untilEnd(thread);
      await start(socket, 'nested', { text: 'x' });
      const whole = [...first, ...(await untilEnd(thread, { since: first.at(-1)!.seq }))];
      await socket.close();
      for (const index of [0, first.length - 1, first.length, whole.length - 2]) {
        const again = await open(thread, index % 2 ? replica : gantry.url);
        await again.subscribe({ channels: ALL, since: whole[index].seq });
        const events = await again.until(({ seq }) => seq === whole.at(-1)!.seq);
        expect(timeless(events)).toEqual(timeless(whole.slice(index + 1)));
        await again.close();
      }
    });

    it('closes with the code for going away when the api is asked to stop', async () => {
      const socket = await open(await createThread());
      const closed = once(socket.socket, 'close');
      const ended = gantry.killApi('SIGTERM');
      expect((await closed)[0]).toBe(1001);
      await ended;
      await gantry.startApi();
    });
  });

  describe('the JavaScript client', () => {
    const sockets: WebSocket[] = [];
    /** Keeps each, so that their ends can be seen. */
    const webSocketFactory = (url: string): never => {
      const socket = new WebSocket(url);
      sockets.push(socket);
      return socket as never;
    };
    const options = { transport: 'websocket', webSocketFactory } as const;

    it('subscribes to one channel and another, and unsubscribes', async () => {
      const id = await createThread();
      const thread = client.threads.stream(id, { assistantId: 'custom', ...options });
      const custom = await thread.subscribe({ channels: ['custom'] });
      const updates = await thread.subscribe({ channels: ['updates'] });
      await thread.run.start({ input: { count: 2 } });
      const emitted: unknown[] = [];
      for await (const event of custom) emitted.push((event as SocketEvent).params.data.payload);
      expect(emitted).toEqual([0, 1].map((index) => ({ index, text: 'a\nb\u2028c ✓' })));
      await custom.unsubscribe();
      const nodes: unknown[] = [];
      for await (const event of updates) nodes.push((event as SocketEvent).params.node);
      expect(nodes.length).toBeGreaterThan(0);
      await updates.unsubscribe();
      await thread.close();
    });

    it('reconnects when the api was killed: each node is emitted once', async () => {
      const id = await createThread();
      const reconnects: number[] = [];
      const thread = client.threads.stream(id, {
        assistantId: 'ten',
        ...options,
        maxReconnectAttempts: 200,
        reconnectDelayMs: () => 100,
        onReconnect: ({ attempt }) => reconnects.push(attempt),
      });
      const updates = await thread.subscribe({ channels: ['updates'] });
      const { run_id } = (await thread.run.start({ input: { step_ms: 500 } })) as { run_id: string };
      const reading = (async () => {
        const nodes: unknown[] = [];
        for await (const event of updates) nodes.push((event as SocketEvent).params.node);
        return nodes;
      })();
      await waitFor('three nodes', async () => (await gantry.ledger.of(run_id)).length >= 3);
      await gantry.killApi('SIGKILL');
      await gantry.startApi();
      expect(await reading).toEqual(NODES);
      expect(reconnects.length).toBeGreaterThan(0);
      await thread.close();
    });

    it('shows a conversation as it grows in the controller of useStream', async () => {
      const controller = new StreamController<{ messages: { type: string; content: string }[] }>({
        assistantId: 'talk',
        client: client as never,
        threadId: null,
        ...options,
      });
      const release = controller.activate();
      await controller.hydrate(null);
      const texts = (): string[] => controller.rootStore.getSnapshot().messages.map(({ text }) => text);
      for (const count of [1, 2]) {
        await controller.submit(human(`number ${count}`));
        await waitFor('the answer', () => texts().length === count * 2 && texts().at(-1) === SENTENCE);
      }
      expect(texts()).toEqual(['number 1', SENTENCE, 'number 2', SENTENCE]);
      release();
      await controller.dispose();
    });

    it('leaves no socket open', async () => {
      await waitFor('the sockets to close', () => sockets.every(({ readyState }) => readyState === WebSocket.CLOSED));
      expect(sockets.length).toBeGreaterThan(4);
    });
  });
});
