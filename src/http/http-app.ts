import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Type, DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { LogController } from 'fastify';
import type { Logger } from 'pino';
import { AppConfig } from '../config/config';
import { ApiError } from './api-error';
import { NestLogger } from './logging';
import { serveOpenApi } from './openapi';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets JSON as text: it tells what is wrong with it in its protocol's own words. */
    bodyAsText?: boolean;
  }
}

/** Headers that a browser client reads: run ids from the two locations, totals from the two paginations. */
const EXPOSED_HEADERS = [
  'Content-Location',
  'Location',
  'X-Pagination-Total',
  'X-Pagination-Next',
  'X-Request-Id',
  'Mcp-Session-Id',
  'Retry-After',
];

/** `/thread/…` is how the contract's webhook list spells `/threads/…`: one handler serves both. */
function rewriteUrl(url: string): string {
  return url.startsWith('/thread/') ? `/threads/${url.slice('/thread/'.length)}` : url;
}

/** The HTTP application, complete but not listening: the process listens, tests inject. */
export async function createHttpApp(
  rootModule: Type | DynamicModule,
  config: AppConfig,
  logger: Logger,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.bodyLimitBytes,
    // A stream may last for hours. Broken off, its client comes back to another replica with its last event id.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 2048 },
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && given.length <= 200 ? given : randomUUID();
    },
    rewriteUrl: (request: IncomingMessage) => rewriteUrl(request.url ?? '/'),
  });
  const app = await NestFactory.create<NestFastifyApplication>(rootModule, adapter, {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.enableCors({
    origin: '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  });
  readBodies(app);
  logRequests(app, logger);
  serveOpenApi(app, config);
  return app;
}

function readBodies(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  // Browser clients send JSON as text/plain to avoid a preflight.
  void fastify.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'string' },
    (request, body, done) => {
      if (body.length === 0) return done(null, undefined);
      if (request.routeOptions.config.bodyAsText) return done(null, body);
      void parseJson(request, body as string, (error, value) => {
        if (!error) return done(null, value);
        const invalid = { path: '', message: error.message };
        done(
          new ApiError(422, 'invalid_json', `Invalid JSON in request body: ${error.message}`, {
            errors: [invalid],
          }),
        );
      });
    },
  );
  // Trace uploads are parsed as they arrive, by the feature that takes them.
  fastify.addContentTypeParser('multipart/form-data', (_request: unknown, payload: Readable, done) =>
    done(null, payload),
  );
}

function logRequests(app: NestFastifyApplication, logger: Logger): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const level = reply.statusCode >= 500 ? 'error' : reply.statusCode >= 400 ? 'info' : 'debug';
    // The route's pattern and not the URL: a query may hold a secret.
    logger[level](
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    );
    done();
  });
}
