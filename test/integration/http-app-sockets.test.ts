import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import WebSocket, { type ClientOptions } from 'ws';
import { startTestApi, type TestApi, withApi } from '../support/api';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { pythonForGraphs } from '../support/python';
import { refusalOf } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

const APPS = join(__dirname, '..', 'support', 'apps', 'fastapi_app.py');
const API_KEY = `gtry_${'k'.repeat(43)}`;
const KEY = { headers: { 'x-api-key': API_KEY } };
const LIMIT_BYTES = 1024 * 1024;
/** Together 30 MB: far more than the system buffers for a connection, which is 10 MB at the most. */
const FLOOD = 300;
const FLOOD_BYTES = 100_000;

interface Message {
  data: Buffer;
  isBinary: boolean;
}

/** A socket of the app, and all that it has received. */
class Client {
  readonly received: Message[] = [];
  /** Headers with which the handshake was answered. */
  headers: IncomingMessage['headers'] = {};
  readonly closed: Promise<{ code: number; reason: string }>;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer, isBinary) => this.received.push({ data, isBinary }));
    socket.on('upgrade', ({ headers }) => (this.headers = headers));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
    );
  }

  static async open(url: string, protocols: string[] = [], options: ClientOptions = KEY): Promise<Client> {
    const client = new Client(new WebSocket(url, protocols, options));
    await once(client.socket, 'open');
    await waitFor('the first message', () => client.received.length > 0);
    return client;
  }

  get greeting(): { names: string[]; query: string } {
    return JSON.parse(this.received[0].data.toString()) as { names: string[]; query: string };
  }
}

describe('the WebSockets of an http.app in Python', () => {
  let api: TestApi;
  let config: TemporaryConfig;
  let url: string;

  beforeAll(async () => {
    config = temporaryConfig({ http: { app: `${APPS}:app`, cors: { allow_origins: ['https://pages.example'] } } });
    api = await startTestApi({
      GANTRY_CONFIG: config.path,
      GANTRY_PYTHON: pythonForGraphs(),
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: API_KEY,
      GANTRY_BODY_LIMIT_BYTES: String(LIMIT_BYTES),
      GANTRY_STREAMS_PER_KEY: '2',
    });
    url = api.url.replace('http', 'ws');
  });

  afterAll(async () => {
    await api?.close();
    config?.remove();
  });

  it('pass text and binary messages of the size that the API takes, in order', async () => {
    const client = await Client.open(`${url}/socket?x=1:2`);
    expect(client.greeting.query).toBe('x=1:2');
    // The app reads who asks from a header that it doesn't show.
    expect(client.greeting.names).toEqual(expect.arrayContaining(['x-api-key', 'x-request-id', 'x-forwarded-for']));
    expect(client.greeting.names).not.toContain('x-gantry-caller');
    const sent = [Buffer.from('grüß'), Buffer.alloc(LIMIT_BYTES, 7), Buffer.alloc(LIMIT_BYTES, 8), Buffer.from('')];
    sent.forEach((data, index) => client.socket.send(data, { binary: index % 2 === 1 }));
    await waitFor('the answers', () => client.received.length === sent.length + 1);
    client.received.slice(1).forEach(({ data, isBinary }, index) => {
      expect([index, isBinary, data.equals(sent[index])]).toEqual([index, index % 2 === 1, true]);
    });
    client.socket.close(4999, 'done');
    expect((await client.closed).code).toBe(4999);
    await waitFor('the close in the app', async () =>
      ((await (await fetch(`${api.url}/closes`, KEY)).json()) as number[]).includes(4999),
    );
  });

  it('have the subprotocol, the headers and the close code that the app chooses', async () => {
    const client = await Client.open(`${url}/mounted/socket/you`, ['one', 'two']);
    expect(client.socket.protocol).toBe('two');
    expect(client.headers).toMatchObject({ 'set-cookie': ['a=1; HttpOnly', 'b=2'], 'x-seen': 'yes' });
    expect(client.headers).not.toHaveProperty('server');
    client.socket.send('close');
    expect(await client.closed).toEqual({ code: 4321, reason: 'as asked' });
  });

  it('are closed when a message is too long', async () => {
    const client = await Client.open(`${url}/socket`);
    client.socket.send(Buffer.alloc(LIMIT_BYTES + 1));
    expect((await client.closed).code).toBe(1009);
  });

  it('are read no faster than the other side takes the messages, in both directions', async () => {
    const client = await Client.open(`${url}/flood`);
    const { socket, received } = client;
    const still = async (what: string, count: () => number | Promise<number>): Promise<number> => {
      const counts: number[] = [];
      return waitFor(`${what} to stand still`, async () => {
        counts.push(await count());
        const last = counts.slice(-4);
        return last.length === 4 && new Set(last).size === 1 && last[0] > 0 && last[0];
      });
    };
    const counts = async () => (await (await fetch(`${api.url}/flood`, KEY)).json()) as { heard: number; said: number };

    // All that is not here is in memory, of the api or of the app.
    for (let index = 0; index < FLOOD; index += 1) socket.send(Buffer.alloc(FLOOD_BYTES));
    const unsent = await still('what the client sends', () => socket.bufferedAmount);
    expect(unsent).toBeGreaterThan((FLOOD * FLOOD_BYTES) / 2);

    socket.pause();
    await fetch(`${api.url}/flood/listen`, KEY);
    await waitFor('the app to have heard all', async () => (await counts()).heard === FLOOD);
    expect(await still('what the app says', async () => (await counts()).said)).toBeLessThan(FLOOD / 2);
    socket.resume();
    await client.closed;
    expect(received.slice(1).map(({ data }) => [data.length, data[0], data.at(-1)])).toEqual(
      Array.from({ length: FLOOD }, (_, index) => [FLOOD_BYTES, index % 256, index % 256]),
    );
  });

  it('need the credentials of the API, in any spelling, and no more than the allowed number', async () => {
    for (const path of ['/socket', '/mounted/socket/you', '/x/..%2Fsocket', '/sock%65t']) {
      expect([path, (await refusalOf(url + path)).status]).toEqual([path, 401]);
      const forged = { headers: { 'x-gantry-caller': Buffer.from('{}').toString('base64url') } };
      expect((await refusalOf(url + path, forged)).status).toBe(401);
    }
    const clients = [await Client.open(`${url}/socket`), await Client.open(`${url}/sock%65t`)];
    expect((await refusalOf(`${url}/socket`, KEY)).status).toBe(429);
    for (const { socket, closed } of clients) {
      socket.close();
      await closed;
    }
  });

  it('may be refused by the app, and are not found where it has no such route', async () => {
    await waitFor('the end of earlier streams', async () => {
      const { status } = await refusalOf(`${url}/socket?refuse`, KEY);
      return status === 403;
    });
    expect((await refusalOf(`${url}/numbers/seven`, KEY)).status).toBe(403);
    expect((await refusalOf(`${url}/nothing`, KEY)).status).toBe(404);
    // A route of HTTP is none.
    expect((await refusalOf(`${url}/hello/you`, KEY)).status).toBe(400);
  });

  it('are refused to pages of other origins', async () => {
    const allowed = await Client.open(`${url}/socket`, [], { ...KEY, origin: 'https://pages.example' });
    allowed.socket.close();
    await allowed.closed;
    expect((await refusalOf(`${url}/socket`, { ...KEY, origin: 'https://other.example' })).status).toBe(403);
  });

  it('end with the process of the app, and are there again with it', async () => {
    const client = await Client.open(`${url}/socket`);
    client.socket.send('die');
    expect((await client.closed).code).toBe(1011);
    const meanwhile = await refusalOf(`${url}/socket`, KEY);
    expect([meanwhile.status, meanwhile.headers['retry-after']]).toEqual([503, '1']);
    const again = await waitFor('the app again', () => Client.open(`${url}/socket`).catch(() => undefined));
    again.socket.close();
    await again.closed;
  });

  it('are closed when the server stops', async () => {
    const client = await Client.open(`${url}/socket`);
    await api.close();
    expect((await client.closed).code).toBe(1001);
  });
});

describe('the WebSockets of an app that is mounted at /', () => {
  const env = { GANTRY_PYTHON: pythonForGraphs(), GANTRY_AUTH: 'on', GANTRY_API_KEY: API_KEY };

  it('are those of any path, the API’s own too, where the app is of another library', () =>
    withApi({ env, http: { app: `${APPS}:at_root` } }, async (api) => {
      const url = api.url.replace('http', 'ws');
      for (const path of ['/', '/any/where', '/threads/x/stream/events']) {
        expect([path, (await refusalOf(url + path)).status]).toEqual([path, 401]);
        const client = await Client.open(`${url}${path}?x=1`);
        expect(client.greeting.query).toBe('x=1');
        client.socket.close();
        await client.closed;
      }
      expect((await refusalOf(`${url}/ok`, KEY)).status).toBe(400);
    }));

  it('are none where it serves files', () =>
    withApi({ env, http: { app: `${APPS}:files_at_root` } }, async (api) => {
      const url = api.url.replace('http', 'ws');
      const hosted = await Client.open(`${url}/hosted`, [], { headers: { ...KEY.headers, host: 'api.example' } });
      hosted.socket.close();
      await hosted.closed;
      // The mount takes every path, as a route of HTTP.
      expect((await refusalOf(`${url}/any/where`, KEY)).status).toBe(400);
    }));
});
