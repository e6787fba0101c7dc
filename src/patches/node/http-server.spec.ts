import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { expectLibrary } from '../../../test/support/library-guard';
import { setRemoteAddress, stopListening } from './http-server';

describe('an HTTP server', () => {
  it('stops listening without closing a connection', async () => {
    const server = createServer((_request, response) => response.end('answer'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const ask = async (): Promise<boolean> => {
      client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      return Promise.race([once(client, 'data').then(() => true), once(client, 'close').then(() => false)]);
    };
    try {
      expect(await ask()).toBe(true);
      const stopped = stopListening(server);
      expect(server.listening).toBe(false);
      expectLibrary(await ask(), "The method `close` of net.Server closes an HTTP server's idle connections.");
      client.destroy();
      await stopped;
    } finally {
      client.destroy();
      server.closeAllConnections();
    }
  });

  it('reports the address that a socket is given', () => {
    const socket = new Socket();
    setRemoteAddress(socket, '192.0.2.1');
    expectLibrary(socket.remoteAddress === '192.0.2.1', '`remoteAddress` of a socket can no longer be set.');
  });
});
