import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { AppConfig } from '../config/config';
import { invalidJson } from './api-error';
import { checkJson } from './json-limits';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets JSON as text: it says what is wrong with it in its protocol's own words. */
    bodyAsText?: boolean;
    /**
     * Clients send whole batches of traces here: the body may be as large as those are, and the handler gets its bytes,
     * since parsing them would hold up every other request.
     */
    isTraceUpload?: boolean;
  }
}

/** Gives each route the limit of its bodies. To be called before the routes are added. */
export function limitBodies(fastify: FastifyInstance, { traces }: AppConfig): void {
  fastify.addHook('onRoute', (route) => {
    if (route.config?.isTraceUpload) route.bodyLimit = traces.uploadLimitBytes;
  });
}

export function readBodies(fastify: FastifyInstance): void {
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  // Browser clients send JSON as text/plain to avoid a preflight.
  void fastify.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'buffer' },
    (request, given, done) => {
      const bytes = given as Buffer;
      const { bodyAsText, isTraceUpload } = request.routeOptions.config;
      if (isTraceUpload) return done(null, bytes);
      if (bytes.length === 0) return done(null, undefined);
      const body = bytes.toString('utf8');
      checkJson(body);
      if (bodyAsText) return done(null, body);
      void parseJson(request, body, (error, value) => done(error && invalidJson(error), value));
    },
  );
  // Trace uploads are parsed as they arrive, by the feature that takes them.
  fastify.addContentTypeParser('multipart/form-data', (_request: unknown, payload: Readable, done) =>
    done(null, payload),
  );
}
