import { Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { BreakOffReason, OpenStream } from './open-streams';
import { HEARTBEAT_MS } from './streaming';
import type { ApiError } from './api-error';
import { GOING_AWAY, INTERNAL_ERROR, refuseSocket } from './web-sockets';

/** A minute of silence, with a ping every five seconds: a client that is there has answered one. */
const SILENT_BEATS = 12;

const logger = new Logger('Http');

const ACCESS_ENDED = {
  'key-revoked': 'The API key was revoked or has expired',
  'token-expired': 'The access token has expired',
};

/**
 * A WebSocket that takes one message at a time, and no further ones from its connection meanwhile: a client that sends
 * faster than it is served, or reads no answers, is made to wait.
 */
export class SocketStream implements OpenStream {
  readonly kind = 'events';
  /** Aborted when the socket is closed by either side. */
  readonly signal: AbortSignal;
  private readonly gone = new AbortController();
  private unserved = 0;
  private served = Promise.resolve();
  private silentBeats = 0;

  /**
   * @param request the handshake
   * @param take is not to reject: that closes the socket, as an unexpected failure
   */
  constructor(
    private readonly socket: WebSocket,
    private readonly request: FastifyRequest,
    private readonly take: (message: string) => Promise<void>,
  ) {
    this.signal = this.gone.signal;
    const { openStreams } = request.server;
    openStreams.add(this, request);
    const heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS);
    socket.on('pong', () => (this.silentBeats = 0));
    socket.on('message', (message: Buffer) => this.receive(message.toString()));
    socket.once('close', () => {
      clearInterval(heartbeat);
      openStreams.delete(this);
      this.gone.abort();
    });
  }

  /** Resolves when all of them are written to the client's connection, or it is closed. */
  async send(messages: string[]): Promise<void> {
    await Promise.all(messages.map((message) => new Promise<void>((sent) => this.socket.send(message, () => sent()))));
  }

  close(code?: number, reason = ''): void {
    this.socket.close(code, reason);
    this.gone.abort();
  }

  refuse(reason: Pick<ApiError, 'status' | 'detail'>): void {
    refuseSocket(this.socket, reason);
    this.gone.abort();
  }

  breakOff(reason: BreakOffReason): void {
    if (reason === 'stopping') this.close(GOING_AWAY);
    else this.refuse({ status: 401, detail: ACCESS_ENDED[reason] });
  }

  private receive(message: string): void {
    this.silentBeats = 0;
    this.unserved += 1;
    this.socket.pause();
    this.served = this.served
      .then(() => (this.signal.aborted ? undefined : this.take(message)))
      .catch((error: unknown) => {
        logger.error({ err: error, request_id: this.request.id }, 'A message of a WebSocket could not be handled');
        this.close(INTERNAL_ERROR);
      })
      .then(() => {
        this.unserved -= 1;
        if (this.unserved === 0) this.socket.resume();
      });
  }

  private beat(): void {
    // While a message is served nothing is read, not even a pong. Data that waits to be written does wait for the client,
    // though.
    const isServing = this.unserved > 0 && this.socket.bufferedAmount === 0;
    this.silentBeats = isServing ? 0 : this.silentBeats + 1;
    if (this.silentBeats > SILENT_BEATS) this.socket.terminate();
    else this.socket.ping();
  }
}
