import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { OpenStream } from './open-streams';
import { whenClosed } from './when-closed';

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
    whenClosed(raw, () => {
      openStreams.delete(this);
      if (!raw.writableEnded) this.gone.abort();
    });
  }

  /** Whether this server closed the connection, as opposed to the client. */
  get isBrokenOff(): boolean {
    return this.brokenOff;
  }

  /** Resolves when the client's connection can take more, is closed, or `cancelled` comes. */
  async drained(cancelled?: AbortSignal): Promise<void> {
    const { raw } = this.reply;
    const isOver = (): boolean => this.signal.aborted || cancelled?.aborted === true;
    do {
      if (raw.writableNeedDrain) {
        const signal = cancelled ? AbortSignal.any([this.signal, cancelled]) : this.signal;
        // With the signal every listener is removed: a slow client is waited for thousands of times.
        await once(raw, 'drain', { signal }).catch(() => undefined);
      }
      // Within a turn, all that waits in the web stream of an answer is written, up to the chunk that has to wait again.
      await nextTurn();
    } while (raw.writableNeedDrain && !isOver());
  }

  breakOff(): void {
    this.brokenOff = true;
    cutAnswer(this.reply.raw);
    this.gone.abort();
  }
}

/**
 * Cuts the connection without ending the answer: after a proper end a client expects no more, while a lost connection makes both
 * SDKs reconnect, to a stream with the last id that they saw. Data written before is still sent, if the client reads it.
 */
export function cutAnswer(raw: ServerResponse): void {
  if (raw.socket) raw.socket.destroySoon();
  else raw.destroy();
  setTimeout(() => raw.destroy(), FLUSH_MS).unref();
}
