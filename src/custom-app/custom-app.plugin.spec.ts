import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { WebSocketServer } from 'ws';
import { waitFor } from '../../test/support/wait-for';
import { Connections } from '../http/connections';
import { OpenStreams } from '../http/open-streams';
import { acceptWebSockets } from '../http/web-sockets';
import { APP_SOCKET_PATH, serveCustomApp } from './custom-app.plugin';
import { CustomRoutes } from './custom-routes';

const MAX_REQUESTS = 5;
const HANDSHAKE_HEADERS =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n';

describe('requests for the app', () => {
  let folder: string;
  let app: FastifyInstance;
  /** The app's own server. */
  let upstream: Server;
  let sockets: WebSocketServer;
  const atApp = new Set<ServerResponse>();
  const clients: Socket[] = [];
  let admit: () => Promise<void>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-test-'));
    const socketPath = join(folder, 'http.sock');
    upstream = createServer((request, response) => {
      if (request.url === '/quick') return response.end('quick');
      if (request.url === '/dies') return request.socket.destroy();
      atApp.add(response);
      response.once('close', () => atApp.delete(response));
      if (request.url === '/events') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hi\n\n');
    });
    sockets = new WebSocketServer({ server: upstream });
    await new Promise<void>((resolve) => upstream.listen(socketPath, resolve));
    admit = () => Promise.resolve();
    app = fastify({ forceCloseConnections: true });
    app.decorate('openStreams', new OpenStreams());
    app.decorate('connections', new Connections(app.server));
    await acceptWebSockets(app, { origins: [], credentials: false }, 1_000);
    const custom = {
      base: `unix+http://${encodeURIComponent(socketPath)}/`,
      socketPath,
      routes: new CustomRoutes(undefined),
    };
    await serveCustomApp(app, custom, () => admit(), MAX_REQUESTS);
    await app.listen({ port: 0 });
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await app.close();
    upstream.closeAllConnections();
    upstream.close();
    rmSync(folder, { recursive: true });
  });

  const connections = (): Promise<number> =>
    new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));

  function ask(path: string, headers = ''): Socket {
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined).resume();
    client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`);
    clients.push(client);
    return client;
  }

  const quick = (): Promise<Response> => fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/quick`);

  it.each(['/events', '/silent'])('are refused beyond a limit, until clients of others leave: %s', async (path) => {
    for (let count = 1; count < MAX_REQUESTS; count += 1) ask(path);
    await waitFor('the others at the app', () => atApp.size === MAX_REQUESTS - 1);
    expect((await quick()).status).toBe(200);
    ask(path);
    await waitFor('the last one at the app', () => atApp.size === MAX_REQUESTS);
    const refused = await quick();
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '1',
      { code: 'custom_app_unavailable', detail: expect.any(String) },
    ]);
    for (const client of clients) client.destroy();
    await waitFor('the abort of all', () => atApp.size === 0, 10_000);
    expect(await (await quick()).text()).toBe('quick');
  });

  it('are to be sent again only if the app cannot have done what they ask for', async () => {
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/dies`;
    const ask = async (method: string): Promise<unknown> => {
      const answer = await fetch(url, { method, ...(method === 'POST' && { body: 'x' }) });
      return [answer.status, answer.headers.get('retry-after'), ((await answer.json()) as { code: string }).code];
    };
    const again = [503, '1', 'custom_app_unavailable'];
    expect(await ask('GET')).toEqual(again);
    expect(await ask('POST')).toEqual([502, null, 'custom_app_broken_off']);
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    expect(await ask('POST')).toEqual(again);
  });

  it('are not waited for when their client leaves while it is checked whether they may pass', async () => {
    const allowed = Promise.withResolvers<void>();
    let asked = 0;
    admit = () => {
      asked += 1;
      return allowed.promise;
    };
    for (let count = 0; count < MAX_REQUESTS; count += 1) ask('/silent');
    await waitFor('the checks', () => asked === MAX_REQUESTS);
    for (const client of clients) client.destroy();
    await waitFor('the clients to be gone', async () => (await connections()) === 0);
    allowed.resolve();
    expect((await quick()).status).toBe(200);
    expect(atApp.size).toBe(0);
  });

  it('open no WebSocket for a client that has left meanwhile', async () => {
    let isAsked = false;
    const allowed = Promise.withResolvers<void>();
    admit = () => {
      isAsked = true;
      return allowed.promise;
    };
    const opened: string[] = [];
    sockets.on('connection', (_socket, { url }) => opened.push(url!));
    const left = ask(`${APP_SOCKET_PATH}/left`, HANDSHAKE_HEADERS);
    await waitFor('the check', () => isAsked);
    left.resetAndDestroy();
    await waitFor('the client to be gone', async () => (await connections()) === 0);
    allowed.resolve();
    // What would have been opened comes before this one.
    ask(`${APP_SOCKET_PATH}/stays`, HANDSHAKE_HEADERS);
    await waitFor('a WebSocket', () => opened.includes('/stays'));
    expect(opened).toEqual(['/stays']);
  });
});
