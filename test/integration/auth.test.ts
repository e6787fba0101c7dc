import { join } from 'node:path';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { ACCESS, type Access, type TenantId } from '../../src/auth/tenant';
import { issueTraceToken } from '../../src/auth/trace-token';
import { loadConfig } from '../../src/config/config';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { addressOf, routesOf } from '../support/routes';

const DEV_KEY = 'development-key-0123456789';
const KEYS = { a: 'key-of-tenant-a-0123456789', b: 'key-of-tenant-b-0123456789' };
const INTERNAL_KEY = 'internal-key-0123456789';

/** Routes that answer without a key, each with the reason. */
const PUBLIC = [
  'GET /', // health, as some load balancers ask for it
  'GET /ok',
  'GET /ready', // load balancers have no key
  'GET /metrics', // open on loopback alone; elsewhere it asks for its own token: system.test.ts
  'GET /system/findings', // the operator's, but open on loopback where no route has a key: system-findings.test.ts
  'GET /info', // clients read the abilities before they have a key
  'GET /api/info',
  'GET /api/v1/info',
  // Where a client gets a token is read before it has one (RFC 9728).
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /ui/:agent/:basename', // code for browsers, whose tags can't carry a key
  'GET /api/v1/attachments/:tenant_id/:run_id/:name', // the address is signed and expires
  // So are links for feedback: what one allows is one remark on one run.
  ...['', '/api', '/api/v1'].flatMap((root) => [
    `GET ${root}/feedback/tokens/:token`,
    `POST ${root}/feedback/tokens/:token`,
  ]),
  // Anyone with the link can read shared data.
  'GET /public/:share_token/r',
  ...['', '/api', '/api/v1'].flatMap((root) => [
    `GET ${root}/public/:share_token/run`,
    `GET ${root}/public/:share_token/run/:run_id`,
    `POST ${root}/public/:share_token/runs/query`,
  ]),
  ...['/v2', '/api/v2'].flatMap((root) => [
    `GET ${root}/public/:share_token/run/:run_id`,
    `POST ${root}/public/:share_token/runs/query`,
  ]),
];

describe('with authentication on', () => {
  let api: TestApi;
  const tenants: Record<'a' | 'b', TenantId> = { a: uuidv7() as TenantId, b: uuidv7() as TenantId };

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: DEV_KEY,
      GANTRY_INTERNAL_KEY: INTERNAL_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
    });
    const database = api.app.get<DataSource>(getDataSourceToken());
    const keys = api.app.get(ApiKeysService, { strict: false });
    for (const name of ['a', 'b'] as const) {
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenants[name], name]);
      await keys.register(tenants[name], name, KEYS[name]);
    }
  });

  afterAll(() => api?.close());

  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Response> =>
    fetch(api.url + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  const key = (name: 'a' | 'b'): Record<string, string> => ({ 'x-api-key': KEYS[name] });

  describe('every route', () => {
    it('is either known to be public, or requires a key', async () => {
      const open: string[] = [];
      for (const { method, path } of routesOf(api.app)) {
        const filled = addressOf(path);
        const response = await ask(method, filled);
        await response.body?.cancel();
        if (response.status !== 401) open.push(`${method} ${path}`);
      }
      expect(open.filter((route) => !PUBLIC.includes(route))).toEqual([]);
    });

    it('declares its access in agreement with the list of public routes', () => {
      const declared = routesOf(api.app)
        .filter(({ handler, owner }) => {
          const access = (Reflect.getMetadata(ACCESS, handler) ?? Reflect.getMetadata(ACCESS, owner)) as
            Access | undefined;
          return access === 'public';
        })
        .map(({ method, path }) => `${method} ${path}`);
      expect(declared.filter((route) => !PUBLIC.includes(route))).toEqual([]);
      expect(declared).toEqual(expect.arrayContaining(['GET /ok', 'GET /info']));
    });

    it('refuses an unknown key', async () => {
      for (const { method, path } of routesOf(api.app)) {
        if (PUBLIC.includes(`${method} ${path}`)) continue;
        const filled = addressOf(path);
        const response = await ask(method, filled, { 'x-api-key': 'a-key-that-nobody-has', 'x-tenant-id': tenants.a });
        await response.body?.cancel();
        expect([`${method} ${path}`, response.status]).toEqual([`${method} ${path}`, 401]);
      }
    });
  });

  it('reports what is missing and what is wrong, and never repeats the key', async () => {
    const missing = await ask('POST', '/threads/search', {}, {});
    expect(missing.status).toBe(401);
    expect(await missing.json()).toEqual({ detail: expect.stringContaining('X-API-Key'), code: 'missing_api_key' });
    const wrong = await ask('POST', '/threads/search', { 'x-api-key': 'a-secret-that-was-mistyped' }, {});
    expect(wrong.status).toBe(401);
    expect(await wrong.text()).not.toContain('mistyped');
  });

  it('accepts the key that the supervisor generated for the default tenant', async () => {
    expect((await ask('POST', '/assistants/search', { 'x-api-key': DEV_KEY }, {})).status).toBe(200);
  });

  it('refuses a tenant header that disagrees with the key', async () => {
    const headers = { ...key('a'), 'x-tenant-id': tenants.b };
    expect((await ask('POST', '/threads/search', headers, {})).status).toBe(403);
    const agreeing = { ...key('a'), 'x-tenant-id': tenants.a.toUpperCase() };
    expect((await ask('POST', '/threads/search', agreeing, {})).status).toBe(200);
  });

  it('refuses the workers’ own key on the deployment API', async () => {
    const headers = { 'x-api-key': INTERNAL_KEY, 'x-tenant-id': tenants.a };
    expect((await ask('POST', '/threads/search', headers, {})).status).toBe(401);
    expect((await ask('GET', '/api/v1/bulk-exports', headers)).status).toBe(401);
  });

  it('accepts the keys of workers and of runs for the upload of traces, and for nothing else', async () => {
    const { key: secretKey } = api.config.secrets;
    const later = new Date(Date.now() + 60_000);
    const ofA = { 'x-api-key': issueTraceToken(secretKey, tenants.a, later), 'x-tenant-id': tenants.a };
    const internal = { 'x-api-key': INTERNAL_KEY, 'x-tenant-id': tenants.a };
    for (const headers of [ofA, internal]) {
      expect((await ask('POST', '/api/v1/runs/batch', headers, { post: [] })).status).toBe(202);
      for (const [method, path] of [
        ['GET', '/api/v1/feedback'],
        ['POST', '/api/v1/runs/query'],
        ['GET', '/api/v1/sessions'],
        ['POST', '/api/v1/otel/v1/traces'],
        ['POST', '/threads/search'],
        ['GET', '/api/v1/bulk-exports'],
      ]) {
        expect([path, (await ask(method, path, headers, method === 'POST' ? {} : undefined)).status]).toEqual([
          path,
          401,
        ]);
      }
    }
    // A run's key is its tenant's.
    expect((await ask('POST', '/api/v1/runs/batch', { ...ofA, 'x-tenant-id': tenants.b }, { post: [] })).status).toBe(
      403,
    );
    const expired = { 'x-api-key': issueTraceToken(secretKey, tenants.a, new Date(Date.now() - 1)) };
    expect((await ask('POST', '/api/v1/runs/batch', expired, { post: [] })).status).toBe(401);
  });

  it('stops accepting a key that was revoked or has expired', async () => {
    const database = api.app.get<DataSource>(getDataSourceToken());
    const keys = api.app.get(ApiKeysService, { strict: false });
    for (const [name, change] of [
      ['revoked-key-0123456789', 'revoked_at = now()'],
      ['expired-key-0123456789', "expires_at = now() - interval '1 second'"],
    ] as const) {
      await keys.register(tenants.a, name, name);
      await database.query(`UPDATE api_keys SET ${change} WHERE name = $1`, [name]);
      expect((await ask('POST', '/threads/search', { 'x-api-key': name }, {})).status).toBe(401);
    }
  });

  it('stores no key in plain text', async () => {
    const database = api.app.get<DataSource>(getDataSourceToken());
    const rows: object[] = await database.query(`SELECT * FROM api_keys`);
    expect(JSON.stringify(rows)).not.toContain(KEYS.a);
  });

  describe('bulk exports', () => {
    it.each([
      ['GET', '/api/v1/bulk-exports', undefined],
      ['POST', '/api/v1/bulk-exports', {}],
      ['POST', '/api/v1/bulk-exports/destinations', {}],
      ['GET', `/api/v1/bulk-exports/${uuidv7()}`, undefined],
      ['GET', `/api/v1/bulk-exports/${uuidv7()}/runs`, undefined],
      ['PATCH', `/api/v1/bulk-exports/${uuidv7()}`, { status: 'Cancelled' }],
    ])('require both headers: %s %s', async (method, path, body) => {
      const keyAlone = await ask(method, path, key('a'), body);
      expect(keyAlone.status).toBe(401);
      expect(await keyAlone.text()).toContain('X-Tenant-Id');
      expect((await ask(method, path, { 'x-tenant-id': tenants.a }, body)).status).toBe(401);
      const both = await ask(method, path, { ...key('a'), 'x-tenant-id': tenants.a }, body);
      expect([200, 404, 422]).toContain(both.status);
    });
  });

  describe('a resource of another tenant', () => {
    let thread: string;
    let run: string;
    let stateless: string;
    let assistant: string;

    const create = async (path: string, body: unknown): Promise<Record<string, string>> => {
      const response = await ask('POST', path, key('a'), body);
      expect(response.status).toBe(200);
      return (await response.json()) as Record<string, string>;
    };

    beforeAll(async () => {
      thread = (await create('/threads', { metadata: { owner: 'a' } })).thread_id!;
      // Due in an hour: pending for as long as this test takes.
      run = (await create(`/threads/${thread}/runs`, { assistant_id: 'three', after_seconds: 3600 })).run_id!;
      stateless = (await create('/runs', { assistant_id: 'three', after_seconds: 3600 })).run_id!;
      assistant = (await create('/assistants', { graph_id: 'three', name: 'of a' })).assistant_id!;
    });

    it('is a 404 on every route that takes an id, and stays unchanged', async () => {
      const body = { assistant_id: 'three' };
      const routes: [string, string, unknown?][] = [
        ['GET', `/assistants/${assistant}`],
        ['PATCH', `/assistants/${assistant}`, { name: 'of b' }],
        ['DELETE', `/assistants/${assistant}`],
        ['GET', `/assistants/${assistant}/graph`],
        ['GET', `/assistants/${assistant}/schemas`],
        ['GET', `/assistants/${assistant}/subgraphs`],
        ['POST', `/assistants/${assistant}/versions`, {}],
        ['POST', `/assistants/${assistant}/latest`, { version: 1 }],
        ['GET', `/threads/${thread}`],
        ['PATCH', `/threads/${thread}`, { metadata: { owner: 'b' } }],
        ['DELETE', `/threads/${thread}`],
        ['POST', `/threads/${thread}/copy`, {}],
        ['GET', `/threads/${thread}/state`],
        ['POST', `/threads/${thread}/state`, { values: {} }],
        ['POST', `/threads/${thread}/state/checkpoint`, { checkpoint: {} }],
        ['GET', `/threads/${thread}/history`],
        ['POST', `/threads/${thread}/history`, {}],
        ['GET', `/threads/${thread}/runs`],
        ['POST', `/threads/${thread}/runs`, body],
        ['POST', `/thread/${thread}/runs`, body],
        ['POST', `/threads/${thread}/runs/wait`, body],
        ['POST', `/threads/${thread}/runs/stream`, body],
        ['GET', `/threads/${thread}/runs/${run}`],
        ['GET', `/threads/${thread}/runs/${run}/join`],
        ['GET', `/threads/${thread}/runs/${run}/stream`],
        ['POST', `/threads/${thread}/runs/${run}/cancel`, {}],
        ['DELETE', `/threads/${thread}/runs/${run}`],
        ['GET', `/runs/${stateless}`],
        ['GET', `/runs/${stateless}/join`],
        ['GET', `/runs/${stateless}/stream`],
        ['POST', '/runs', { assistant_id: assistant }],
        ['POST', '/runs/wait', { assistant_id: assistant }],
        ['POST', '/runs/cancel', { thread_id: thread, run_ids: [run] }],
      ];
      for (const [method, path, payload] of routes) {
        const response = await ask(method, path, key('b'), payload);
        await response.body?.cancel();
        expect([`${method} ${path}`, response.status]).toEqual([`${method} ${path}`, 404]);
      }
      expect(await (await ask('GET', `/threads/${thread}`, key('a'))).json()).toMatchObject({
        metadata: { owner: 'a' },
      });
      expect(await (await ask('GET', `/threads/${thread}/runs/${run}`, key('a'))).json()).toMatchObject({
        status: 'pending',
      });
      expect(await (await ask('GET', `/assistants/${assistant}`, key('a'))).json()).toMatchObject({ name: 'of a' });
    });

    it('is not found by a search, not counted and not cancelled in bulk', async () => {
      const search = async (path: string, body: unknown): Promise<unknown> =>
        (await ask('POST', path, key('b'), body)).json();
      expect(await search('/threads/search', { metadata: { owner: 'a' } })).toEqual([]);
      expect(await search('/threads/search', { ids: [thread] })).toEqual([]);
      expect(await search('/threads/count', {})).toBe(0);
      const assistants = (await search('/assistants/search', { limit: 100 })) as { assistant_id: string }[];
      expect(assistants.map(({ assistant_id }) => assistant_id)).not.toContain(assistant);
      expect((await ask('POST', '/runs/cancel', key('b'), { status: 'all' })).status).toBe(404);
      expect(await (await ask('GET', `/runs/${stateless}`, key('a'))).json()).toMatchObject({ status: 'pending' });
    });

    it('is neither seen nor changed by a thread of the same id', async () => {
      const created = await ask('POST', '/threads', key('b'), { thread_id: thread, metadata: { owner: 'b' } });
      expect([created.status, await created.json()]).toMatchObject([200, { metadata: { owner: 'b' } }]);
      expect(await (await ask('GET', `/threads/${thread}/runs`, key('b'))).json()).toEqual([]);
      expect((await ask('GET', `/threads/${thread}/runs/${run}`, key('b'))).status).toBe(404);
      expect((await ask('DELETE', `/threads/${thread}`, key('b'))).status).toBe(204);
      const kept = await ask('GET', `/threads/${thread}`, key('a'));
      expect(await kept.json()).toMatchObject({ metadata: { owner: 'a' } });
    });
  });

  it('is a 404 when a run is requested through another thread', async () => {
    const make = async (): Promise<string> =>
      ((await (await ask('POST', '/threads', key('a'), {})).json()) as { thread_id: string }).thread_id;
    const [one, other] = [await make(), await make()];
    const created = await ask('POST', `/threads/${one}/runs`, key('a'), { assistant_id: 'three', after_seconds: 3600 });
    const { run_id } = (await created.json()) as { run_id: string };
    expect((await ask('GET', `/threads/${other}/runs/${run_id}`, key('a'))).status).toBe(404);
    expect((await ask('POST', `/threads/${other}/runs/${run_id}/cancel`, key('a'), {})).status).toBe(404);
  });
});

describe('with a custom auth that accepts keys and refuses Studio', () => {
  let api: TestApi;
  let config: TemporaryConfig;

  beforeAll(async () => {
    const module = join(__dirname, '..', 'support', 'auth', 'auth.ts');
    config = temporaryConfig({
      auth: { path: `${module}:auth`, disable_studio_auth: true, allow_langsmith_api_keys: true },
    });
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: DEV_KEY,
      GANTRY_CONFIG: config.path,
      GANTRY_DOCS: 'protected',
    });
  });

  afterAll(async () => {
    await api?.close();
    config?.remove();
  });

  const status = async (path: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(api.url + path, { headers })).status;

  it('calls the module for requests with an Authorization header, and accepts a key from others', async () => {
    const path = `/threads/${uuidv7()}`;
    expect(await status(path, { authorization: 'Bearer alice' })).toBe(404);
    expect(await status(path, { authorization: 'Bearer banned', 'x-api-key': DEV_KEY })).toBe(403);
    expect(await status(path, { 'x-api-key': DEV_KEY })).toBe(404);
    expect(await status(path, { 'x-api-key': 'nobody-has-this-key' })).toBe(401);
  });

  it('refuses Studio, even with a key', async () => {
    const studio = { 'x-auth-scheme': 'langsmith', authorization: 'Bearer nobody' };
    expect(await status('/assistants/ten', { ...studio, 'x-api-key': DEV_KEY })).toBe(401);
  });

  it('shows its users the docs, and no other caller', async () => {
    expect(await status('/openapi.json', { authorization: 'Bearer alice' })).toBe(200);
    expect(await status('/openapi.json', { authorization: 'Bearer banned' })).toBe(403);
    expect(await status('/openapi.json', { 'x-api-key': DEV_KEY })).toBe(200);
    const asked = await fetch(`${api.url}/docs`);
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic /)]);
  });
});

describe('with authentication off', () => {
  const base = {
    DATABASE_URL: 'postgres://localhost/x',
    TEMPORAL_ADDRESS: 'localhost:7233',
    GANTRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  };

  it.each(['0.0.0.0', '::', '192.168.1.10', 'gantry.example.com'])('refuses to bind %s', (host) => {
    expect(() => loadConfig({ ...base, GANTRY_HOST: host })).toThrow(/GANTRY_AUTH=on/);
    expect(loadConfig({ ...base, GANTRY_HOST: host, GANTRY_AUTH: 'on' }).http.host).toBe(host);
  });

  it.each(['127.0.0.1', '::1', 'localhost'])('binds %s', (host) => {
    expect(loadConfig({ ...base, GANTRY_HOST: host }).auth.isEnabled).toBe(false);
  });

  it('has one tenant, whatever key a client sends, and no other', async () => {
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    try {
      const ask = (headers: Record<string, string>): Promise<Response> =>
        fetch(`${api.url}/threads/search`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{}',
        });
      expect((await ask({})).status).toBe(200);
      expect((await ask({ 'x-api-key': 'anything' })).status).toBe(200);
      expect((await ask({ 'x-tenant-id': api.config.auth.defaultTenantId })).status).toBe(200);
      expect((await ask({ 'x-tenant-id': uuidv7() })).status).toBe(403);
    } finally {
      await api.close();
    }
  });
});
