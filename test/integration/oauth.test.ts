import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { decodeJwt, UnsecuredJWT } from 'jose';
import { AgentCaller } from '../support/a2a';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { endOf, LONG_ANSWERS, longRequest, newThread, openOn, sendLong } from '../support/long-answers';
import { postMcp } from '../support/mcp';
import { LoginByBrowser } from '../support/oauth-login';
import { OpenIdProvider, type ProviderClient } from '../support/openid-provider';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { freePort } from '../support/ports';
import { createNamespace, type TestNamespace } from '../support/temporal';
import { socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';

const acme: ProviderClient = { id: 'acme-client', secret: 'acme-secret-0123456789', claims: { workspace: 'acme' } };
const globex: ProviderClient = {
  id: 'globex-client',
  secret: 'globex-secret-0123456789',
  claims: { workspace: 'globex' },
};
const nameless: ProviderClient = { id: 'nameless-client', secret: 'nameless-secret-0123456789' };
/** How far the provider's clock may differ from the server's. */
const CLOCK_TOLERANCE_SECONDS = 30;
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** A graph whose schemas are declared: no request waits for a compiler here. */
const GRAPHS = { three: `${join(dirname(TEST_GRAPHS), 'ten.ts')}:three` };

describe('access tokens of an OpenID provider', () => {
  const tenants = { acme: uuidv7(), globex: uuidv7() };
  let provider: OpenIdProvider;
  let api: TestApi;
  let resource: string;
  let config: TemporaryConfig;
  /** Starts an api without a worker, so that runs stay pending. */
  let namespace: TestNamespace;

  beforeAll(async () => {
    namespace = await createNamespace();
    config = temporaryConfig({ graphs: GRAPHS });
    provider = await OpenIdProvider.start([acme, globex, nameless]);
    const port = await freePort();
    resource = `http://127.0.0.1:${port}/mcp`;
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: 'dev-key-0123456789',
      GANTRY_CONFIG: config.path,
      GANTRY_HOST: '127.0.0.1',
      GANTRY_PORT: String(port),
      GANTRY_PUBLIC_URL: `http://127.0.0.1:${port}`,
      GANTRY_OAUTH_ISSUER: provider.issuer,
      GANTRY_OAUTH_TENANT_CLAIM: 'workspace',
      GANTRY_OAUTH_SCOPES: 'agents',
      TEMPORAL_NAMESPACE: namespace.name,
    });
    const database = api.app.get<DataSource>(getDataSourceToken());
    for (const [name, tenantId] of Object.entries(tenants)) {
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
    }
  });

  afterAll(async () => {
    await api?.close();
    await provider?.stop();
    config?.remove();
    await namespace?.drop();
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const search = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${api.url}/assistants/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"limit": 1}',
    });

  it('are obtained by a client that knows only the address and its own credentials', async () => {
    const client = new Client({ name: 'connector', version: '1' });
    const authProvider = new ClientCredentialsProvider({
      clientId: acme.id,
      clientSecret: acme.secret,
      scope: 'agents',
      expectedIssuer: provider.issuer,
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('three');
    await client.close();
    expect(decodeJwt(authProvider.tokens()!.access_token)).toMatchObject({ aud: resource, workspace: 'acme' });
  });

  it('are obtained by a client that registers itself and has its user log in, with a code and PKCE', async () => {
    const login = new LoginByBrowser(globex.id);
    const open = () => new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider: login });
    const first = open();
    await expect(new Client({ name: 'connector', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
    expect(Object.fromEntries(login.authorization!.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: createHash('sha256').update(login.codeVerifier()).digest('base64url'),
      resource,
      scope: 'agents',
    });
    await first.finishAuth(login.callback!);
    const client = new Client({ name: 'connector', version: '1' });
    await client.connect(open());
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('three');
    await client.close();
    const claims = { aud: resource, workspace: 'globex', sub: globex.id };
    expect(decodeJwt(login.tokens()!.access_token)).toMatchObject(claims);
  });

  it('are announced by the challenge and by the metadata', async () => {
    const { status, headers } = await postMcp(api.url, list);
    const metadata = `${api.url}/.well-known/oauth-protected-resource/mcp`;
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe(
      `Bearer scope="agents", resource_metadata="${metadata}", ApiKey realm="gantry", header="X-API-Key"`,
    );
    expect(await (await fetch(metadata)).json()).toEqual({
      resource,
      resource_name: 'Gantry',
      authorization_servers: [provider.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['agents'],
    });
    const general = `${api.url}/.well-known/oauth-protected-resource`;
    expect((await search({})).headers.get('www-authenticate')).toContain(`resource_metadata="${general}"`);
    expect(await (await fetch(general)).json()).toMatchObject({ resource: api.url });
  });

  it('give access to MCP, A2A and the REST API, each for its own workspace', async () => {
    const [hers, his] = await Promise.all([acme, globex].map((client) => provider.token(client, resource, 'agents')));
    const created = await fetch(`${api.url}/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(hers) },
      body: '{}',
    });
    const { thread_id } = (await created.json()) as { thread_id: string };
    const seenBy = async (token: string): Promise<number> =>
      (await fetch(`${api.url}/threads/${thread_id}`, { headers: bearer(token) })).status;
    expect([await seenBy(hers), await seenBy(his)]).toEqual([200, 404]);
    for (const token of [hers, his]) {
      expect((await postMcp(api.url, list, bearer(token))).status).toBe(200);
      const agent = new AgentCaller(api.url, 'three', { 'a2a-version': '1.0', ...bearer(token) });
      expect(await agent.result('ListTasks', {})).toMatchObject({ tasks: [] });
      expect((await search(bearer(token))).status).toBe(200);
    }
    const general = await provider.token(acme, api.url, 'agents');
    expect((await search(bearer(general))).status).toBe(200);
    expect((await search({ ...bearer(hers), 'x-tenant-id': tenants.acme })).status).toBe(200);
    expect((await search({ ...bearer(hers), 'x-tenant-id': tenants.globex })).status).toBe(403);
    const card = await (
      await fetch(`${api.url}/a2a/three`, { headers: { 'a2a-version': '1.0', ...bearer(hers) } })
    ).json();
    expect(card).toMatchObject({
      securitySchemes: {
        oauth: {
          openIdConnectSecurityScheme: { openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` },
        },
        api_key: { apiKeySecurityScheme: { name: 'X-API-Key' } },
      },
    });
  });

  const now = Math.floor(Date.now() / 1000);
  const claims = () => ({
    iss: provider.issuer,
    aud: resource,
    sub: 'somebody',
    exp: now + 3_600,
    scope: 'agents',
    workspace: 'acme',
  });

  it('are accepted with the provider’s signature and every required claim', async () => {
    expect((await search(bearer(await provider.sign(claims())))).status).toBe(200);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['has expired', () => provider.sign({ ...claims(), exp: now - 120 })],
    ['never expires', () => provider.sign({ ...claims(), exp: undefined })],
    ['is not valid yet', () => provider.sign({ ...claims(), nbf: now + 600 })],
    ['is for another server', () => provider.token(acme, 'https://other.example', 'agents')],
    ['is for no server', () => provider.sign({ ...claims(), aud: undefined })],
    ['has no subject', () => provider.sign({ ...claims(), sub: undefined })],
    ['is of another issuer', () => provider.sign({ ...claims(), iss: 'https://other.example' })],
    ['names a key that the provider does not have', () => provider.sign(claims(), { alg: 'ES256', kid: 'other' })],
    ['has no signature', () => new UnsecuredJWT(claims()).encode()],
    [
      'was changed',
      async () => {
        const [head, , signature] = (await provider.sign(claims())).split('.');
        const forged = Buffer.from(JSON.stringify({ ...claims(), workspace: 'globex' })).toString('base64url');
        return [head, forged, signature].join('.');
      },
    ],
    ['is none', () => 'abc'],
    ['is an API key', () => 'dev-key-0123456789'],
  ])('are refused with the challenge when one %s', async (_, make) => {
    const response = await search(bearer(await make()));
    expect([response.status, await response.json()]).toMatchObject([401, { code: 'invalid_token' }]);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", .*resource_metadata="/);
  });

  it('are refused without a scope that the operator requires', async () => {
    const response = await search(bearer(await provider.sign({ ...claims(), scope: 'other' })));
    expect([response.status, await response.json()]).toMatchObject([403, { code: 'insufficient_scope' }]);
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="agents"');
  });

  it('are refused when they name no workspace, or one that does not exist', async () => {
    for (const workspace of [undefined, '', 7, 'nowhere', uuidv7()]) {
      const response = await search(bearer(await provider.sign({ ...claims(), workspace })));
      expect([workspace, response.status, await response.json()]).toMatchObject([
        workspace,
        403,
        { code: 'wrong_tenant' },
      ]);
    }
  });

  it('are on record when they are refused, without the token', async () => {
    const token = await provider.sign({ ...claims(), exp: now - 120 });
    expect((await search(bearer(token))).status).toBe(401);
    const database = api.app.get<DataSource>(getDataSourceToken());
    const records = await waitFor('the records', async () => {
      const rows: { reason: string }[] = await database.query(`SELECT * FROM audit_log WHERE resource = 'login'`);
      return rows.some(({ reason }) => reason === 'invalid_token') && rows;
    });
    expect(JSON.stringify(records)).not.toContain(token.split('.')[1]);
  });

  it('end the connections that they opened when they expire, and cancel no run', async () => {
    // Accepted for as long as clocks may differ.
    const soon = Math.floor(Date.now() / 1000) - CLOCK_TOLERANCE_SECONDS + 25;
    const [expiring, lasting] = await Promise.all(
      [soon, now + 3_600].map((exp) => provider.sign({ ...claims(), exp })),
    );
    const leaving = new AbortController();
    const requests = await Promise.all(LONG_ANSWERS.map(([, kind]) => longRequest(api, bearer(lasting), kind)));
    const open = (token: string) => requests.map((each) => endOf(sendLong(api, bearer(token), each, leaving.signal)));
    const url = socketUrl(api.url, await newThread(api, bearer(lasting)));
    const ends = open(expiring);
    const closed = await ThreadSocket.open(url, { headers: bearer(expiring) });
    const end = once(closed.socket, 'close') as Promise<[code: number, reason: Buffer]>;
    void open(lasting);
    const stays = await ThreadSocket.open(url, { headers: bearer(lasting) });
    await waitFor('all connections', () => openOn(api) === 2 * (ends.length + 1));

    expect(await Promise.all(ends)).toEqual(ends.map(() => 'broken off'));
    const [code, reason] = await end;
    expect([code, reason.toString()]).toEqual([4401, 'The access token has expired']);
    await waitFor('the others to be left', () => openOn(api) === ends.length + 1);
    expect((await search(bearer(expiring))).status).toBe(401);
    const database = api.app.get<DataSource>(getDataSourceToken());
    const statuses: { status: string }[] = await database.query('SELECT DISTINCT status FROM runs');
    expect(statuses).toEqual([{ status: 'pending' }]);
    await stays.close();
    leaving.abort();
    await waitFor('all connections to close', () => openOn(api) === 0);
  });

  it('give access neither to the admin API nor to requests with a wrong key beside them', async () => {
    const token = await provider.token(acme, resource, 'agents');
    expect((await fetch(`${api.url}/admin/tenants`, { headers: bearer(token) })).status).toBe(401);
    expect((await search({ ...bearer(token), 'x-api-key': 'no-tenant-has-this-key' })).status).toBe(401);
    expect((await search({ 'x-api-key': 'dev-key-0123456789' })).status).toBe(200);
  });
});

describe('without an OpenID provider', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_A2A_PUBLIC_CARDS: 'on',
    });
  });

  afterAll(() => api?.close());

  it('no token is requested or accepted', async () => {
    expect((await fetch(`${api.url}/.well-known/oauth-protected-resource`)).status).toBe(404);
    const { status, headers } = await postMcp(api.url, list, { authorization: 'Bearer abc' });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'ApiKey realm="gantry", header="X-API-Key"']);
  });

  it('cards can be read by all callers where the operator allows it, and nothing else', async () => {
    for (const path of ['/a2a/three', '/.well-known/agent-card.json?assistant_id=three']) {
      const response = await fetch(api.url + path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([
        200,
        expect.stringMatching(/^public, /),
      ]);
      expect((await fetch(api.url + path, { headers: { 'x-api-key': 'no-tenant-has-this-key' } })).status).toBe(401);
    }
    const refused = await new AgentCaller(api.url, 'three').post(
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}',
    );
    expect(refused.status).toBe(401);
  });
});

describe('with a provider that cannot be reached', () => {
  it('tokens do not cause a request to it each, and it is asked again later', async () => {
    let requests = 0;
    const provider = createServer((_, response) => {
      requests += 1;
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    const api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_OAUTH_ISSUER: `http://127.0.0.1:${port}`,
    });
    const statusOf = async (): Promise<number> => {
      const token = new UnsecuredJWT({}).encode();
      return (await postMcp(api.url, list, { authorization: `Bearer ${token}` })).status;
    };
    try {
      const asked = Date.now();
      const statuses = await Promise.all(Array.from({ length: 20 }, statusOf));
      const elapsed = Date.now() - asked;
      expect(new Set(statuses)).toEqual(new Set([503]));
      // A machine that takes longer than the pause for them asks once more for each.
      expect(requests).toBeLessThanOrEqual(1 + Math.floor(elapsed / 2_000));
      const before = requests;
      await waitFor('another request', async () => (await statusOf()) === 503 && requests > before);
    } finally {
      await api.close();
      provider.close();
    }
  });

  it('a token is neither refused nor accepted', async () => {
    const api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_OAUTH_ISSUER: `http://127.0.0.1:${await freePort()}`,
    });
    try {
      const token = new UnsecuredJWT({}).encode();
      const { status, headers } = await postMcp(api.url, list, { authorization: `Bearer ${token}` });
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    } finally {
      await api.close();
    }
  });
});
