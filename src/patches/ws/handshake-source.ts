/**
 * @library @fastify/websocket 11.3.6
 * @patch Passes an EventEmitter as the server whose `upgrade` events are served.
 * @why Not every upgrade is a handshake of a WebSocket. The library takes all of a server's upgrades, or those of another server.
 * @upstream None known.
 * @remove When the library takes a function that chooses the upgrades it serves.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';

/** The option `server` of the WebSocket plugin for handshakes that an emitter emits as `upgrade`. */
export function handshakeSource(emitter: EventEmitter): Server {
  return emitter as unknown as Server;
}
