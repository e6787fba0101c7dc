import type { Readable } from 'node:stream';
import replyFrom from '@fastify/reply-from';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { ApiError } from '../http/api-error';
import { ErrorFilter } from '../http/error.filter';
import { INNER_PREFIX } from '../http/request-target';
import { AppRequests } from './app-requests';
import type { CustomApp } from './custom-app';
import { CALLER_HEADER, CALLER_PATH, NOT_ASKED } from './custom-app.protocol';
import { relaySocket } from './socket-relay';

/** Where requests for the user's own routes are rewritten to, for the router. */
export const CUSTOM_APP_PATH = `${INNER_PREFIX}app`;
/** The same for requests that the app's middleware sees before Gantry's own routes do. */
export const APP_MIDDLEWARE_PATH = `${INNER_PREFIX}middleware`;
/** The same for the handshakes of the app's WebSockets. */
export const APP_SOCKET_PATH = `${INNER_PREFIX}socket`;
/** Requests to the app at a time; each takes two descriptors of this process. */
const MAX_REQUESTS = 2_048;
/** No route has this one. */
export const NOWHERE = `${INNER_PREFIX}nowhere`;

/** Headers that say where a request came from and what it was sent to; only those of trusted proxies count. */
const FORWARDED = /^(?:forwarded|x-forwarded-.+|x-real-ip)$/;

/** Headers of one connection, which is another one on the other side; undici refuses to send them. */
const OF_THE_CONNECTION = /^(?:connection|expect|keep-alive|upgrade)$/;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const isCallerTarget = (target: string): boolean => target.startsWith(`${CALLER_PATH}/`);

/** Caller of a request that may pass, in the form that the app's process reads. */
const callerHeader = ({ user }: FastifyRequest): string => Buffer.from(JSON.stringify({ user })).toString('base64url');

/** The same for a request that the app only passes on: the API is asked again, but middleware may know a user already. */
const askingHeader = (request: FastifyRequest): string =>
  request.user ? `${NOT_ASKED}.${callerHeader(request)}` : NOT_ASKED;

const without = <T extends object>(headers: T, names: RegExp): Partial<T> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.test(name))) as Partial<T>;

/** The headers, without those about forwarding unless a trusted proxy has sent them. */
function trustedHeaders<T extends object>(headers: T, { ips = [] }: FastifyRequest): Partial<T> {
  // More than the connection's own address only if that one is of a trusted proxy.
  if (ips.length > 1) return headers;
  return without(headers, FORWARDED);
}

/** @param passedOnTo the route of Gantry's own that the request is for */
function headersForApp<T extends object>(headers: T, request: FastifyRequest, passedOnTo: string | undefined) {
  return {
    ...without(trustedHeaders(headers, request), OF_THE_CONNECTION),
    host: request.headers.host,
    'x-forwarded-for': request.ip,
    'x-forwarded-proto': request.protocol,
    'x-request-id': request.id,
    [CALLER_HEADER]: passedOnTo === undefined ? callerHeader(request) : askingHeader(request),
  };
}

const unavailable = (): ApiError =>
  new ApiError(503, 'custom_app_unavailable', 'The custom routes of this deployment do not answer', {
    headers: { 'Retry-After': '1' },
  });

/** The app had the request, and ended without an answer. */
const brokenOff = (): ApiError =>
  new ApiError(
    502,
    'custom_app_broken_off',
    'The custom routes of this deployment ended without an answer: what the request asked for may have been done',
  );

/** Whether a failed request may be sent again: the app didn't get it, or it changes nothing. */
const isRepeatable = ({ method }: FastifyRequest, { cause }: Error): boolean =>
  method === 'GET' || method === 'HEAD' || (cause as NodeJS.ErrnoException | undefined)?.syscall === 'connect';

/** Sends status and headers of a stream that is silent so far, which the framework keeps until its first bytes. */
function sendHeadFirst(raw: FastifyReply['raw']): void {
  raw.once('pipe', () =>
    setImmediate(() => {
      if (!raw.headersSent) raw.flushHeaders();
    }),
  );
}

/** The request for the app; `passedOnTo`: path of Gantry's own route that it is for. */
function appTarget(url: string): { target: string; passedOnTo?: string } {
  const prefix =
    [CUSTOM_APP_PATH, APP_MIDDLEWARE_PATH, APP_SOCKET_PATH].find((path) => url.startsWith(`${path}/`)) ?? '';
  const target = url.slice(prefix.length);
  return { target, ...(prefix === APP_MIDDLEWARE_PATH && { passedOnTo: pathOf(target) }) };
}

const pathOf = (target: string): string => target.split('?', 1)[0];

/** The query as URLs spell it, without its question mark; empty if there is none. */
const queryOf = (target: string): string => new URL(target.slice(pathOf(target).length), 'http://app').search.slice(1);

/**
 * Hands requests to the user's app: those for routes of its table, and those that its middleware sees. An app without a table
 * gets whatever Gantry has no route for. Bodies pass unread in both directions, as they come; when the client goes, the app's
 * request is aborted.
 * @param authorize rejects when the request may not pass; `passedOnTo` names a route of Gantry's own, which asks as well
 */
export async function serveCustomApp(
  fastify: FastifyInstance,
  app: Pick<CustomApp, 'base' | 'socketPath' | 'routes'>,
  authorize: (request: FastifyRequest, reply: FastifyReply, passedOnTo: string | undefined) => Promise<void>,
  maxRequests = MAX_REQUESTS,
): Promise<void> {
  await fastify.register(async (scope) => {
    const errors = new ErrorFilter();
    scope.setErrorHandler((error, request, reply) => errors.answer(error, request, reply));
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable, done) => done(null, payload));
    const requests = new AppRequests(app.socketPath, maxRequests);
    await scope.register(replyFrom, {
      // With the app's own base, the library would make the requests itself.
      base: 'http://localhost',
      undici: { request: requests.request as Dispatcher['request'] },
      disableRequestLogging: true,
      maxRetriesOn503: 0,
      retryMethods: [],
    });
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      if (request.url.startsWith(NOWHERE)) throw new ApiError(404, 'not_found', 'Not Found', { format: 'text' });
      const { target, passedOnTo } = appTarget(request.url);
      await authorize(request, reply, passedOnTo);
      if (requests.areTooMany) throw unavailable();
      sendHeadFirst(reply.raw);
      return requests.passOn(reply.raw, () =>
        reply.from(pathOf(target), {
          getUpstream: () => app.base,
          // Given as a part of the target it would be decoded, which fails, and searched for parent folders.
          queryString: () => queryOf(target),
          rewriteHeaders: (headers) => without(headers, OF_THE_CONNECTION),
          rewriteRequestHeaders: (_original, headers) => headersForApp(headers, request, passedOnTo),
          onError: (_failed, { error }) =>
            errors.answer(isRepeatable(request, error) ? unavailable() : brokenOff(), request, reply),
        }),
      );
    };
    const relay = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      try {
        await authorize(request, reply, undefined);
        const headers = headersForApp(request.headers, request, undefined);
        await relaySocket(reply, { socketPath: app.socketPath, ...appTarget(request.url), headers }, unavailable);
      } catch (error) {
        errors.answer(error, request, reply);
      }
    };
    const answerCaller = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      await authorize(request, reply, undefined);
      return reply.code(204).header(CALLER_HEADER, callerHeader(request)).send();
    };
    scope.route({ method: [...METHODS], url: `${CALLER_PATH}/*`, handler: answerCaller });
    const config = { webSocket: true };
    scope.route({ method: 'GET', url: `${APP_SOCKET_PATH}/*`, handler: relay, config, exposeHeadRoute: false });
    const paths = app.routes.hasTable ? [`${CUSTOM_APP_PATH}/*`, `${APP_MIDDLEWARE_PATH}/*`] : ['/*'];
    for (const url of paths) scope.route({ method: [...METHODS], url, handler, helmet: false });
  });
}
