import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { startTestApi, type TestApi, withApi } from '../support/api';
import { refusalOf, socketUrl, ThreadSocket } from '../support/thread-socket';

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string | undefined>;
  body?: string;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A request with any `Host`, which `fetch` would not send. */
async function ask(api: TestApi, { method = 'POST', path = '/threads', headers, body = '{}' }: Sent): Promise<Answer> {
  const hasBody = method === 'POST';
  const sent = request(api.url + path, {
    method,
    headers: { ...(hasBody && { 'content-type': 'application/json' }), ...headers },
  });
  sent.end(hasBody ? body : undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode!, headers: response.headers, text: await text(response) };
}

const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };

async function threadsOf(api: TestApi): Promise<number> {
  const { text: found } = await ask(api, { path: '/threads/search' });
  return (JSON.parse(found) as unknown[]).length;
}

describe('an API without authentication', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(() => api?.close());

  it.each([
    ['http://localhost:3000', 'same-site'],
    ['http://127.0.0.1:5173', 'cross-site'],
    ['http://[::1]:8080', 'cross-site'],
    ['https://app.localhost', 'cross-site'],
    ['https://smith.langchain.com', 'cross-site'],
    ['https://eu.smith.langchain.com', 'cross-site'],
    ['https://apac.smith.langchain.com', 'cross-site'],
    ['https://aws.smith.langchain.com', 'cross-site'],
    ['https://agentchat.vercel.app', 'cross-site'],
  ])('accepts requests from pages of %s', async (origin, site) => {
    const headers = { origin, 'sec-fetch-site': site };
    const asked = { ...headers, ...PREFLIGHT, 'access-control-request-private-network': 'true' };
    const preflight = await ask(api, { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-private-network']).toBe('true');
    const answer = await ask(api, { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  const STRANGERS = [
    'https://evil.example',
    'http://evil.example:2024',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'https://smith.langchain.com.evil.example',
    'https://evil-smith.langchain.com',
    'http://smith.langchain.com',
    'https://smith.langchain.com:8443',
    'https://agentchat.vercel.app.evil.example',
    'https://evil.vercel.app',
    'http://0.0.0.0:2024',
    'http://192.168.0.1',
    'null',
    'file://',
    'http://localhost@evil.example',
    'x',
    '',
  ];

  it.each(STRANGERS)('refuses requests from pages of %j, whatever they send', async (origin) => {
    const before = await threadsOf(api);
    const sent: Sent[] = [
      {},
      { headers: { 'content-type': 'text/plain' } },
      { headers: { 'content-type': 'text/plain;charset=UTF-8', 'sec-fetch-site': 'cross-site' } },
      { headers: { 'sec-fetch-site': 'same-origin' } },
      { method: 'GET', path: '/info' },
      { method: 'GET', path: '/no/such/route' },
      { path: '/mcp' },
      { method: 'OPTIONS', headers: PREFLIGHT },
      { method: 'OPTIONS', headers: { ...PREFLIGHT, 'access-control-request-private-network': 'true' } },
    ];
    for (const each of sent) {
      const answer = await ask(api, { ...each, headers: { ...each.headers, origin } });
      expect([each, answer.status]).toEqual([each, 403]);
      expect(answer.headers['access-control-allow-private-network']).toBeUndefined();
      expect(answer.text).toContain('GANTRY_ALLOWED_ORIGINS');
    }
    const handshake = await refusalOf(socketUrl(api.url, uuidv7()), { headers: { origin } });
    expect(handshake.status).toBe(403);
    expect(await threadsOf(api)).toBe(before);
  });

  it('refuses requests without an origin from pages of other sites: images, scripts, forms, links', async () => {
    for (const method of ['GET', 'POST']) {
      for (const [mode, dest] of [
        ['no-cors', 'image'],
        ['no-cors', 'script'],
        ['navigate', 'document'],
        ['navigate', 'iframe'],
      ]) {
        const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
        const answer = await ask(api, { method, headers, path: method === 'GET' ? '/info' : '/threads' });
        expect([method, mode, dest, answer.status]).toEqual([method, mode, dest, 403]);
      }
    }
  });

  it.each([
    ['evil.example', 403],
    ['localhost.evil.example:2024', 403],
    ['0.0.0.0:2024', 403],
    ['192.168.0.1', 403],
    ['[::]:2024', 403],
    // No host at all.
    ['a b', 400],
    ['x@y', 400],
    ['localhost/x', 400],
  ])('refuses the host name %s, which a page may have been made to resolve to this machine', async (host, status) => {
    for (const headers of [{ host }, { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }]) {
      const answer = await ask(api, { headers });
      expect([headers, answer.status]).toEqual([headers, status]);
    }
    expect((await ask(api, { method: 'GET', path: '/openapi.json', headers: { host } })).status).toBe(status);
    const handshake = await refusalOf(socketUrl(api.url, uuidv7()), { headers: { host } });
    expect(handshake.status).toBe(status);
  });

  it.each([
    'localhost',
    'localhost:2024',
    'LOCALHOST:1',
    'gantry.localhost',
    '127.0.0.1:2024',
    '127.8.8.8',
    '[::1]:2024',
  ])('accepts the host name %s', async (host) => {
    expect((await ask(api, { headers: { host } })).status).toBe(200);
  });

  it('opens WebSockets to pages of this machine and to programs', async () => {
    for (const headers of [{}, { origin: 'http://localhost:3000' }] as Record<string, string>[]) {
      const socket = await ThreadSocket.open(socketUrl(api.url, uuidv7()), { headers });
      await socket.close();
    }
  });

  it('shows its own pages to users who follow a link to them, and runs what they try out', async () => {
    const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    for (const path of ['/docs', '/openapi.json', '/console', '/console/runs/1']) {
      expect((await ask(api, { method: 'GET', path, headers: followed })).status).toBe(200);
      const framed = { ...followed, 'sec-fetch-dest': 'iframe' };
      expect((await ask(api, { method: 'GET', path, headers: framed })).status).toBe(403);
    }
    const tried = await ask(api, { headers: { origin: api.url, 'sec-fetch-site': 'same-origin' } });
    expect(tried.status).toBe(200);
  });
});

describe('what the operator allows', () => {
  const FRONT_END = 'https://chat.example';

  it('includes the pages of GANTRY_ALLOWED_ORIGINS, and a proxy of that name', () =>
    withApi({ env: { GANTRY_ALLOWED_ORIGINS: `${FRONT_END}, vscode-webview://panel` } }, async (api) => {
      for (const origin of [FRONT_END, 'vscode-webview://panel']) {
        expect((await ask(api, { headers: { origin, 'sec-fetch-site': 'cross-site' } })).status).toBe(200);
      }
      expect((await ask(api, { headers: { host: 'chat.example' } })).status).toBe(200);
      for (const origin of ['http://chat.example', 'https://chat.example:444', 'https://a.chat.example']) {
        expect((await ask(api, { headers: { origin } })).status).toBe(403);
      }
    }));

  it('includes the public address of the deployment', () =>
    withApi({ env: { GANTRY_PUBLIC_URL: 'https://gantry.example/base' } }, async (api) => {
      const headers = { host: 'gantry.example', origin: 'https://gantry.example' };
      expect((await ask(api, { headers })).status).toBe(200);
    }));

  it('includes origins that http.cors names, but no * and no pattern that matches all', async () => {
    const named = { allow_origins: [FRONT_END], allow_origin_regex: 'https://[a-z]+\\.preview\\.example' };
    await withApi({ http: { cors: named } }, async (api) => {
      for (const origin of [FRONT_END, 'https://one.preview.example']) {
        const answer = await ask(api, { headers: { origin } });
        expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin]);
      }
      expect((await ask(api, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    });
    for (const cors of [
      { allow_origins: ['*'] },
      { allow_origin_regex: '.*' },
      { allow_origin_regex: 'https?://.+' },
    ]) {
      await withApi({ http: { cors } }, async (api) => {
        expect((await ask(api, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
      });
    }
  });

  it('includes answers for pages of GANTRY_ALLOWED_ORIGINS where http.cors names others', () =>
    withApi(
      { env: { GANTRY_ALLOWED_ORIGINS: FRONT_END }, http: { cors: { allow_origins: ['https://other.example'] } } },
      async (api) => {
        const answer = await ask(api, { headers: { origin: FRONT_END } });
        expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, FRONT_END]);
      },
    ));

  it('includes, with a key, every page that http.cors admits, under any name', () =>
    withApi({ env: { GANTRY_AUTH: 'on', GANTRY_API_KEY: 'gantry-key-of-a-page' } }, async (api) => {
      const headers = { host: 'gantry.example', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await ask(api, { headers })).status).toBe(401);
      const answer = await ask(api, { headers: { ...headers, 'x-api-key': 'gantry-key-of-a-page' } });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, '*']);
    }));
});
