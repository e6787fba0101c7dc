import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import type { AppConfig } from '../config/config';
import { ApiError, invalidJson } from './api-error';
import { headerOf } from './header';
import { joined, readBlocks } from './body-blocks';
import { checkJson } from './json-limits';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets JSON as text, and reports errors in its protocol's terms. */
    bodyAsText?: boolean;
    /**
     * Only bodies declared as JSON are accepted, since pages can send text/plain without a preflight. The value is the JSON-RPC
     * error code for other types.
     */
    jsonOnly?: number;
    /**
     * Clients send whole batches of traces here: the body may be as large as those are, and the handler gets its bytes in
     * blocks, since joining and parsing them would hold up every other request.
     */
    isTraceUpload?: boolean;
  }
}

/** Media type of A2A's HTTP+JSON binding. */
export const A2A_JSON = 'application/a2a+json';

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
    ['application/json', A2A_JSON, 'text/plain'],
    async (request: FastifyRequest, payload: RequestPayload): Promise<unknown> => {
      const { bodyAsText, isTraceUpload, jsonOnly } = request.routeOptions.config;
      if (jsonOnly !== undefined && !isJsonType(request)) throw notJson(request);
      const blocks = await readBlocks(request, payload);
      if (isTraceUpload) return blocks;
      const body = joined(blocks).toString('utf8');
      if (body === '') return undefined;
      checkJson(body);
      if (bodyAsText) return body;
      return new Promise((resolve, reject) => {
        void parseJson(request, body, (error, value) => (error ? reject(invalidJson(error)) : resolve(value)));
      });
    },
  );
  // Trace uploads are parsed as they arrive, by the feature that takes them.
  fastify.addContentTypeParser('multipart/form-data', (_request: unknown, payload: Readable, done) =>
    done(null, payload),
  );
}

const isJsonType = (request: FastifyRequest): boolean =>
  /^application\/(?:a2a\+)?json\s*(;|$)/i.test(headerOf(request, 'content-type') ?? '');

function notJson(request: FastifyRequest): ApiError {
  const type = headerOf(request, 'content-type');
  return new ApiError(415, 'unsupported_media_type', `Unsupported Media Type: ${type}; send application/json`);
}
