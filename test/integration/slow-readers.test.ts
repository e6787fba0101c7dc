import { EventEmitter } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Client } from '@langchain/langgraph-sdk';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { OpenStreams } from '../../src/http/open-streams';
import { EventLogRepository } from '../../src/streams/event-log.repository';
import { EventReader } from '../../src/streams/event-reader';
import { RUN_EVENTS_CHANNEL } from '../../src/streams/run-event';
import { startTestApi, type TestApi } from '../support/api';
import { type Gantry, startGantry, TEST_GRAPHS } from '../support/gantry';
import { SseReader } from '../support/sse';
import { socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

/** Together 30 MB: far more than the system buffers for a connection, which is 10 MB at the most. */
const EVENTS = 300;
const EVENT_BYTES = 100_000;
const SLOW_READERS = 3;
const ALL = Array.from({ length: EVENTS }, (_, index) => index);

interface Reader {
  /** Reads to the last event; resolves to the numbers that the graph gave them, as they came. */
  rest(): Promise<number[]>;
  /** Sends a message that expects an answer, where the transport can. */
  speak(): void;
  /** Closes the connection without a closing handshake. */
  leave(): Promise<void>;
}

/** A thread, and a run on it that begins at the first call of `start`, which resolves to its id. */
interface Flood {
  thread: string;
  start(): Promise<string>;
}

/** Opens a stream that is not read before `rest`. Those of a thread are open before its run starts: they have no past. */
type Open = (url: string, flood: Flood) => Promise<Reader>;

const numberIn = (event: unknown): number[] => {
  const [, index, text] = /"index":(\d+),"text":"(x+)"/.exec(JSON.stringify(event)) ?? [];
  if (index === undefined) return [];
  expect(text).toHaveLength(EVENT_BYTES);
  return [Number(index)];
};

async function sseReader(opened: Promise<SseReader>): Promise<Reader> {
  const stream = await opened;
  expect(stream.response.status).toBe(200);
  return {
    rest: async () => {
      const numbers: number[] = [];
      for await (const { data } of stream) {
        numbers.push(...numberIn(data));
        if (numbers.length === EVENTS) break;
      }
      return numbers;
    },
    speak: () => undefined,
    leave: () => stream.close(),
  };
}

async function socketReader(url: string): Promise<Reader> {
  const stream = await ThreadSocket.open(url);
  await stream.subscribe({ channels: ['custom'] });
  const { received, socket } = stream;
  socket.pause();
  return {
    rest: async () => {
      socket.resume();
      const numbers: number[] = [];
      // Messages are dropped, since the memory of this process is measured.
      return waitFor('the last event', () => {
        numbers.push(...received.splice(0).flatMap(numberIn));
        return numbers.at(-1) === EVENTS - 1 && numbers;
      });
    },
    speak: () => socket.send('{"id":9,"method":"state.get"}'),
    leave: () => Promise.resolve(socket.terminate()),
  };
}

const KINDS: [string, Open][] = [
  [
    "a run's stream",
    async (url, { thread, start }) => sseReader(SseReader.get(`${url}/threads/${thread}/runs/${await start()}/stream`)),
  ],
  ["a thread's stream", (url, { thread }) => sseReader(SseReader.get(`${url}/threads/${thread}/stream`))],
  [
    'the event protocol',
    (url, { thread }) => sseReader(SseReader.post(`${url}/threads/${thread}/stream/events`, { channels: ['custom'] })),
  ],
  ['a WebSocket', (url, { thread }) => socketReader(socketUrl(url, thread))],
];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory of this process, which includes the server's and the clients'. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** One replica of the deployment is in this process, where it can be looked into; runs are executed by another. */
describe('slow readers', () => {
  let gantry: Gantry;
  let api: TestApi;
  let client: Client;
  /** Clients that may still be connected. */
  const readers: Reader[] = [];
  const connections = new Set<Socket>();
  const responses = new Set<ServerResponse>();

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1 });
    client = gantry.client();
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS }, gantry.database);
    const server = api.app.getHttpServer() as Server;
    server.on('connection', (socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    });
    server.on('request', (_request, response) => responses.add(response));
  });

  afterAll(async () => {
    await api?.close();
    await gantry?.stop();
  });

  // Also after a failed test: the next one counts the open connections.
  afterEach(() => leaveAll());

  async function leaveAll(): Promise<void> {
    await Promise.all(readers.splice(0).map((reader) => reader.leave()));
  }

  async function openAll(open: Open, flood: Flood, count: number): Promise<Reader[]> {
    const opened = await Promise.all(Array.from({ length: count }, () => open(api.url, flood)));
    readers.push(...opened);
    return opened;
  }

  const waitedFor = (): number => [...connections].filter(({ writableNeedDrain }) => writableNeedDrain).length;
  /** Maximum number of listeners on an answer. */
  const listeners = (): number =>
    Math.max(
      0,
      ...[...responses].flatMap((response) => ['close', 'drain', 'error'].map((name) => response.listenerCount(name))),
    );
  const openStreams = (): OpenStreams =>
    (api.app.getHttpAdapter().getInstance() as unknown as { openStreams: OpenStreams }).openStreams;
  const streams = (): number => openStreams().count('events');
  /** Readers of the logs of runs and threads. */
  const logReaders = (): number => {
    const reader = api.app.get(EventReader, { strict: false }) as unknown as Record<
      'readers' | 'watchers',
      Set<unknown>
    >;
    return reader.readers.size + reader.watchers.size;
  };

  async function prepareFlood(): Promise<Flood> {
    const { thread_id: thread } = await client.threads.create();
    let run: Promise<{ run_id: string }> | undefined;
    const start = async (): Promise<string> => {
      run ??= client.runs.create(thread, 'custom', {
        input: { count: EVENTS, bytes: EVENT_BYTES },
        streamMode: 'custom',
      });
      return (await run).run_id;
    };
    return { thread, start };
  }

  it.each(KINDS)(
    'delay no other client, use no memory, and leave nothing once they disconnect: %s',
    async (_kind, open) => {
      responses.clear();
      const flood = await prepareFlood();
      const before = heldBytes();
      const [fast, first, ...others] = await openAll(open, flood, 1 + SLOW_READERS);
      await flood.start();
      expect(await fast.rest()).toEqual(ALL);

      await waitFor('the server to wait for the slow ones', () => waitedFor() === SLOW_READERS);
      // Buffers that are in use no more are counted until they have been swept, which takes longer on a busy machine.
      await waitFor('no more memory than for a few pages', () => {
        return heldBytes() - before < (SLOW_READERS * EVENTS * EVENT_BYTES) / 2;
      });

      for (const reader of [first, ...others]) reader.speak();
      expect(await first.rest()).toEqual(ALL);
      expect(waitedFor()).toBe(others.length);
      // Waiting many times leaves no listeners.
      expect(listeners()).toBeLessThan(EventEmitter.defaultMaxListeners);
      await leaveAll();
      await waitFor('all streams to close', () => streams() === 0 && logReaders() === 0);
    },
  );

  it.each([KINDS[1], KINDS[3]])(
    'are disconnected although they read nothing, and the log is not read for them any more: %s',
    async (_kind, open) => {
      const flood = await prepareFlood();
      const slow = await openAll(open, flood, 2);
      await flood.start();
      await waitFor('the server to wait for them', () => waitedFor() === slow.length);
      openStreams().breakOff('events');
      await waitFor('all reading of the log to end', () => logReaders() === 0);
      await waitFor('all streams to close', () => streams() === 0);
    },
  );

  it('get every page of a log that grew without a notification before its run ended', async () => {
    const runId = uuidv7();
    const events = 601; // more than three pages
    // The events come between the look that finds none and the answer that the run is over.
    const isOver = async (): Promise<boolean> => {
      await api.app.get<DataSource>(getDataSourceToken()).query(
        `INSERT INTO run_events (run_id, tenant_id, event, data, seq)
           SELECT $1, $2, 'custom', '{}', generate_series(0, $3::int)`,
        [runId, api.config.auth.defaultTenantId, events - 1],
      );
      return true;
    };
    const numbers: number[] = [];
    const reader = api.app.get(EventReader, { strict: false });
    for await (const page of reader.followRun({ runId, isOver }, -1, AbortSignal.timeout(30_000)))
      numbers.push(...page.map(({ seq }) => seq));
    expect(numbers).toEqual(Array.from({ length: events }, (_, seq) => seq));
    expect(logReaders()).toBe(0);
  });

  it('query the log once for each notification', async () => {
    const runId = uuidv7();
    const events = 40;
    const reads = jest.spyOn(api.app.get(EventLogRepository, { strict: false }), 'readMany');
    const write = (seq: number): Promise<unknown> =>
      api.app.get<DataSource>(getDataSourceToken()).query(
        `WITH written AS (
           INSERT INTO run_events (run_id, tenant_id, event, data, seq) VALUES ($1, $2, 'custom', '{}', $3)
         )
         SELECT pg_notify('${RUN_EVENTS_CHANNEL}', $1::uuid::text)`,
        [runId, api.config.auth.defaultTenantId, seq],
      );
    const reader = api.app.get(EventReader, { strict: false });
    const left = new AbortController();
    let next = 0;
    await write(next);
    for await (const page of reader.followRun({ runId, isOver: () => Promise.resolve(false) }, -1, left.signal)) {
      expect(page.map(({ seq }) => seq)).toEqual([next]);
      next += 1;
      if (next === events) break;
      // After the reader has begun to wait: a notification during its query means another one.
      setImmediate(() => void write(next));
    }
    // On a busy machine, it may query without a notification.
    expect(reads.mock.calls.length).toBeLessThan(1.5 * events);
    expect(logReaders()).toBe(0);
    reads.mockRestore();
  });
});
