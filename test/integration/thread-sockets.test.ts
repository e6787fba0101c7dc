import { once } from 'node:events';
import { connect } from 'node:net';
import { Client } from '@langchain/langgraph-sdk';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import WebSocket from 'ws';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { OpenStreams } from '../../src/http/open-streams';
import { SecretBox } from '../../src/crypto/secret-box';
import { RunHeaders } from '../../src/runs/run-headers';
import { EventReader } from '../../src/streams/event-reader';
import { startTestApi, type TestApi, withApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { refusalOf, socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

const KEYS = { a: 'key-of-tenant-a-0123456789', b: 'key-of-tenant-b-0123456789' };
const LATER = { assistant_id: 'three', input: {}, config: {}, metadata: { marker: 'by socket' } };

const clientOf = ({ url }: TestApi, apiKey: string | null = null): Client =>
  new Client({ apiUrl: url, apiKey, callerOptions: { maxRetries: 0 } });

const createThread = async (api: TestApi, key?: string): Promise<string> =>
  (await clientOf(api, key).threads.create()).thread_id;

const socketsOf = ({ app }: TestApi): number => {
  const { openStreams } = app.getHttpAdapter().getInstance() as unknown as { openStreams: OpenStreams };
  return openStreams.count('events');
};

/** Number of readers of a thread's log. */
const readersOf = ({ app }: TestApi): number =>
  (app.get(EventReader, { strict: false }) as unknown as { watchers: Set<unknown> }).watchers.size;

/** Request headers that the graph of a run would get. */
async function cookieOf({ app, config }: TestApi, runId: string): Promise<string | undefined> {
  const [{ kwargs }]: [{ kwargs: { sealed_headers?: string } }] = await app
    .get<DataSource>(getDataSourceToken())
    .query('SELECT kwargs FROM runs WHERE run_id = $1', [runId]);
  const headers = new RunHeaders(app.get(SecretBox, { strict: false }));
  return headers.open(config.auth.defaultTenantId, runId, kwargs.sealed_headers).cookie;
}

describe('the WebSocket of a thread', () => {
  let api: TestApi;
  let thread: string;
  let url: string;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, GANTRY_BODY_LIMIT_BYTES: '100000' });
    thread = await createThread(api);
    url = socketUrl(api.url, thread);
  });

  afterAll(() => api?.close());

  it('answers invalid commands as HTTP does, and continues', async () => {
    const socket = await ThreadSocket.open(url);
    const malformed: [message: string | Buffer, id: number | null][] = [
      ['{', null],
      ['', null],
      ['[]', null],
      ['null', null],
      ['{"id":1,"method":"run.start","params":{"__proto__":{"x":1}}}', null],
      ['{"method":"state.get"}', null],
      ['{"id":-1,"method":"state.get"}', -1],
      ['{"id":7,"method":5}', 7],
      ['{"id":8,"method":"state.get","params":[]}', 8],
      [Buffer.from([0, 1, 2]), null],
    ];
    for (const [message, id] of malformed) {
      const reply = await socket.say(message, id);
      expect([message, reply]).toEqual([
        message,
        { type: 'error', id, error: 'invalid_argument', message: expect.any(String) },
      ]);
    }
    for (const method of ['dance', 'constructor', 'toString', '__proto__']) {
      expect(await socket.command(method)).toMatchObject({ type: 'error', error: 'unknown_command' });
    }
    expect(await socket.command('state.get', { namespace: 5 })).toMatchObject({ error: 'invalid_argument' });
    expect(await socket.command('agent.getTree')).toMatchObject({ error: 'no_such_run' });
    expect(await socket.command('subscription.subscribe', {})).toMatchObject({ error: 'invalid_argument' });
    expect(await socket.command('subscription.subscribe', { channels: ['nothing'] })).toMatchObject({
      error: 'invalid_argument',
      message: expect.stringContaining('channels'),
    });
    expect(await socket.command('subscription.unsubscribe', { subscription_id: 'none' })).toMatchObject({
      error: 'no_such_subscription',
    });
    expect(await socket.say(Buffer.from('{"id":900,"method":"state.get"}'), 900)).toMatchObject({
      type: 'success',
      result: { values: expect.any(Object) },
    });
    await socket.close();
  });

  it('answers commands in order, and their runs are those of HTTP', async () => {
    const socket = await ThreadSocket.open(url);
    const replies = await Promise.all([
      socket.command('run.start', LATER),
      socket.command('state.get'),
      socket.command('agent.getTree'),
    ]);
    expect(socket.received).toEqual(replies);
    const [{ result }] = replies;
    const run = await clientOf(api).runs.get(thread, String(result?.run_id));
    expect(run).toMatchObject({ status: 'pending', metadata: { marker: 'by socket' } });
    await socket.close();
  });

  it('can be opened for a thread that does not exist yet, and emits nothing before it does', async () => {
    const fresh = uuidv7();
    const socket = await ThreadSocket.open(socketUrl(api.url, fresh));
    expect(await socket.command('subscription.subscribe', { channels: ['values'] })).toMatchObject({
      type: 'success',
      result: { replayed_events: 0 },
    });
    expect(await socket.command('state.get')).toMatchObject({ type: 'error', message: expect.stringContaining('not') });
    expect(await socket.command('run.start', LATER)).toMatchObject({ type: 'success' });
    expect(await socket.subscribe({ channels: ['values'] })).not.toBe('');
    await socket.close();
  });

  it('refuses over HTTP what only a socket can do', async () => {
    const response = await fetch(`${api.url}/threads/${thread}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, method: 'subscription.subscribe', params: { channels: ['values'] } }),
    });
    expect([response.status, await response.json()]).toEqual([
      200,
      { type: 'error', id: 1, error: 'not_supported', message: expect.any(String) },
    ]);
  });

  it('closes after a message that is larger than a body may be', async () => {
    const { socket } = await ThreadSocket.open(url);
    socket.send(' '.repeat(100_001));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1009);
    const other = await ThreadSocket.open(url);
    expect((await other.say(`{"id":1,"method":"state.get"}${' '.repeat(99_971)}`, 1)).type).toBe('success');
    await other.close();
  });

  it('limits the number of subscriptions', async () => {
    const socket = await ThreadSocket.open(url);
    for (let count = 0; count < 100; count += 1) await socket.subscribe({ channels: ['values'] });
    expect(await socket.command('subscription.subscribe', { channels: ['values'] })).toMatchObject({
      error: 'not_supported',
    });
    await socket.close();
  });

  it('reads the thread once for all subscriptions, and stops when the last one or the client is gone', async () => {
    await waitFor('the others to be gone', () => socketsOf(api) === 0 && readersOf(api) === 0);
    const socket = await ThreadSocket.open(url);
    const ids = [await socket.subscribe({ channels: ['values'] }), await socket.subscribe({ channels: ['updates'] })];
    await waitFor('one reader', () => readersOf(api) === 1);
    for (const id of ids) {
      expect(await socket.command('subscription.unsubscribe', { subscription_id: id })).toMatchObject({ result: {} });
    }
    await waitFor('no reader', () => readersOf(api) === 0);
    expect([socketsOf(api), socket.isOpen]).toEqual([1, true]);

    await socket.subscribe({ channels: ['values'] });
    await waitFor('a reader', () => readersOf(api) === 1);
    // No closing handshake: the client's process was killed.
    socket.socket.terminate();
    await waitFor('nobody', () => socketsOf(api) === 0 && readersOf(api) === 0);
  });

  it('is counted by the metrics as a socket', async () => {
    const socket = await ThreadSocket.open(url);
    const metrics = async (): Promise<string> => (await fetch(`${api.url}/metrics`)).text();
    expect(await metrics()).toMatch(/gantry_stream_subscribers\{kind="events"\} 1\n/);
    await socket.close();
    await waitFor('the count', async () =>
      (await metrics()).includes(
        'gantry_http_requests_total{method="GET",route="/threads/:thread_id/stream/events",status="101"}',
      ),
    );
  });

  it('exists at no other address, and this address serves nothing else', async () => {
    const plain = await fetch(url.replace('ws', 'http'));
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
    const root = api.url.replace('http', 'ws');
    expect((await refusalOf(`${root}/threads/${thread}`)).status).toBe(400);
    expect((await refusalOf(`${root}/no/such/path`)).status).toBe(404);
    expect((await refusalOf(`${root}/threads/search`)).status).toBe(400);
    expect((await refusalOf(`${root}/threads/${thread}/commands`)).status).toBe(405);
    expect((await refusalOf(socketUrl(api.url, 'no-uuid'))).status).toBe(422);
  });

  it('ignores other protocols that clients offer in their request', async () => {
    const { port, hostname } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ id: 1, method: 'state.get' });
    const request = (path: string): string =>
      [
        `POST ${path} HTTP/1.1`,
        `Host: ${hostname}`,
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        '',
      ].join('\r\n');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    // The second one with its body in another packet, on the connection of the first.
    socket.write(request(`/threads/${thread}/commands`) + body);
    await waitFor('the first answer', () => text.endsWith('}'));
    socket.write(request(`/threads/${thread}/commands`));
    socket.write(body);
    await waitFor('the second answer', () => text.split('HTTP/1.1 200 OK').length === 3 && text.endsWith('}'));
    expect(text.split('"type":"success"')).toHaveLength(3);
    socket.destroy();
  });

  it('reports that the server is stopping, and does not wait for clients that do not answer', async () => {
    const own = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    const [polite, silent] = await Promise.all(
      [0, 1].map(() => ThreadSocket.open(socketUrl(own.url, '0198aaaa-0000-7000-8000-000000000000'))),
    );
    const closed = once(polite.socket, 'close');
    silent.socket.pause();
    await own.close();
    expect((await closed)[0]).toBe(1001);
    silent.socket.terminate();
  });
});

describe('permission to open it', () => {
  let api: TestApi;
  let thread: string;
  let url: string;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, GANTRY_AUTH: 'on' });
    const database = api.app.get<DataSource>(getDataSourceToken());
    const keys = api.app.get(ApiKeysService, { strict: false });
    for (const name of ['a', 'b'] as const) {
      const tenantId = uuidv7() as TenantId;
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
      await keys.register(tenantId, name, KEYS[name]);
    }
    thread = await createThread(api, KEYS.a);
    url = socketUrl(api.url, thread);
  });

  afterAll(() => api?.close());

  const as = (key: string, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': key, ...more } });

  it('is checked before the upgrade, with the errors of HTTP', async () => {
    const missing = await refusalOf(url);
    expect([missing.status, JSON.parse(missing.text)]).toEqual([
      401,
      { detail: expect.stringContaining('X-API-Key'), code: 'missing_api_key' },
    ]);
    expect(missing.headers['www-authenticate']).toContain('X-API-Key');
    expect((await refusalOf(url, as('a-key-of-nobody'))).status).toBe(401);
    expect((await refusalOf(url, as(KEYS.a, { 'x-tenant-id': uuidv7() }))).status).toBe(403);
    // A caller without permission doesn't learn whether the thread exists.
    expect((await refusalOf(socketUrl(api.url, 'no-uuid'))).status).toBe(401);
    // Browsers show pages no status.
    const page = await ThreadSocket.open(url, { origin: api.url });
    const [code, reason] = (await once(page.socket, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([4401, expect.stringContaining('X-API-Key')]);
    expect(socketsOf(api)).toBe(0);
  });

  it('treats the thread of another tenant like one that does not exist', async () => {
    const answers: unknown[] = [];
    for (const asked of [thread, uuidv7()]) {
      const socket = await ThreadSocket.open(socketUrl(api.url, asked), as(KEYS.b));
      const replies = [
        await socket.command('subscription.subscribe', { channels: ['values'] }),
        await socket.command('state.get'),
        await socket.command('agent.getTree'),
        await socket.command('input.respond', { interrupt_id: 'any', response: 1 }),
      ];
      expect(replies.map(({ type }) => type)).toEqual(['success', 'error', 'error', 'error']);
      const id = String(replies[0].result?.subscription_id);
      answers.push(
        JSON.parse(JSON.stringify(replies).replaceAll(asked, 'the thread').replaceAll(id, 'the subscription')),
      );
      await socket.close();
    }
    expect(answers[0]).toEqual(answers[1]);
    const socket = await ThreadSocket.open(url, as(KEYS.b));
    // A run on it is one on a thread of the caller's own that has the same id.
    expect(await socket.command('run.start', LATER)).toMatchObject({ type: 'success' });
    await socket.close();
    expect(await clientOf(api, KEYS.b).runs.list(thread)).toHaveLength(1);
    expect(await clientOf(api, KEYS.a).runs.list(thread)).toEqual([]);
    const own = await ThreadSocket.open(url, as(KEYS.a));
    expect(await own.command('state.get')).toMatchObject({ type: 'success' });
    await own.close();
  });
});

it('each command of a socket counts as a request', async () => {
  const env = { GANTRY_AUTH: 'on', GANTRY_API_KEY: KEYS.a, GANTRY_RATE_LIMIT_PER_SECOND: '0.5' };
  await withApi({ env }, async (api) => {
    const options = { headers: { 'x-api-key': KEYS.a } };
    const socket = await ThreadSocket.open(socketUrl(api.url, uuidv7()), options);
    const refused = await waitFor('the refusal', async () => {
      const reply = await socket.command('agent.getTree');
      return reply.error === 'permission_denied' && reply;
    });
    expect(refused.message).toContain('Too many requests');
    expect(socket.isOpen).toBe(true);
    // Unless a second has begun in which one is allowed.
    await waitFor('a refused handshake', async () => {
      const refusal = await refusalOf(socketUrl(api.url, uuidv7()), options).catch((error: Error) => {
        if (error.message !== 'The handshake was not refused') throw error;
      });
      return refusal?.status === 429;
    });
    socket.socket.terminate();
  });
});

describe('pages of browsers', () => {
  const PAGE = 'https://chat.example';
  const cors = { allow_origins: [PAGE], allow_origin_regex: 'https://[a-z]+\\.preview\\.example' };

  const openAs = async (api: TestApi, origin: string, more: Record<string, string> = {}): Promise<void> => {
    const socket = await ThreadSocket.open(socketUrl(api.url, uuidv7()), { headers: { origin, ...more } });
    await socket.close();
  };

  it('are admitted with a key from any origin where http.cors names none', () =>
    withApi({ env: { GANTRY_AUTH: 'on', GANTRY_API_KEY: KEYS.a } }, async (api) => {
      for (const origin of [PAGE, api.url, 'null']) await openAs(api, origin, { 'x-api-key': KEYS.a });
    }));

  it('are refused where http.cors names others, and the server’s own are not', () =>
    withApi({ http: { cors } }, async (api) => {
      for (const origin of [PAGE, 'https://one.preview.example', api.url]) await openAs(api, origin);
      for (const origin of ['https://evil.example', 'https://one.preview.example.evil.test', 'null', 'x']) {
        const { status, text } = await refusalOf(socketUrl(api.url, uuidv7()), { headers: { origin } });
        expect([origin, status, JSON.parse(text)]).toEqual([
          origin,
          403,
          { detail: expect.any(String), code: 'origin_not_allowed' },
        ]);
      }
    }));

  it.each([
    [true, 'remembered'],
    [false, undefined],
  ])('send their browser’s credentials where http.cors has allow_credentials: %s', (allowed, cookie) =>
    withApi(
      { http: { cors: { ...cors, allow_credentials: allowed }, configurable_headers: { includes: ['cookie'] } } },
      async (api) => {
        const seen: (string | undefined)[] = [];
        for (const origin of [PAGE, api.url]) {
          const options = { headers: { origin, cookie: 'remembered' } };
          const socket = await ThreadSocket.open(socketUrl(api.url, uuidv7()), options);
          const { result } = await socket.command('run.start', LATER);
          await socket.close();
          seen.push(await cookieOf(api, String(result?.run_id)));
        }
        expect(seen).toEqual([cookie, 'remembered']);
      },
    ),
  );
});

describe('the address', () => {
  it('is below http.mount_prefix, and in both spellings', () =>
    withApi({ http: { mount_prefix: '/agents/v1' } }, async (api) => {
      const fresh = uuidv7();
      expect((await refusalOf(socketUrl(api.url, fresh))).status).toBe(404);
      const below = socketUrl(`${api.url}/agents/v1`, fresh);
      for (const url of [below, below.replace('/threads/', '/thread/')]) await (await ThreadSocket.open(url)).close();
    }));

  it.each([
    ['FF_V2_EVENT_STREAMING=false', { env: { FF_V2_EVENT_STREAMING: 'false' } }],
    ['FF_V2_EVENT_STREAMING=0', { env: { FF_V2_EVENT_STREAMING: '0' } }],
    ['FF_V2_EVENT_STREAMING=off', { env: { FF_V2_EVENT_STREAMING: 'off' } }],
    ['http.disable_event_streaming', { http: { disable_event_streaming: true } }],
  ])('does not exist with %s, and neither do the other routes', (_name, options) =>
    withApi(options, async (api) => {
      const thread = await createThread(api);
      const { status, text } = await refusalOf(socketUrl(api.url, thread));
      expect([status, text]).toEqual([404, 'Not Found']);
      for (const [path, body] of [
        ['commands', { id: 1, method: 'state.get' }],
        ['stream/events', { channels: ['values'] }],
      ] as const) {
        const response = await fetch(`${api.url}/threads/${thread}/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect([path, response.status, await response.text()]).toEqual([path, 404, 'Not Found']);
      }
      const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: Record<string, object> };
      expect(Object.keys(paths).filter((path) => /commands|stream\/events/.test(path))).toEqual([]);
      expect(await clientOf(api).threads.get(thread)).toMatchObject({ thread_id: thread });
    }),
  );

  it('exists with FF_V2_EVENT_STREAMING=true', () =>
    withApi({ env: { FF_V2_EVENT_STREAMING: 'true' } }, async (api) => {
      const socket = await ThreadSocket.open(socketUrl(api.url, uuidv7()));
      expect(socket.socket.readyState).toBe(WebSocket.OPEN);
      await socket.close();
    }));
});
