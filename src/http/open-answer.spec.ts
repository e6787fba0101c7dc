import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { waitFor } from '../../test/support/wait-for';
import { ErrorFilter } from './error.filter';
import { OpenAnswer } from './open-answer';
import { OpenStreams } from './open-streams';
import { HEARTBEAT_MS, sendEvents } from './streaming';

const CHUNK = 'x'.repeat(100_000);
/** Together far more than the system buffers for a connection. */
const CHUNKS = 1_000;

describe('a long answer', () => {
  let app: FastifyInstance;
  let client: Socket;
  let answer: (reply: FastifyReply) => Promise<unknown>;
  let served: Promise<unknown>;

  beforeAll(() => Logger.overrideLogger(false));
  afterAll(() => Logger.overrideLogger(undefined!));

  beforeEach(async () => {
    // The heartbeat alone; sockets, and what waits for them, need real time.
    jest.useFakeTimers({
      doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'Date'],
    });
    app = fastify();
    app.decorate('openStreams', new OpenStreams());
    app.get('/', (_request, reply) => {
      const answered = answer(reply);
      served = answered;
      return answered;
    });
    await app.listen({ port: 0 });
  });

  afterEach(async () => {
    client.destroy();
    await app.close();
    jest.useRealTimers();
  });

  const connections = (): Promise<number> =>
    new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));

  function ask(): void {
    client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    client.pause();
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  }

  it('has no more heartbeats after an error, although the client has not read all yet', async () => {
    let ended = false;
    answer = async (reply) => {
      try {
        await sendEvents(reply, async function* () {
          yield 'data: first\n\n';
          reply.raw.write(CHUNK.repeat(200));
          throw new Error('The source has failed');
        });
      } catch (error) {
        new ErrorFilter().answer(error, reply.request, reply);
        ended = reply.raw.socket!.writableEnded && !reply.raw.socket!.writableFinished;
      }
      return reply;
    };
    ask();
    await waitFor('the error', () => ended);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(3 * HEARTBEAT_MS);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is cut after an error, so that it does not pass for complete, with all that was written before', async () => {
    answer = async (reply) => {
      await sendEvents(reply, async function* () {
        yield 'data: first\n\n';
        throw new Error('The source has failed');
      }).catch((error: unknown) => new ErrorFilter().answer(error, reply.request, reply));
      return reply;
    };
    ask();
    let read = '';
    client.setEncoding('latin1').on('data', (text: string) => (read += text));
    client.resume();
    await once(client, 'close');
    expect(read).toContain('data: first\n\n');
    // A chunk of no length ends an answer.
    expect(read).not.toMatch(/\r\n0\r\n/);
  });

  it('is not begun when the client has left before', async () => {
    let isAsked = false;
    let reads = 0;
    answer = async (reply) => {
      isAsked = true;
      await once(reply.raw, 'close');
      await sendEvents(reply, async function* () {
        for (;;) {
          reads += 1;
          yield 'data: next\n\n';
          await new Promise(setImmediate);
        }
      });
    };
    ask();
    await waitFor('the request', () => isAsked);
    client.destroy();
    await waitFor('the close', async () => (await connections()) === 0);
    await served;
    expect([app.openStreams.count('events'), reads, jest.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it('makes the source of a web stream wait for the client, until that leaves', async () => {
    let written = 0;
    let raw!: FastifyReply['raw'];
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    let isLeft = false;
    answer = (reply) => {
      ({ raw } = reply);
      const open = new OpenAnswer(reply, 'wait');
      const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
      void (async () => {
        while (written < CHUNKS && !open.signal.aborted) {
          controller.enqueue(Buffer.from(CHUNK));
          written += 1;
          await open.drained();
        }
        isLeft = open.signal.aborted;
      })();
      return Promise.resolve(new Response(body));
    };
    ask();
    const counts: number[] = [];
    await waitFor('the source to stand still', () => {
      counts.push(written);
      return raw?.writableNeedDrain && new Set(counts.slice(-5)).size === 1 && counts.length >= 5;
    });
    expect(written).toBeLessThan(CHUNKS / 2);
    // One waits at the most, besides those in the buffers of the connection.
    expect(controller.desiredSize).toBeGreaterThanOrEqual(0);
    client.destroy();
    await waitFor('the source to stop', () => isLeft);
  });
});
