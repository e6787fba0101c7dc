import type { FastifyReply } from 'fastify';
import type { OpenStream } from './open-streams';

/** Time for a client to read what was written before its answer was aborted. */
const FLUSH_MS = 5_000;

/** A long HTTP answer: open until it is complete, its client disconnects, or this server aborts it. */
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

  /** Whether this server closed the connection, as opposed to the client. */
  get isBrokenOff(): boolean {
    return this.brokenOff;
  }

  /**
   * Cuts the connection without ending the answer: after a proper end a client expects no more, while a lost connection makes
   * both SDKs reconnect with the last id that they saw. Data written before is still sent, if the client reads it.
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
