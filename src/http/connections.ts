import { type Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { stopListening } from '../patches/node/http-server';

interface Connection {
  /** Requests whose answers are not completely written yet. */
  open: number;
  /** Bytes that had been read when the last of them ended; more bytes belong to an incoming request. */
  readBefore: number;
}

/**
 * The connections of a server that is to stop without truncating answers. Node's own `closeIdleConnections` counts a connection
 * as idle as soon as its answer has been ended, though megabytes of it may still be in flight to a slow client.
 */
export class Connections {
  private readonly connections = new Map<Socket, Connection>();

  /** @param server which has no connections yet */
  constructor(private readonly server: HttpServer) {
    server.on('connection', (socket: Socket) => {
      // Announced again after an offer of another protocol, which is ignored.
      if (this.connections.has(socket)) return;
      this.connections.set(socket, { open: 0, readBefore: 0 });
      socket.once('close', () => this.connections.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      const connection = this.connections.get(socket);
      if (!connection) return;
      connection.open += 1;
      response.once('close', () => {
        connection.open -= 1;
        connection.readBefore = socket.bytesRead;
      });
    });
  }

  /** Whether an answer to a request on this connection isn't completely written yet. */
  isAnswering(connection: Duplex): boolean {
    return (this.connections.get(connection as Socket)?.open ?? 0) > 0;
  }

  /** Accepts no more connections; resolves when the last one has closed. */
  close(): Promise<void> {
    return stopListening(this.server);
  }

  /** Closes idle connections. */
  closeIdle(): void {
    for (const [socket, { open, readBefore }] of this.connections) {
      if (open === 0 && socket.bytesRead === readBefore) socket.destroy();
    }
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections;
  }
}
