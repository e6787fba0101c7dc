import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import websocket from '@fastify/websocket';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket, WebSocketServer } from 'ws';
import type { CorsSettings } from '../config/http-settings';
import { handshakeSource } from '../patches/ws/handshake-source';
import { ApiError } from './api-error';

/** Time for a client to answer the close of its socket. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Close code of RFC 6455: the server goes away, and the client may reconnect to another. */
export const GOING_AWAY = 1001;
/** Longest reason of a close in RFC 6455, in bytes. */
const MAX_REASON_BYTES = 123;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's handler decides about a handshake, and calls `acceptWebSocket` where it lets it through. */
    webSocket?: boolean;
  }
  interface FastifyRequest {
    /** Upgrades the handshake of such a route. */
    upgrade?: (serve: (socket: WebSocket) => void) => void;
  }
}

/** A route for WebSockets. Guards, pipes, interceptors and filters are those of any other, and are done before the upgrade. */
export const WebSocketRoute = (): MethodDecorator => RouteConfig({ webSocket: true });

/**
 * What the handler of such a route ends in, with nothing sent.
 * @param serve gets the socket once it is open
 * @throws {ApiError} 426 when the request is no handshake
 */
export function acceptWebSocket(reply: FastifyReply, serve: (socket: WebSocket) => void): void {
  const { request } = reply;
  if (!request.ws || !request.upgrade) {
    throw new ApiError(426, 'upgrade_required', 'This address is for WebSockets', {
      headers: { Connection: 'Upgrade', Upgrade: 'websocket' },
    });
  }
  request.upgrade((socket) => {
    request.answeredAfterMs = reply.elapsedTime;
    reply.raw.statusCode = 101;
    serve(socket);
  });
}

/** Ends a socket that is open with the status that HTTP has for the refusal, plus 4000: clients read there whether to come back. */
export function refuseSocket(socket: WebSocket, { status, detail }: Pick<ApiError, 'status' | 'detail'>): void {
  const reason = Buffer.from(detail).subarray(0, MAX_REASON_BYTES);
  // As a stream, so that a character that is cut in two is left out.
  socket.close(4000 + status, new TextDecoder().decode(reason, { stream: true }));
}

/** Whether a request for a WebSocket comes from a page in a browser. */
export function isPage({ ws, headers, routeOptions }: FastifyRequest): boolean {
  return ws && headers.origin !== undefined && routeOptions.config.webSocket === true;
}

/**
 * Refuses the handshake of a page by opening and closing its socket: browsers show pages no status of HTTP.
 * @returns false for whatever else was refused, which is to be answered by HTTP
 */
export function refusePage(reply: FastifyReply, reason: ApiError): boolean {
  const { request } = reply;
  if (!isPage(request) || !request.upgrade) return false;
  request.upgrade((socket) => {
    request.answeredAfterMs = reply.elapsedTime;
    reply.raw.statusCode = reason.status;
    refuseSocket(socket, reason);
  });
  return true;
}

/** Serves WebSockets on the routes that are for them. To be called before the routes are added. */
export async function acceptWebSockets(fastify: FastifyInstance, cors: CorsSettings, maxPayload: number) {
  // Before the plugin's own hook, which puts the upgrade in the place of the handler: that decides in front of it.
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.webSocket) return;
    const decide = route.handler as (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
    const accepted = new WeakMap<FastifyRequest, (socket: WebSocket) => void>();
    route.preHandler = (request, reply, done) => {
      request.upgrade = (serve) => {
        accepted.set(request, serve);
        done();
      };
      // Its end is not waited for: Nest's comes with that of the answer.
      void decide.call(fastify, request, reply);
    };
    route.wsHandler = (socket, request) => accepted.get(request)?.(socket);
  });
  const handshakes = new Handshakes(fastify.server);
  const options = { server: handshakeSource(handshakes), maxPayload, closeTimeout: CLOSE_TIMEOUT_MS };
  await fastify.register(websocket, {
    options,
    // A message that is too long, or no message at all: the library ends the socket with the code for it.
    errorHandler: (error, _socket, request) => request.log.info({ err: error }, 'A WebSocket was broken off'),
    preClose: () => endAll(fastify.websocketServer, handshakes),
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!request.ws || request.is404) return done();
    if (!request.routeOptions.config.webSocket)
      throw new ApiError(400, 'no_web_socket', 'This address is not for WebSockets');
    admitPage(request, cors);
    done();
  });
}

/**
 * Browsers let every page open a WebSocket, without asking first, and send along what they keep for this server. CORS has to
 * be kept to here: pages of other origins are let in where they may use the API, and what the browser added by itself
 * counts where they may use that.
 * @throws {ApiError} 403
 */
function admitPage({ headers, host }: FastifyRequest, cors: CorsSettings): void {
  const { origin } = headers;
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)) return;
  const isAllowed = cors.origins.some((each) =>
    typeof each === 'string' ? each === '*' || each === origin : each.test(origin),
  );
  if (!isAllowed) throw new ApiError(403, 'origin_not_allowed', 'Pages of this origin may not use this API');
  if (cors.credentials) return;
  delete headers.cookie;
  if (/^basic /i.test(headers.authorization ?? '')) delete headers.authorization;
}

/**
 * The upgrades that are handshakes of WebSockets. Node hands over a connection for whatever protocol a client offers, as soon
 * as anybody listens: clients that offer HTTP/2 beside each request (Java's does) continue in HTTP/1.1, as without a listener.
 */
class Handshakes extends EventEmitter {
  /** Nothing else closes them when the server stops. */
  readonly connections = new Set<Duplex>();

  constructor(server: Server) {
    super();
    server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
      const isHandshake = request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket';
      if (!isHandshake) return serveAgain(server, request, connection, head);
      this.connections.add(connection);
      connection.once('close', () => this.connections.delete(connection));
      this.emit('upgrade', request, connection, head);
    });
  }
}

/** Puts the request back on its connection, without the offer. */
function serveAgain(
  server: Server,
  { method, url, rawHeaders }: IncomingMessage,
  connection: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (/^(connection|upgrade|http2-settings)$/i.test(rawHeaders[index])) continue;
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  connection.unshift(head);
  connection.unshift(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
  server.emit('connection', connection);
}

async function endAll(server: WebSocketServer, { connections }: Handshakes): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve));
  for (const socket of server.clients) socket.close(GOING_AWAY);
  await ended;
  // Those whose handshake is not decided yet.
  for (const connection of connections) connection.destroy();
}
