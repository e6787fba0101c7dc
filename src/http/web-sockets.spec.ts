import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { waitFor } from '../../test/support/wait-for';
import { Connections } from './connections';
import { acceptWebSocket, acceptWebSockets } from './web-sockets';

const PLAIN = 'GET /ok HTTP/1.1\r\nhost: a\r\n\r\n';
const HANDSHAKE =
  'GET /socket HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n';
const OFFER = 'GET /ok HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';

describe('an upgrade', () => {
  let app: FastifyInstance;
  let client: Socket;
  let text: string;
  const served: Socket[] = [];

  beforeEach(async () => {
    app = fastify({ forceCloseConnections: true });
    app.decorate('connections', new Connections(app.server));
    await acceptWebSockets(app, { origins: [], credentials: false }, 1_000);
    app.get('/ok', () => Promise.resolve('the answer'));
    app.route({
      method: 'GET',
      url: '/socket',
      config: { webSocket: true },
      handler: (_request, reply) => acceptWebSocket(reply, () => undefined),
    });
    app.server.on('connection', (socket: Socket) => served.push(socket));
    await app.listen({ port: 0 });
    text = '';
    client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (chunk: Buffer) => (text += chunk.toString()));
    client.on('error', () => undefined);
  });

  afterEach(async () => {
    client.destroy();
    await app.close();
    served.length = 0;
  });

  const answers = (): number => text.split('the answer').length - 1;

  it.each([
    ['a WebSocket', HANDSHAKE],
    ['another protocol', OFFER],
  ])('to %s closes a connection on which an answer is under way', async (_name, upgrade) => {
    client.write(PLAIN + upgrade);
    await waitFor('the close', () => client.destroyed, 10_000);
    await waitFor('the close at the server', () => served.every(({ destroyed }) => destroyed), 10_000);
  });

  it('is accepted on a connection whose answers are complete', async () => {
    client.write(PLAIN);
    await waitFor('the answer', () => answers() === 1);
    client.write(HANDSHAKE);
    await waitFor('the upgrade', () => text.includes('101 Switching Protocols'));
  });

  it('to another protocol leaves nothing on its connection', async () => {
    const listeners = async (): Promise<number> => {
      const before = answers();
      client.write(OFFER);
      await waitFor('the answer', () => answers() === before + 1);
      return served[0].listenerCount('close');
    };
    await once(client, 'connect');
    await listeners();
    const [second, third] = [await listeners(), await listeners()];
    expect(third).toBe(second);
  });
});
