import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { AppConfig } from '../config/config';
import { ApiError } from './api-error';
import { hasLongIntegers, parseExactly } from './exact-json';
import { BODY_LIMITS, checkJson, TRACE_LIMITS } from './json-limits';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets JSON as text: it says what is wrong with it in its protocol's own words. */
    bodyAsText?: boolean;
    /** Integers beyond 2^53 in the body keep their digits (exact-json.ts). */
    exactNumbers?: boolean;
    /** Clients send whole batches of traces here: the body may be as large as those are. */
    isTraceUpload?: boolean;
  }
}

/** Gives each route the limit of its bodies. To be called before the routes are added. */
export function limitBodies(fastify: FastifyInstance, { traceLimitBytes }: AppConfig): void {
  fastify.addHook('onRoute', (route) => {
    if (route.config?.isTraceUpload) route.bodyLimit = traceLimitBytes;
  });
}

export function readBodies(fastify: FastifyInstance): void {
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  // Browser clients send JSON as text/plain to avoid a preflight.
  void fastify.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'string' },
    (request, given, done) => {
      const body = given as string;
      const { bodyAsText, exactNumbers, isTraceUpload } = request.routeOptions.config;
      if (body.length === 0) return done(null, undefined);
      checkJson(body, isTraceUpload ? TRACE_LIMITS : BODY_LIMITS);
      if (bodyAsText) return done(null, body);
      void parseJson(request, body, (error, value) => {
        if (error) return done(invalidJson(error));
        done(null, exactNumbers && hasLongIntegers(body) ? parseExactly(body) : value);
      });
    },
  );
  // Trace uploads are parsed as they arrive, by the feature that takes them.
  fastify.addContentTypeParser('multipart/form-data', (_request: unknown, payload: Readable, done) =>
    done(null, payload),
  );
}

function invalidJson({ message }: Error): ApiError {
  return new ApiError(422, 'invalid_json', `Invalid JSON in request body: ${message}`, {
    errors: [{ path: '', message }],
  });
}
