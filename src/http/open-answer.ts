import type { FastifyReply } from 'fastify';
import type { OpenStream } from './open-streams';

/** Time for a client to read what was written before its answer was broken off. */
const FLUSH_MS = 5_000;

/** A long answer by HTTP: open until it is written out, its client goes, or this server breaks it off. */
export class OpenAnswer implements OpenStream {
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  private readonly gone = new AbortController();
  private brokenOff = false;

  constructor(
    protected readonly reply: FastifyReply,
    readonly kind: OpenStream['kind'],
  ) {
    this.signal = this.gone.signal;
    const { raw, request } = reply;
    const { openStreams } = reply.server;
    openStreams.add(this, request);
    raw.once('close', () => {
      openStreams.delete(this);
      if (!raw.writableEnded) this.gone.abort();
    });
  }

  /** Whether it was this server that closed the connection, which says nothing about what its client wants. */
  get isBrokenOff(): boolean {
    return this.brokenOff;
  }

  /**
   * Cuts the connection and doesn't end the answer: an end would mean to a client that there is no more, while a lost
   * connection makes both SDKs come back with the last id that they saw. What was written before goes out whole, if the
   * client takes it.
   */
  breakOff(): void {
    this.brokenOff = true;
    const { raw } = this.reply;
    if (raw.socket) raw.socket.destroySoon();
    else raw.destroy();
    setTimeout(() => raw.destroy(), FLUSH_MS).unref();
    this.gone.abort();
  }
}
