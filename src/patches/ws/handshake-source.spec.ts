import { EventEmitter } from 'node:events';
import websocket from '@fastify/websocket';
import fastify from 'fastify';
import { expectLibrary } from '../../../test/support/library-guard';
import { handshakeSource } from './handshake-source';

describe('the WebSocket plugin', () => {
  it("handles the upgrades of a given emitter, and none of the server's own", async () => {
    const emitter = new EventEmitter();
    const app = fastify();
    await app.register(websocket, { options: { server: handshakeSource(emitter) } });
    await app.ready();
    expectLibrary(
      emitter.listenerCount('upgrade') > 0,
      'The plugin needs more of `options.server` than its `upgrade` events.',
    );
    expectLibrary(
      app.server.listenerCount('upgrade') === 0,
      "The plugin listens to the server's own upgrades besides those of `options.server`.",
    );
    await app.close();
  });
});
