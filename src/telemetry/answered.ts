import type { FastifyReply } from 'fastify';

/** Status that proxies log for a client that left before its answer. */
const CLIENT_GONE = 499;

/** Calls back once when the answer has ended, or its client has gone. The framework's own hook leaves out hijacked replies: streams. */
export function whenAnswered(reply: FastifyReply, then: () => void): void {
  reply.raw.once('close', then);
}

/** The status that the client got. */
export function statusOf({ raw }: FastifyReply): number {
  // The answer to a WebSocket's handshake is written by its library.
  return raw.headersSent || raw.statusCode === 101 ? raw.statusCode : CLIENT_GONE;
}
