import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApi, type TestApi } from '../support/api';
import { addressOf, routesOf } from '../support/routes';

const SUPPORT = join(__dirname, '..', 'support');
const AUTH = join(SUPPORT, 'auth', 'langgraph.json');
const API_KEY = 'development-key-0123456789';
/** Probes, the description of the deployment, what pages load as scripts, and addresses that are secrets themselves. */
const PUBLIC = [
  /^\/(ok|ready|info|metrics)?$/,
  /^\/api(\/v1)?\/info$/,
  /^\/ui\/:agent\/:basename$/,
  /^\/\.well-known\/oauth-protected-resource(\/mcp)?$/,
  /\/feedback\/tokens\/:/,
  /\/attachments\//,
  /\/public\/:share_token\//,
];

interface Sections {
  graphs: Record<string, string>;
  auth: { path: string };
}

describe('a custom auth with GANTRY_AUTH=off', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-custom-auth-'));
  let api: TestApi;
  let open: TestApi;

  const serve = (http: object): Promise<TestApi> => {
    const { graphs, auth, ...others } = JSON.parse(readFileSync(AUTH, 'utf8')) as Sections;
    const absolute = (path: string): string => join(SUPPORT, 'auth', path);
    const config = {
      ...others,
      graphs: Object.fromEntries(Object.entries(graphs).map(([name, path]) => [name, absolute(path)])),
      auth: { ...auth, path: absolute(auth.path) },
      http: { app: `${join(SUPPORT, 'apps', 'hono-app.ts')}:app`, ...http },
    };
    const path = join(folder, `${Object.keys(http).join('-') || 'default'}.json`);
    writeFileSync(path, JSON.stringify(config));
    return startTestApi({ GANTRY_CONFIG: path, GANTRY_API_KEY: API_KEY });
  };

  beforeAll(async () => {
    api = await serve({});
    open = await serve({ enable_custom_route_auth: false });
  });

  afterAll(async () => {
    await api?.close();
    await open?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('admits no caller without credentials, on any route', async () => {
    const routes = routesOf(api.app).filter(({ path }) => !PUBLIC.some((pattern) => pattern.test(path)));
    expect(routes.length).toBeGreaterThan(100);
    const passed: unknown[] = [];
    for (const { method, path } of routes) {
      const url = addressOf(path);
      const { statusCode } = await api.app.inject({ method: method as 'GET', url });
      if (statusCode !== 401) passed.push([method, path, statusCode]);
    }
    expect(passed).toEqual([]);
  });

  it('requires a key for traces, exports and deliveries, and a user for the rest', async () => {
    for (const path of ['/webhooks/deliveries', '/api/v1/bulk-exports']) {
      const headers = { 'x-api-key': API_KEY, 'x-tenant-id': api.config.auth.defaultTenantId };
      expect([path, (await fetch(api.url + path, { headers })).status]).toEqual([path, 200]);
      const user = { authorization: 'Bearer alice', 'x-tenant-id': api.config.auth.defaultTenantId };
      expect([path, (await fetch(api.url + path, { headers: user })).status]).toEqual([path, 401]);
    }
    const headers = { authorization: 'Bearer alice', 'content-type': 'application/json' };
    const found = await fetch(`${api.url}/threads/search`, { method: 'POST', headers, body: '{}' });
    expect(found.status).toBe(200);
  });

  it('requires a user on custom routes unless they are opened', async () => {
    expect((await fetch(`${api.url}/hello/you`)).status).toBe(401);
    expect((await fetch(`${api.url}/hello/you`, { headers: { authorization: 'Bearer nobody' } })).status).toBe(401);
    expect((await fetch(`${api.url}/hello/you`, { headers: { authorization: 'Bearer alice' } })).status).toBe(200);
    expect((await fetch(`${open.url}/hello/you`)).status).toBe(200);
  });

  it('receives the path of a custom route as the app will see it', async () => {
    const { hostname, port } = new URL(api.url);
    const statusOf = (path: string, allowed: string, host?: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer only ${allowed}`, ...(host !== undefined && { host }) };
        // Sends the target unchanged, which fetch would normalize.
        const sent = request({ hostname, port, path, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        });
        sent.on('error', reject).end();
      });
    for (const path of [
      '/hello/you',
      '/./hello/you',
      '/hello/%2e/you',
      '/%68ello/y%6F%75?x=%68',
      '/x\\..\\hello/you',
    ]) {
      const statuses = [await statusOf(path, '/hello/you'), await statusOf(path, '/hello/me')];
      // A target that is no path for the app is refused before.
      expect([path, ...statuses]).toEqual([path, ...(path.includes('\\') ? [400, 403] : [200, 403])]);
    }
    // An invalid host doesn't change the path either.
    for (const [host, allowed, status] of [
      ['', '/you', 403],
      ['', '/hello/you', 200],
      ['x/hello/me?', '/hello/me', 400],
      ['x/hello/me#', '/hello/me', 400],
      ['x\\hello\\me?', '/hello/me', 400],
      ['a b', '/hello/you', 400],
      ['localhost:99999', '/hello/you', 400],
      ['[', '/hello/you', 400],
    ] as const) {
      expect([host, await statusOf('/hello/you', allowed, host)]).toEqual([host, status]);
    }
  });
});
