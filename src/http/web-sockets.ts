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
import type { Connections } from './connections';

/** Time for a client to answer the close of its socket. */
export const CLOSE_TIMEOUT_MS = 2_000;
/** Close code of RFC 6455: the server goes away, and the client may reconnect to another. */
export const GOING_AWAY = 1001;
/** Close code of RFC 6455 for an unexpected failure of the server; clients reconnect. */
export const INTERNAL_ERROR = 1011;
/** Longest reason of a close in RFC 6455, in bytes. */
const MAX_REASON_BYTES = 123;

/** Part of the answer to an accepted handshake that its route decides. */
export interface Acceptance {
  /** `false` for none; by default the first one that the client offers. */
  subprotocol?: string | false;
  /** Further lines of the head, such as `Set-Cookie: …`. */
  headers?: string[];
}

/** Which pages may open a WebSocket. */
type PageRules = Pick<CorsSettings, 'origins' | 'credentials'>;

/** Those of handshakes that a route has accepted. */
const acceptances = new WeakMap<IncomingMessage, Acceptance>();

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's handler decides about a handshake, and calls `acceptWebSocket` to accept it. */
    webSocket?: boolean;
  }
  interface FastifyRequest {
    /** Upgrades the handshake of such a route. */
    upgrade?: (serve: (socket: WebSocket) => void) => void;
  }
}

/** A route for WebSockets. Guards, pipes, interceptors and filters run as for any other route, before the upgrade. */
export const WebSocketRoute = (): MethodDecorator => RouteConfig({ webSocket: true });

/**
 * Result of such a route's handler, which sends nothing.
 * @param serve gets the socket once it is open
 * @throws {ApiError} 426 when the request is no handshake
 */
export function acceptWebSocket(
  reply: FastifyReply,
  serve: (socket: WebSocket) => void,
  acceptance: Acceptance = {},
): void {
  const { request } = reply;
  if (!request.ws || !request.upgrade) {
    throw new ApiError(426, 'upgrade_required', 'This address is for WebSockets', {
      headers: { Connection: 'Upgrade', Upgrade: 'websocket' },
    });
  }
  acceptances.set(request.raw, acceptance);
  request.upgrade((socket) => {
    request.answeredAfterMs = reply.elapsedTime;
    reply.raw.statusCode = 101;
    serve(socket);
  });
}

/** Closes an open socket with the HTTP status of the refusal plus 4000, from which clients decide whether to reconnect. */
export function refuseSocket(socket: WebSocket, { status, detail }: Pick<ApiError, 'status' | 'detail'>): void {
  const reason = Buffer.from(detail).subarray(0, MAX_REASON_BYTES);
  // Decoded as a stream, so that a truncated character is left out.
  socket.close(4000 + status, new TextDecoder().decode(reason, { stream: true }));
}

/** Whether a request for a WebSocket comes from a page in a browser. */
export function isPage({ ws, headers, routeOptions }: FastifyRequest): boolean {
  return ws && headers.origin !== undefined && routeOptions.config.webSocket === true;
}

/**
 * Refuses the handshake of a page by opening and closing its socket: browsers show pages no status of HTTP.
 * @returns false for any other refused request, to be answered over HTTP
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

/** Serves WebSockets on their routes. To be called before the routes are added. */
export async function acceptWebSockets(fastify: FastifyInstance, cors: PageRules, maxPayload: number) {
  // Registered before the plugin's own hook, which replaces the handler by the upgrade, so that the handler can decide first.
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.webSocket) return;
    const decide = route.handler as (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
    const accepted = new WeakMap<FastifyRequest, (socket: WebSocket) => void>();
    route.preHandler = (request, reply, done) => {
      request.upgrade = (serve) => {
        accepted.set(request, serve);
        done();
      };
      // Its end is not awaited: for Nest, the request ends with the answer.
      void decide.call(fastify, request, reply);
    };
    route.wsHandler = (socket, request) => accepted.get(request)?.(socket);
  });
  const handshakes = new Handshakes(fastify.server, fastify.connections);
  const options = {
    server: handshakeSource(handshakes),
    maxPayload,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: ([first]: Set<string>, request: IncomingMessage) => acceptances.get(request)?.subprotocol ?? first,
  };
  await fastify.register(websocket, {
    options,
    // After a message that is too long or invalid, the library closes the socket with the matching code.
    errorHandler: (error, _socket, request) => request.log.info({ err: error }, 'A WebSocket was broken off'),
    preClose: () => endAll(fastify.websocketServer, handshakes),
  });
  fastify.websocketServer.on('headers', (lines: string[], request: IncomingMessage) => {
    lines.push(...(acceptances.get(request)?.headers ?? []));
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
 * Browsers let every page open a WebSocket without a preflight, and send cookies along. So CORS is enforced here: pages of
 * other origins are accepted if they may use the API, and cookies count only if they may use credentials.
 * @throws {ApiError} 403
 */
function admitPage({ headers, host }: FastifyRequest, cors: PageRules): void {
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
 * The upgrades that are handshakes of WebSockets. With a listener, Node hands over connections for any protocol that a client
 * offers: clients that offer HTTP/2 with each request, as Java's does, continue in HTTP/1.1, as without a listener.
 */
class Handshakes extends EventEmitter {
  /** Nothing else closes them when the server stops. */
  readonly connections = new Set<Duplex>();

  constructor(server: Server, connections: Connections) {
    super();
    server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
      // Two answers at a time can't be written to it, and Node itself doesn't watch it any more.
      if (connections.isAnswering(connection)) return connection.destroy();
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
  // Connections whose handshake is not decided yet.
  for (const connection of connections) connection.destroy();
}
