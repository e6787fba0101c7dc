import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { setRemoteAddress } from '../patches/node/http-server';
import { CALLER_HEADER } from './custom-app.protocol';

/** The app's process as the sender of a request: the unspecified address, which no client on the network can have. */
export const APP_PROCESS_ADDRESS = '::';

const innerCalls = new WeakSet<IncomingMessage>();

/** Whether a request came from the process of `http.app`: it has been through the app, and is the API's own. */
export const isInnerCall = (request: IncomingMessage): boolean => innerCalls.has(request);

/**
 * Serves the API on a Unix socket as well, for the process of `http.app` alone: what its middleware passes on, and what its own
 * code asks for. Who may open the socket is trusted to say where a request came from, and what it was sent to.
 */
export async function serveInnerApi(fastify: FastifyInstance, socketPath: string): Promise<void> {
  const server: Server = createServer((request, response) => {
    innerCalls.add(request);
    // What the API reported to the app about the user must not be read, or logged, as a header of the client's.
    delete request.headers[CALLER_HEADER];
    request.headers['x-forwarded-for'] ??= '127.0.0.1';
    // Each request has a connection of its own.
    setRemoteAddress(request.socket, APP_PROCESS_ADDRESS);
    fastify.server.emit('request', request, response);
  });
  // As long as the client's own connection.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  // The app's process may have another user; the folder keeps all other users out.
  chmodSync(socketPath, 0o666);
  fastify.addHook('onClose', (_instance, done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
