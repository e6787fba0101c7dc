/**
 * @library node 24
 * @patch Closes an HTTP server by the method of `net.Server`, and gives sockets another `remoteAddress`.
 * @why `http.Server.close` begins with `closeIdleConnections`, which counts a connection as idle as soon as its answer has been
 * ended, though megabytes of it may still be in flight to a slow client. A Unix socket has no address of its own.
 * @upstream https://github.com/nodejs/node/pull/43890
 * @remove When `closeIdleConnections` waits until the answer has been written out.
 */
import type { Server as HttpServer } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';

/** Stops listening and closes no connection; resolves when the last one has closed. */
export function stopListening(server: HttpServer): Promise<void> {
  return new Promise((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
}

/** Lets a socket report this address as that of its client. */
export function setRemoteAddress(socket: Socket, address: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address });
}
