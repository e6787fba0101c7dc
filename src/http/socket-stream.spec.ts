import { EventEmitter } from 'node:events';
import { Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { OpenStreams } from './open-streams';
import { SocketStream } from './socket-stream';

/** A minute, in beats of five seconds. */
const BEAT_MS = 5_000;
const PATIENCE = 12;

class FakeSocket extends EventEmitter {
  bufferedAmount = 0;
  pings = 0;
  isPaused = false;
  isTerminated = false;
  closedWith: number | undefined;
  readonly unsent: (() => void)[] = [];

  ping(): void {
    this.pings += 1;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  send(_message: string, sent: () => void): void {
    this.unsent.push(sent);
  }
  close(code: number): void {
    this.closedWith = code;
  }
  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }
}

describe('a stream on a WebSocket', () => {
  let socket: FakeSocket;
  let streams: OpenStreams;
  let taken: string[];
  let serve: (() => void) | undefined;
  let fail: Error | undefined;
  let stream: SocketStream;

  beforeEach(() => {
    jest.useFakeTimers();
    socket = new FakeSocket();
    streams = new OpenStreams();
    taken = [];
    fail = undefined;
    const request = { server: { openStreams: streams } } as FastifyRequest;
    stream = new SocketStream(socket as unknown as WebSocket, request, (message) => {
      taken.push(message);
      if (fail) return Promise.reject(fail);
      return new Promise((resolve) => (serve = resolve));
    });
  });

  afterEach(() => {
    socket.emit('close');
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const say = (message: string): boolean => socket.emit('message', Buffer.from(message));
  const beat = (times: number): void => void jest.advanceTimersByTime(times * BEAT_MS);
  const settle = (): Promise<void> => jest.advanceTimersByTimeAsync(0);

  it('ends when the client has been silent for a minute, and frees its streams', () => {
    beat(PATIENCE);
    expect([socket.pings, socket.isTerminated, stream.signal.aborted, streams.count('events')]).toEqual([
      PATIENCE,
      false,
      false,
      1,
    ]);
    beat(1);
    expect([socket.isTerminated, stream.signal.aborted, streams.count('events')]).toEqual([true, true, 0]);
    beat(5);
    expect(socket.pings).toBe(PATIENCE);
  });

  it('stays open with every pong and every message', async () => {
    for (let round = 0; round < 3; round += 1) {
      beat(PATIENCE);
      socket.emit('pong');
      beat(PATIENCE);
      say('x');
      await settle();
      serve?.();
      await settle();
    }
    expect(socket.isTerminated).toBe(false);
  });

  it('does not mistake a long message for silence, but ends when a client reads nothing', async () => {
    say('a long one');
    beat(PATIENCE * 3);
    expect(socket.isTerminated).toBe(false);
    serve?.();
    await settle();
    say('another');
    socket.bufferedAmount = 1;
    beat(PATIENCE + 1);
    expect(socket.isTerminated).toBe(true);
  });

  it('handles one message at a time, in order, and reads no more meanwhile', async () => {
    for (const message of ['a', 'b', 'c']) say(message);
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await settle();
      expect([taken, socket.isPaused]).toEqual([expected, true]);
      serve?.();
    }
    await settle();
    expect(socket.isPaused).toBe(false);
  });

  it('handles no message of a client that has disconnected', async () => {
    say('a');
    say('b');
    await settle();
    socket.emit('close');
    serve?.();
    await settle();
    expect(taken).toEqual(['a']);
  });

  it('is closed when a message can not be handled, and reads the rest of the closing handshake', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    fail = new Error('unexpected');
    say('a');
    say('b');
    await settle();
    expect([taken, socket.closedWith, socket.isPaused]).toEqual([['a'], 1011, false]);
  });

  it('has finished sending once the last message is written', async () => {
    let isSent = false;
    void stream.send(['a', 'b']).then(() => (isSent = true));
    socket.unsent[0]();
    await settle();
    expect(isSent).toBe(false);
    socket.unsent[1]();
    await settle();
    expect(isSent).toBe(true);
  });
});
