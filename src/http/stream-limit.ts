import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './api-error';

/** Routes whose answers may stay open for hours: streams, results that are waited for, and protocols that have both. */
const STREAMING = /\/(?:stream|wait|join)(?:\/|$)|^\/(?:a2a|mcp)(?:\/|$)/;
/** Retry-After of a 429: a stream may have ended by then. */
const RETRY_SECONDS = 5;

/**
 * Limits the open streams of a caller on this replica, before a run is created for one more. To be called after the hook that
 * identifies the caller.
 */
export function limitStreams(fastify: FastifyInstance, perCaller: number): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (STREAMING.test(request.routeOptions.url ?? '')) checkStreams(request, perCaller);
    done();
  });
}

/** @throws {ApiError} 429 when the caller, whom the guard has let through, has as many streams open as it may have */
export function checkStreams(request: FastifyRequest, perCaller: number): void {
  if (request.server.openStreams.countOf(request) < perCaller) return;
  throw new ApiError(
    429,
    'too_many_streams',
    `This key or user has ${perCaller} streams open (GANTRY_STREAMS_PER_KEY): end one, or try again later`,
    { headers: { 'Retry-After': String(RETRY_SECONDS) } },
  );
}
