import type { FastifyReply } from 'fastify';

/** What proxies write for a client that left before its answer. */
const CLIENT_GONE = 499;

/** Calls back once when the answer has ended, or its client has gone. The framework's own hook leaves out hijacked replies: streams. */
export function whenAnswered(reply: FastifyReply, then: () => void): void {
  reply.raw.once('close', then);
}

/** The status that the client got. */
export function statusOf({ raw }: FastifyReply): number {
  return raw.headersSent ? raw.statusCode : CLIENT_GONE;
}
