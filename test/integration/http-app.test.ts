import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { pythonForGraphs } from '../support/python';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const FOLDER = join(__dirname, '..', 'support', 'apps');
const APPS = join(FOLDER, 'hono-app.ts');
const PYTHON_APPS = join(FOLDER, 'fastapi_app.py');
/** The same routes in both languages. */
const LANGUAGES: [language: string, app: string][] = [
  ['TypeScript', `${APPS}:app`],
  ['Python', `${PYTHON_APPS}:app`],
];
const API_KEY = `gtry_${'k'.repeat(43)}`;

interface Served {
  api: TestApi;
  config: TemporaryConfig;
}

async function serve(
  http: Record<string, unknown>,
  env: Record<string, string> = {},
  sections: Record<string, unknown> = {},
): Promise<Served> {
  const config = temporaryConfig({ http, ...sections });
  return { api: await startTestApi({ ...environment(config), ...env }), config };
}

const environment = ({ path }: TemporaryConfig): Record<string, string> => ({
  GANTRY_CONFIG: path,
  GANTRY_PYTHON: pythonForGraphs(),
});

async function discard(served: Served | undefined): Promise<void> {
  await served?.api.close();
  served?.config.remove();
}

/** Asks for a target exactly as it is spelled, which `fetch` would normalise. */
const statusAs = (url: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const call = request({ hostname, port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    call.once('error', reject);
    call.end();
  });

/** Sends bytes as they are; resolves to all that is answered until the server has nothing more to say, or closes. */
const answersTo = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    // Another request, which ends the connection where the ones before it have left one.
    socket.end(`${bytes}GET /hello/last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject).once('close', () => resolve(text));
  });

const json = async (response: Response): Promise<unknown> => response.json();

/** Uploads a body in a request with headers that `fetch` doesn't send; resolves to the status and what is answered. */
const upload = (
  url: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<[status: number, answer: Buffer]> =>
  new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers: { 'content-length': body.length, ...headers }, agent: false });
    call.once('error', reject).once('response', (response) => {
      void response
        .toArray()
        .then((chunks) => resolve([response.statusCode!, Buffer.concat(chunks as Buffer[])]), reject);
    });
    if (headers.expect === undefined) call.end(body);
    else call.once('continue', () => call.end(body)).flushHeaders();
  });

/** Sends a request as it is spelled; resolves to the answer's text when the server closes the connection. */
const answerUntilClosed = (url: string, line: string, headers: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.write(`${line}\r\nhost: localhost\r\n${headers}\r\n`);
    socket.setTimeout(4_000, () => socket.destroy(new Error('The connection stays open')));
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject).once('end', () => resolve(text));
  });

const SMUGGLED = 'GET /hello/smuggled HTTP/1.1\r\nhost: x\r\n\r\n';
const LENGTH = `content-length: ${SMUGGLED.length}\r\n`;
const CHUNKED = `0\r\n\r\n${SMUGGLED}`;
const post = (headers: string, body: string): string => `POST /echo HTTP/1.1\r\nhost: x\r\n${headers}\r\n${body}`;

/** Requests whose end two parsers may see in different places. */
const AMBIGUOUS: Record<string, string> = {
  'a body of a GET': `GET /hello/first HTTP/1.1\r\nhost: x\r\n${LENGTH}\r\n${SMUGGLED}`,
  'a body of a HEAD': `HEAD /hello/first HTTP/1.1\r\nhost: x\r\n${LENGTH}\r\n${SMUGGLED}`,
  'a body of a GET for the API': `GET /threads/x HTTP/1.1\r\nhost: x\r\n${LENGTH}\r\n${SMUGGLED}`,
  'two lengths': post(`content-length: 0\r\n${LENGTH}`, SMUGGLED),
  'a length and chunks': post(`content-length: 0\r\ntransfer-encoding: chunked\r\n`, CHUNKED),
  'chunks of another case': post(`${LENGTH}transfer-encoding: xchunked\r\n`, SMUGGLED),
  'chunks, and another encoding': post('transfer-encoding: chunked, identity\r\n', CHUNKED),
  'a space before the colon': post('content-length : 0\r\n', SMUGGLED),
  'a folded header': post(`x: y\r\n transfer-encoding: chunked\r\ncontent-length: 0\r\n z\r\n`, SMUGGLED),
  'a bare line feed': post(`x: y\ntransfer-encoding: chunked\r\n`, CHUNKED),
  'a length with a sign': post('content-length: +0\r\n', SMUGGLED),
  'a chunk with a sign': post('transfer-encoding: chunked\r\n', `+0\r\n\r\n${SMUGGLED}`),
  'a length that the connection hides': post(`connection: content-length\r\n${LENGTH}`, SMUGGLED),
  'an upgrade': post(`connection: upgrade\r\nupgrade: h2c\r\n${LENGTH}`, SMUGGLED),
  'a promise to wait': post(`expect: 100-continue\r\n${LENGTH}`, SMUGGLED),
};

describe.each(LANGUAGES)('http.app in %s', (_language, app) => {
  let served: Served;
  let url: string;

  beforeAll(async () => {
    served = await serve({ app });
    ({ url } = served.api);
  });

  afterAll(() => discard(served));

  it('serves routes of its own beside the API', async () => {
    const own = await fetch(`${url}/hello/you?x=1`);
    expect(await json(own)).toEqual({ hello: 'you', url: `${url}/hello/you?x=1` });
    expect(own.headers.get('x-own-middleware')).toBe('yes');
    expect(own.headers.get('x-request-id')).toBeTruthy();
    const theirs = await fetch(`${url}/threads`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(await json(theirs)).toMatchObject({ status: 'idle' });
    expect(theirs.headers.get('x-own-middleware')).toBe('yes');
  });

  it('passes on no forwarding headers of a client that is no trusted proxy', async () => {
    const sent = {
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-host': 'agents.example.com',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/agents',
      'x-real-ip': '203.0.113.7',
      forwarded: 'for=203.0.113.7;host=agents.example.com',
    };
    const seen = (await json(await fetch(`${url}/headers`, { headers: sent }))) as Record<string, string>;
    const { host } = new URL(url);
    expect(seen).toMatchObject({ host, 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
    expect(
      Object.keys(seen)
        .filter((name) => name in sent)
        .sort(),
    ).toEqual(['x-forwarded-for', 'x-forwarded-proto']);
  });

  it('passes bodies of any type unread, and returns redirects and errors as the app does', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 123]);
    const echo = await fetch(`${url}/echo`, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/x-own' },
    });
    expect(Buffer.from(await echo.arrayBuffer())).toEqual(bytes);
    expect(echo.headers.get('x-type')).toBe('application/x-own');
    const text = '{"not": parsed';
    const asJson = await fetch(`${url}/echo`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    expect(await asJson.text()).toBe(text);
    const redirect = await fetch(`${url}/redirect`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/hello/you']);
    expect((await fetch(`${url}/broken`)).status).toBe(500);
  });

  it('takes uploads with headers of the connection, for its routes and for the API', async () => {
    const bytes = Buffer.alloc(1_500_000, 'x');
    for (const [name, value] of [
      ['expect', '100-continue'],
      ['keep-alive', '300'],
      ['keep-alive', 'timeout=5'],
    ]) {
      const [status, echo] = await upload(`${url}/echo`, { [name]: value }, bytes);
      expect([status, echo.equals(bytes)]).toEqual([200, true]);
    }
    const thread = Buffer.from(JSON.stringify({ metadata: { text: 'x'.repeat(1_500_000) } }));
    const type = { 'content-type': 'application/json', expect: '100-continue' };
    expect((await upload(`${url}/threads`, type, thread))[0]).toBe(200);
  });

  it('passes requests without a body on to the API', async () => {
    const headers = { 'content-type': 'application/json' };
    const made = await json(await fetch(`${url}/threads`, { method: 'POST', body: '{}', headers }));
    const copy = new URL(`/threads/${(made as { thread_id: string }).thread_id}/copy`, url).href;
    // `fetch` says that the length is 0; without a length there is no body either.
    expect((await fetch(copy, { method: 'POST' })).status).toBe(200);
    const line = `POST ${new URL(copy).pathname} HTTP/1.1`;
    expect(await answerUntilClosed(url, line, 'connection: close\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each(['a=100%', 'a=caf%E9', 'a=../b', 'r=https://x/..', 'a=/../..', 'a=%2e%2e/', 'a=x?y', ''])(
    'passes on a query as it is: %s',
    async (query) => {
      const own = await json(await fetch(`${url}/hello/you?${query}`));
      expect(own).toEqual({ hello: 'you', url: `${url}/hello/you${query && `?${query}`}` });
      const unknown = '00000000-0000-4000-8000-000000000000';
      expect((await fetch(`${url}/threads/${unknown}?${query}`)).status).toBe(404);
    },
  );

  it.each([
    ['1.0', ''],
    ['1.1', 'connection: close\r\n'],
  ])('closes the connection of a client that wants it closed, in HTTP/%s', async (version, headers) => {
    const text = await answerUntilClosed(url, `GET /hello/you HTTP/${version}`, headers);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).not.toMatch(/^(connection: keep-alive|keep-alive:)/im);
  });

  it('streams as the app writes', async () => {
    const reader = await SseReader.get(`${url}/stream`);
    const times: number[] = [];
    for await (const { event } of reader) if (event === 'tick') times.push(Date.now());
    expect(times).toHaveLength(3);
    // Not collected and sent at the end: the app pauses between them.
    expect(times[2] - times[0]).toBeGreaterThan(100);
  });

  it('aborts the request of a client that disconnects', async () => {
    const gone = new AbortController();
    const response = await fetch(`${url}/endless`, { signal: gone.signal });
    await response.body!.getReader().read();
    gone.abort();
    await waitFor('the abort in the app', async () => {
      const { aborted } = (await json(await fetch(`${url}/aborted`))) as { aborted: number };
      return aborted > 0;
    });
  });

  it('may replace /info and never /ok', async () => {
    expect(await json(await fetch(`${url}/info`))).toEqual({ mine: true });
    expect(await json(await fetch(`${url}/ok`))).toMatchObject({ ok: true });
    expect(await json(await fetch(`${url}/openapi.json`))).toMatchObject({ openapi: '3.1.0' });
  });

  it.each(Object.entries(AMBIGUOUS))('finds no second request in one with %s', async (_, bytes) => {
    const text = await answersTo(url, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 \d{3} /);
    expect(text).not.toContain('"hello":"smuggled"');
    // Nor does a connection to the app keep anything of it for the next one.
    const names = Array.from({ length: 4 }, (_name, index) => `next-${index}`);
    const next = await Promise.all(names.map((name) => fetch(`${url}/hello/${name}`).then(json)));
    expect(next).toMatchObject(names.map((name) => ({ hello: name })));
  });

  it('leaves paths without a route to the API, and cannot be reached at its internal address', async () => {
    expect((await fetch(`${url}/nothing/here`)).status).toBe(404);
    for (const inner of ['/.gantry/app/hello/you', '/.gantry/middleware/threads', '/.gantry/nowhere']) {
      const response = await fetch(`${url}${inner}`);
      expect([response.status, await response.text()]).toEqual([404, 'Not Found']);
    }
  });

  it('sends the security headers that it chose, and none of the API’s', async () => {
    const [own, api] = [await fetch(`${url}/hello/you`), await fetch(`${url}/threads/nothing`)];
    for (const name of ['content-security-policy', 'x-frame-options']) {
      expect([name, own.headers.has(name), api.headers.has(name)]).toEqual([name, false, true]);
    }
  });

  it('answers browser preflights for its routes', async () => {
    const response = await fetch(`${url}/hello/you`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('does not affect the API while its own code blocks', async () => {
    const blocked = fetch(`${url}/block`).then(() => 'blocked');
    const answered = fetch(`${url}/ok`).then(() => 'answered');
    expect(await Promise.race([blocked, answered])).toBe('answered');
    await blocked;
  });

  it('survives what it throws outside of a request', async () => {
    await fetch(`${url}/stray`);
    expect((await fetch(`${url}/hello/again`)).status).toBe(200);
  });

  it('is restarted when its thread ends; meanwhile its routes report so', async () => {
    await fetch(`${url}/die`);
    const meanwhile = await waitFor('the end of the thread', async () => {
      const response = await fetch(`${url}/hello/you`);
      return response.status === 200 ? undefined : response;
    });
    expect(meanwhile.status).toBe(503);
    expect(meanwhile.headers.get('retry-after')).toBe('1');
    expect((await fetch(`${url}/ok`)).status).toBe(200);
    await waitFor('the app again', async () => (await fetch(`${url}/hello/you`)).status === 200);
  });
});

describe('http.app in Python, as FastAPI and Starlette parse it', () => {
  const key = { headers: { 'x-api-key': API_KEY } };
  const auth = { GANTRY_AUTH: 'on', GANTRY_API_KEY: API_KEY };
  /** Targets as the app itself reads them, each with its answer. */
  const ROUTES: Record<string, object> = {
    '/outer/inner/you': { inner: 'you' },
    '/late/you': { late: 'you' },
    '/mounted/you': { mounted: 'you' },
    '/files/a/b.txt': { path: 'a/b.txt' },
    '/files/': { path: '' },
    '/numbers/7': { number: 7 },
    '/numbers%2F7': { number: 7 },
    '/mounted%2fyou': { mounted: 'you' },
    '/mounted/x/%2e%2e/you': { mounted: 'you' },
    '/x/..%2Fouter/inner/you': { inner: 'you' },
    '/files/%2e%2E%2fstate': { resource: 'open' },
    '/out%65r/inner/y%6fu': { inner: 'you' },
    '/state': { resource: 'open' },
  };

  it.each([
    ['with middleware', {}],
    ['with authentication before the middleware', { middleware_order: 'auth_first' }],
  ])('requires a key wherever the app has a route, %s', async (_, more) => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-test-'));
    const notes = join(folder, 'notes');
    const served = await serve(
      { app: `${PYTHON_APPS}:app`, ...more },
      { ...auth, GANTRY_GRAPH_ENV: 'LIFESPAN_FILE', LIFESPAN_FILE: notes },
    );
    try {
      const { url } = served.api;
      for (const [path, answer] of Object.entries(ROUTES)) {
        expect([path, await statusAs(url, path)]).toEqual([path, 401]);
        expect([path, await json(await fetch(url + path, key))]).toEqual([path, answer]);
        // Only the API may say who the caller is.
        const forged = { headers: { 'x-gantry-caller': Buffer.from('{}').toString('base64url') } };
        expect((await fetch(url + path, forged)).status).toBe(401);
      }
      // The app's own redirect, for those who may see what is there.
      const slash = `${url}/outer/inner/you/`;
      expect((await fetch(slash, { redirect: 'manual' })).status).toBe(401);
      const redirect = await fetch(slash, { ...key, redirect: 'manual' });
      expect([redirect.status, redirect.headers.get('location')]).toEqual([307, `${url}/outer/inner/you`]);
      // Neither a number nor a method of the app's: the API is asked, and has no such route.
      expect((await fetch(`${url}/numbers/seven`, key)).status).toBe(404);
      expect((await fetch(`${url}/numbers/7`, { ...key, method: 'POST' })).status).toBe(404);
      // Its routes run in tasks of the middleware.
      expect((await fetch(`${url}/quit`, key)).status).toBe(500);
      expect((await fetch(`${url}/hello/you`, key)).status).toBe(200);
      // The API's own routes, through the middleware.
      const made = (await json(await fetch(`${url}/caller`, key))) as { thread_id: string };
      const thread = await fetch(`${url}/threads/${made.thread_id}`, key);
      expect(await json(thread)).toMatchObject({ metadata: { made_by: 'a route' } });
      expect([thread.headers.get('x-own-middleware'), thread.headers.get('x-gantry-caller')]).toEqual(['yes', null]);
      expect((await fetch(`${url}/threads/${made.thread_id}`)).status).toBe(401);
      // A route of WebSockets is none.
      expect((await fetch(`${url}/socket`, key)).status).toBe(404);
    } finally {
      await discard(served);
    }
    expect(readFileSync(notes, 'utf8')).toBe('started\nstopped\n');
    rmSync(folder, { recursive: true });
  });

  it('gives middleware the user with authentication before it, and counts a request once', async () => {
    const users = join(__dirname, '..', 'support', 'auth', 'auth.py');
    const served = await serve(
      { app: `${PYTHON_APPS}:app`, middleware_order: 'auth_first' },
      { GANTRY_RATE_LIMIT_PER_SECOND: '100' },
      { auth: { path: `${users}:auth` } },
    );
    try {
      const ask = async (path: string, body?: object): Promise<Response> =>
        fetch(served.api.url + path, {
          headers: { authorization: 'Bearer alice', 'content-type': 'application/json' },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        });
      const answers = [await ask('/threads/search', {}), await ask('/threads/count', {}), await ask('/numbers/7')];
      expect(answers.map(({ status, headers }) => [status, headers.get('x-user')])).toEqual([
        [200, 'alice'],
        [200, 'alice'],
        [200, 'alice'],
      ]);
      const [first, second] = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      expect(first - second).toBe(1);
      expect((await fetch(`${served.api.url}/info`)).headers.get('x-user')).toBeNull();
    } finally {
      await discard(served);
    }
  });

  it('requires a key where no spelling passes through middleware, and forwards no other request', async () => {
    const served = await serve({ app: `${PYTHON_APPS}:plain` }, auth);
    try {
      const { url } = served.api;
      expect(await json(await fetch(`${url}/hello/you`, key))).toEqual({ mounted: 'you' });
      const passed: unknown[] = [];
      for (const spelling of SPELLINGS) {
        const status = await statusAs(url, spelling);
        // Without its fragment it is `/`, which is the API's and open.
        if (status < 400 && !spelling.startsWith('/#')) passed.push([spelling, status]);
      }
      expect(passed).toEqual([]);
      expect((await fetch(`${url}/threads/x`, key)).headers.get('x-own-middleware')).toBeNull();
    } finally {
      await discard(served);
    }
  });
});

describe('http.app without a table of routes', () => {
  it('receives the requests for which the API has no route', async () => {
    const served = await serve({ app: `${APPS}:plain` });
    try {
      const { url } = served.api;
      expect(await (await fetch(`${url}/plain`)).text()).toBe('plain');
      const neither = await fetch(`${url}/neither`);
      expect([neither.status, await neither.text()]).toEqual([404, 'not mine']);
      expect(await json(await fetch(`${url}/info`))).toMatchObject({ flags: { assistants: true } });
    } finally {
      await discard(served);
    }
  });
});

/** Spellings of `/hello/:name`, one for each part that a target passes through. */
const SPELLINGS = [
  '/./hello/you',
  '/%2e/hello/you',
  '/hello/./you',
  '/x/../hello/you',
  '/x/%2e%2e/hello/you',
  '/x/.%2E/hello/you',
  '/x%2f..%2fhello/you',
  '/%252e/hello/you',
  '/hello\\you',
  '/x\\..\\hello/you',
  '/.\\hello/you',
  '\\hello/you',
  '/hello%5cyou',
  '/hello/a%2Fb',
  '/hello%2Fyou',
  '/hell%6f/you',
  '/hello/%ff',
  '/hello/you%',
  '//hello/you',
  '/hello//you',
  '/hello/you/',
  '/hello/you;x',
  '/hello/you?x=/../y',
  '/hello/you#x',
  '/#/../hello/you',
  '/threads/./../hello/you',
  '/api/../hello/you',
  '/docs/%2e%2e/hello/you',
  'http://x/./hello/you',
  'http://x\\hello\\you',
];

/** What only handlers answer which look like middleware, or which middleware dispatches a request to. */
const DISGUISED: Record<string, [path: string, init: RequestInit, answer: object][]> = {
  TypeScript: [
    ['/proxy/a', {}, { proxied: '/proxy/a' }],
    ['/proxy/a', { method: 'PUT' }, { proxied: '/proxy/a' }],
    ['/either/answer', {}, { answered: 'by a handler' }],
    ['/mounted/you', {}, { mounted: 'you' }],
    ['/items', { method: 'POST', headers: { 'x-method': 'DELETE' } }, { deleted: 'items' }],
    ['/threads/search', { method: 'POST', headers: { 'x-method': 'DELETE' } }, { deleted: 'threads' }],
  ],
  Python: [['/mounted/you', {}, { mounted: 'you' }]],
};

describe.each(LANGUAGES)('http.app in %s and authentication', (language, app) => {
  const auth = { GANTRY_AUTH: 'on', GANTRY_API_KEY: API_KEY };

  it('requires no key where enable_custom_route_auth is false, as on other servers of this API', async () => {
    const served = await serve({ app, enable_custom_route_auth: false }, auth);
    try {
      expect((await fetch(`${served.api.url}/hello/you`)).status).toBe(200);
      expect((await fetch(`${served.api.url}/threads/search`, { method: 'POST' })).status).toBe(401);
    } finally {
      await discard(served);
    }
  });

  it('requires a key by default', async () => {
    const served = await serve({ app }, auth);
    try {
      const { url } = served.api;
      for (const path of ['/hello/you', '/info']) expect((await fetch(url + path)).status).toBe(401);
      for (const [path, init, answer] of DISGUISED[language]) {
        expect([path, (await fetch(url + path, init)).status]).toEqual([path, 401]);
        const headers = { ...init.headers, 'x-api-key': API_KEY };
        expect(await json(await fetch(url + path, { ...init, headers }))).toEqual(answer);
      }
      // Middleware of an app in TypeScript may be a handler, which is asked only where the API would answer without it.
      expect((await fetch(`${url}/nothing`)).status).toBe(language === 'Python' ? 404 : 401);
      expect((await fetch(`${url}/nothing`, { headers: { 'x-api-key': API_KEY } })).status).toBe(404);
      expect((await fetch(`${url}/threads/search`, { method: 'POST' })).status).toBe(401);
      const allowed = await fetch(`${url}/hello/you`, { headers: { 'x-api-key': API_KEY } });
      expect(allowed.status).toBe(200);
      expect((await fetch(`${url}/ok`)).status).toBe(200);
      // Middleware is asked before the caller is known: no spelling of a route may pass for a path of middleware alone.
      const passed: unknown[] = [];
      for (const spelling of SPELLINGS) {
        const status = await statusAs(url, spelling);
        if (status < 400) passed.push([spelling, status]);
      }
      expect(passed).toEqual([]);
    } finally {
      await discard(served);
    }
  });
});

describe.each(LANGUAGES)('http.app in %s, with a trusted proxy in front', (_language, app) => {
  let served: Served;
  let plain: TestApi;

  beforeAll(async () => {
    const env = { GANTRY_TRUSTED_PROXIES: '127.0.0.1' };
    served = await serve({ app }, env);
    plain = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, ...env });
  });

  afterAll(async () => {
    await discard(served);
    await plain?.close();
  });

  /** What a client behind the proxy reads: the address of the agent, as its card has it. */
  const addressOn = async ({ url }: TestApi, forwarded: Record<string, string>): Promise<string> => {
    const response = await fetch(`${url}/a2a/three`, { headers: { 'a2a-version': '0.3', ...forwarded } });
    const card = (await response.json()) as { url: string };
    return card.url.replace(new URL(url).origin, '(the server)').replace(/[0-9a-f-]{36}$/, '(the assistant)');
  };

  it.each<[string, Record<string, string>, string]>([
    [
      'the proxy says',
      { 'x-forwarded-host': 'agents.example.com', 'x-forwarded-proto': 'https' },
      'https://agents.example.com',
    ],
    [
      'the proxy says of a host alone',
      { 'x-forwarded-host': 'agents.example.com:8080' },
      'http://agents.example.com:8080',
    ],
    [
      'the last proxy says',
      { 'x-forwarded-host': 'a.example, b.example', 'x-forwarded-proto': 'http, https' },
      'https://b.example',
    ],
    ['the request has', {}, '(the server)'],
  ])('does not change the address of the API, which is what %s', async (_, headers, origin) => {
    const forwarded = { 'x-forwarded-for': '203.0.113.7', ...headers };
    expect(await addressOn(plain, forwarded)).toBe(`${origin}/a2a/(the assistant)`);
    expect(await addressOn(served.api, forwarded)).toBe(`${origin}/a2a/(the assistant)`);
  });
});

describe('an http.app that cannot be served', () => {
  it.each([
    [`${APPS}:missing`, 'has no export "missing"'],
    [`${APPS}:notAnApp`, 'has no fetch method'],
    [`${PYTHON_APPS}:missing`, 'has no "missing"; it has to be an app of Starlette or FastAPI'],
    [`${PYTHON_APPS}:not_an_app`, 'is a value of the type dict; it has to be an app of Starlette or FastAPI'],
    [`${PYTHON_APPS}:fails_at_start`, 'its lifespan failed: RuntimeError: the database is away'],
  ])('prevents the start: %s', async (app, message) => {
    const config = temporaryConfig({ http: { app } });
    try {
      await expect(startTestApi(environment(config))).rejects.toThrow(message);
    } finally {
      config.remove();
    }
  });
});
