import { Client } from '@langchain/langgraph-sdk';
import { startTestApi, type TestApi } from '../support/api';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { describedPath, routesOf } from '../support/routes';

interface Served {
  api: TestApi;
  config: TemporaryConfig;
}

async function serve(http: Record<string, unknown>, env: Record<string, string> = {}): Promise<Served> {
  const config = temporaryConfig({ http });
  return { api: await startTestApi({ GANTRY_CONFIG: config.path, ...env }), config };
}

async function discard(served: Served | undefined): Promise<void> {
  await served?.api.close();
  served?.config.remove();
}

const PAGE = 'https://chat.example';

/** What a browser sends before a page of another origin may use the API. */
function preflight(url: string, origin = PAGE, more: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-api-key,x-auth-scheme,last-event-id',
      ...more,
    },
  });
}

const header = (response: Response, name: string): string | null => response.headers.get(`access-control-${name}`);

describe('a group of routes', () => {
  const SWITCHES: [group: string, tags: string[]][] = [
    ['assistants', ['Assistants']],
    ['threads', ['Threads']],
    ['runs', ['Thread Runs', 'Stateless Runs', 'Crons']],
    ['crons', ['Crons']],
    ['store', ['Store']],
    ['a2a', ['A2A']],
    ['mcp', ['MCP']],
  ];

  it.each(SWITCHES)('is absent with disable_%s, also from the description and the flags', async (group, tags) => {
    const served = await serve({ [`disable_${group}`]: true });
    try {
      const { api } = served;
      const tagsOf = (route: { handler: object; owner: object }): string[] =>
        [route.handler, route.owner].flatMap(
          (target) => (Reflect.getMetadata('swagger/apiUseTags', target) ?? []) as string[],
        );
      const gone = routesOf(api.app).filter((route) => tagsOf(route).some((tag) => tags.includes(tag)));
      const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: Record<string, object> };
      for (const { method, path } of gone) {
        const response = await fetch(api.url + path.replace(/:[a-z_]+/g, '0198aaaa-0000-7000-8000-000000000000'), {
          method,
        });
        expect([method, path, response.status, await response.text()]).toEqual([method, path, 404, 'Not Found']);
        expect(paths[describedPath(path)] ?? {}).not.toHaveProperty(method.toLowerCase());
      }
      const { flags } = (await (await fetch(`${api.url}/info`)).json()) as { flags: Record<string, boolean> };
      expect(flags[group]).toBe(false);
      if (group !== 'assistants') expect(flags.assistants).toBe(true);
      const others = await fetch(`${api.url}/${group === 'assistants' ? 'threads' : 'assistants'}/search`, {
        method: 'POST',
      });
      expect(others.status).toBe(200);
    } finally {
      await discard(served);
    }
  });
});

describe('CORS without a section, where keys are required', () => {
  const KEY = 'gantry-key-of-a-page';
  let served: Served;
  let url: string;

  beforeAll(async () => {
    served = await serve({}, { GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY });
    ({ url } = served.api);
  });

  afterAll(() => discard(served));

  it('allows pages of any origin, with the headers that Studio and chat front ends send', async () => {
    const response = await preflight(`${url}/threads/search`);
    expect(response.status).toBe(204);
    expect(header(response, 'allow-origin')).toBe('*');
    expect(header(response, 'allow-headers')).toBe('content-type,x-api-key,x-auth-scheme,last-event-id');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(header(response, 'allow-methods')).toContain(method);
    }
    expect(header(response, 'allow-credentials')).toBeNull();
    expect(header(response, 'max-age')).toBe('600');
  });

  it('exposes the headers that their clients read, on answers, errors and streams', async () => {
    const body = JSON.stringify({ assistant_id: 'three' });
    const requests: [string, RequestInit][] = [
      ['/threads/search', { method: 'POST', body: '{}' }],
      ['/threads/none', {}],
      ['/threads/search/', { method: 'POST', body: '{}', redirect: 'manual' }],
      ['/threads/search', { method: 'PUT', body: '{}' }],
      ['/runs/stream', { method: 'POST', body }],
    ];
    for (const [path, init] of requests) {
      // A browser client's JSON comes as text to avoid the preflight.
      const headers = { origin: PAGE, 'content-type': 'text/plain', 'x-api-key': KEY };
      const response = await fetch(url + path, { ...init, headers });
      expect([path, header(response, 'allow-origin')]).toEqual([path, '*']);
      for (const name of ['Content-Location', 'Location', 'X-Pagination-Total', 'X-Pagination-Next']) {
        expect(header(response, 'expose-headers')).toContain(name);
      }
      await response.body?.cancel();
    }
  });

  it('allows a public page to reach this machine when its browser asks', async () => {
    const asked = await preflight(`${url}/info`, PAGE, { 'access-control-request-private-network': 'true' });
    expect(header(asked, 'allow-private-network')).toBe('true');
    expect(header(await preflight(`${url}/info`), 'allow-private-network')).toBeNull();
  });

  it('answers preflights without a key', async () => {
    expect((await preflight(`${url}/threads/search`)).status).toBe(204);
    const refused = await fetch(`${url}/threads/search`, { method: 'POST', headers: { origin: PAGE } });
    // A page can read the reason of the refusal.
    expect([refused.status, header(refused, 'allow-origin')]).toEqual([401, '*']);
  });
});

describe('CORS as configured', () => {
  let served: Served;
  let url: string;

  beforeAll(async () => {
    served = await serve({
      cors: {
        allow_origins: [PAGE],
        allow_origin_regex: 'https://[a-z]+\\.preview\\.example',
        allow_methods: ['GET', 'POST'],
        allow_headers: ['content-type', 'x-api-key'],
        allow_credentials: true,
        expose_headers: ['X-Own'],
        max_age: 5,
      },
    });
    ({ url } = served.api);
  });

  afterAll(() => discard(served));

  it.each([PAGE, 'https://one.preview.example'])('allows %s, with credentials', async (origin) => {
    const response = await preflight(`${url}/threads/search`, origin);
    expect(header(response, 'allow-origin')).toBe(origin);
    expect(header(response, 'allow-credentials')).toBe('true');
    expect(header(response, 'allow-methods')).toBe('GET, POST');
    expect(header(response, 'allow-headers')).toBe('content-type, x-api-key');
    expect(header(response, 'max-age')).toBe('5');
    expect(response.headers.get('vary')).toMatch(/origin/i);
    const answer = await fetch(`${url}/threads/search`, { method: 'POST', headers: { origin } });
    expect(header(answer, 'allow-origin')).toBe(origin);
    expect(header(answer, 'expose-headers')).toContain('X-Own');
    expect(header(answer, 'expose-headers')).toContain('Content-Location');
  });

  it.each(['https://evil.example', 'https://one.preview.example.evil.test', 'http://chat.example', 'null'])(
    'refuses %s',
    async (origin) => {
      expect(header(await preflight(`${url}/threads/search`, origin), 'allow-origin')).toBeNull();
      const answer = await fetch(`${url}/threads/search`, { method: 'POST', headers: { origin } });
      expect(header(answer, 'allow-origin')).toBeNull();
    },
  );
});

describe('http.mount_prefix', () => {
  let served: Served;
  let url: string;

  beforeAll(async () => {
    served = await serve({ mount_prefix: '/agents/v1/' });
    ({ url } = served.api);
  });

  afterAll(() => discard(served));

  it('moves everything below it, but health and metrics are at the root as well', async () => {
    const status = async (path: string): Promise<number> => (await fetch(url + path)).status;
    for (const path of ['/info', '/docs', '/openapi.json', `/agents/v12/info`, '/agents']) {
      expect([path, await status(path)]).toEqual([path, 404]);
    }
    for (const path of ['', '/', '/ok', '/ready', '/metrics', '/info', '/docs', '/openapi.json']) {
      expect([path, await status(`/agents/v1${path}`)]).toEqual([path, 200]);
    }
    for (const path of ['/', '/ok', '/ok?check_db=1', '/ready', '/metrics']) expect(await status(path)).toBe(200);
    expect((await fetch(`${url}/threads/search`, { method: 'POST' })).status).toBe(404);
  });

  it('appears in the description, and works for the public client', async () => {
    const document = (await (await fetch(`${url}/agents/v1/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: '/agents/v1' }]);
    const client = new Client({ apiUrl: `${url}/agents/v1`, apiKey: null });
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'three', { afterSeconds: 3600 });
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: 'pending' });
  });

  it('redirects a path that ends in a slash to the one without it, wherever the API is mounted', async () => {
    const ask = (path: string, method = 'POST'): Promise<Response> => fetch(url + path, { method, redirect: 'manual' });
    for (const [path, target] of [
      ['/agents/v1/threads/search/?x=%2F', '/agents/v1/threads/search?x=%2F'],
      ['/agents/v1/mcp/', '/agents/v1/mcp'],
      ['/agents/v1/api/v1/runs/query/', '/agents/v1/api/v1/runs/query'],
      ['/agents/v1/threads/%5Cevil.example/?x', '/agents/v1/threads/%5Cevil.example?x'],
    ]) {
      const response = await ask(path);
      const location = response.headers.get('location')!;
      expect([path, response.status, new URL(location, response.url).href]).toEqual([path, 307, url + target]);
      // Relative, since a proxy may have removed a prefix.
      expect(location.startsWith('../')).toBe(true);
    }
    for (const path of ['//evil.example/', '/agents/v1//evil.example/', '/agents/v1/no/such/path/', '/agents/v1/mcp//'])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    // A client that follows it gets the answer, and its body is sent again.
    const found = await fetch(`${url}/agents/v1/threads/search/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"limit": 0}',
    });
    expect(found.status).toBe(422);
  });

  it('keeps the contract’s second spelling of threads', async () => {
    const client = new Client({ apiUrl: `${url}/agents/v1`, apiKey: null });
    const { thread_id } = await client.threads.create();
    const response = await fetch(`${url}/agents/v1/thread/${thread_id}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'three', after_seconds: 3600 }),
    });
    expect(response.status).toBe(200);
  });
});
