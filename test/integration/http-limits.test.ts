import { setTimeout as sleep } from 'node:timers/promises';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const KEYS = { a: 'key-of-tenant-a-0123456789', b: 'key-of-tenant-b-0123456789' };
const ADMIN_KEY = 'the-admin-key-0123456789';
/** Requests per second; a window is ten seconds. */
const PER_SECOND = 0.5;

describe('the limits of the api', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_RATE_LIMIT_PER_SECOND: String(PER_SECOND),
      GANTRY_TRACE_RATE_LIMIT_PER_SECOND: '2',
      GANTRY_DOCS: 'protected',
    });
    const database = api.app.get<DataSource>(getDataSourceToken());
    for (const name of ['a', 'b'] as const) {
      const tenantId = uuidv7() as TenantId;
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
      await api.app.get(ApiKeysService, { strict: false }).register(tenantId, name, KEYS[name]);
    }
  });

  afterAll(() => api?.close());

  const ask = (path: string, headers: Record<string, string> = {}, body?: object): Promise<Response> =>
    fetch(api.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const search = (key: string): Promise<Response> => ask('/threads/search', { 'x-api-key': key }, {});

  describe('on what is wrong in a request', () => {
    it('refuse more list elements than are checked, also from callers who are not known', async () => {
      const response = await ask('/api/v1/public/x/runs/query', {}, { id: new Array<number>(490_000).fill(0) });
      const message = 'The lists of a request have at most 20000 elements together';
      expect([response.status, await response.json()]).toEqual([
        422,
        { detail: message, code: 'invalid_request', errors: [{ path: '', message }] },
      ]);
    });

    it('name at most a hundred wrong fields', async () => {
      const response = await ask('/api/v1/public/x/runs/query', {}, { id: new Array<number>(10_000).fill(0) });
      expect(response.status).toBe(422);
      expect(((await response.json()) as { errors: unknown[] }).errors).toHaveLength(100);
    });
  });

  describe('on requests of one key', () => {
    it('report the remaining requests, refuse with the time to wait, and do not affect other keys', async () => {
      const max = PER_SECOND * 10;
      // A window may end in between.
      const refused = await waitFor('the refusal', async () => {
        const response = await search(KEYS.a);
        expect(response.headers.get('x-ratelimit-limit')).toBe(String(max));
        if (response.status === 200) {
          expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeLessThan(max);
          return undefined;
        }
        return response;
      });
      expect(refused.status).toBe(429);
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(10);
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(refused.headers.get('x-ratelimit-reset')).toBe(String(seconds));
      expect(await refused.json()).toEqual({
        detail: `Too many requests: try again in ${seconds} s`,
        code: 'rate_limited',
      });
      expect((await search(KEYS.b)).status).toBe(200);
    });

    it('end after the time in Retry-After', async () => {
      const refused = await waitFor('the refusal', async () => {
        const response = await search(KEYS.a);
        return response.status === 429 && response;
      });
      await sleep(Number(refused.headers.get('retry-after')) * 1000);
      expect((await search(KEYS.a)).status).toBe(200);
    });

    it('don’t apply to probes, scrapers, the operator and callers without a key', async () => {
      for (let request = 0; request < PER_SECOND * 10 + 2; request += 1) {
        for (const path of ['/ok', '/ready', '/metrics', '/info']) {
          expect([path, (await ask(path, { 'x-api-key': KEYS.b })).status]).toEqual([path, 200]);
        }
        expect((await ask('/admin/tenants', { 'x-api-key': ADMIN_KEY })).status).toBe(200);
        expect((await search('nobody-has-this-key')).status).toBe(401);
      }
    });

    it('are separate for traces, which clients lose when they are refused for long', async () => {
      await waitFor('the refusal', async () => (await search(KEYS.a)).status === 429);
      const trace = (): Promise<Response> =>
        ask('/api/v1/runs/batch', { 'x-api-key': KEYS.a }, { post: [], patch: [] });
      const refused = await waitFor('the refusal of traces', async () => {
        const response = await trace();
        expect([202, 429]).toContain(response.status);
        return response.status === 429 && response;
      });
      expect(refused.headers.get('x-ratelimit-limit')).toBe('2');
      expect(refused.headers.get('retry-after')).toBe('1');
      await sleep(1_000);
      expect((await trace()).status).toBe(202);
    });

    it('can be read by pages of other origins', async () => {
      const response = await ask('/threads/search', { 'x-api-key': KEYS.b, origin: 'https://page.example' }, {});
      const exposed = response.headers.get('access-control-expose-headers');
      for (const name of ['Limit', 'Remaining', 'Reset']) expect(exposed).toContain(`X-RateLimit-${name}`);
      expect(exposed).toContain('Retry-After');
    });
  });

  describe('on how a browser treats an answer', () => {
    it('let data be nothing but data', async () => {
      for (const path of ['/ok', '/threads/nothing', '/nowhere']) {
        const { headers } = await ask(path);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
        expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
        expect(headers.get('x-frame-options')).toBe('DENY');
        expect(headers.get('referrer-policy')).toBe('no-referrer');
        expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
        // The proxy that ends TLS decides that for the whole host.
        expect(headers.has('strict-transport-security')).toBe(false);
      }
    });

    it('let the pages about the API run their own scripts', async () => {
      const { headers } = await ask('/docs', { 'x-api-key': KEYS.b });
      expect(headers.get('content-security-policy')).toMatch(/script-src 'self';/);
      expect(headers.get('content-security-policy')).not.toMatch(/script-src[^;]*unsafe/);
    });
  });

  describe('on readers of the description of the API', () => {
    const PAGES = ['/docs', '/docs/', '/docs/index.html', '/docs/swagger-ui-init.js', '/docs/swagger-ui.css'];
    const basic = (password: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}`,
    });

    it('make a browser ask for a key, on every page and file', async () => {
      for (const path of [...PAGES, '/openapi.json']) {
        const response = await ask(path);
        expect([path, response.status]).toEqual([path, 401]);
        expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
        expect((await ask(path, { 'x-api-key': 'nobody-has-this-key' })).status).toBe(401);
        expect((await ask(path, basic('nobody-has-this-key'))).status).toBe(401);
      }
      // No other spelling of them is served.
      for (const path of ['/docs-yaml', '/docs-json']) expect((await ask(path, basic(KEYS.a))).status).toBe(404);
    });

    it('admit callers with a key, as a header or as the password', async () => {
      for (const path of [...PAGES, '/openapi.json']) {
        for (const headers of [{ 'x-api-key': KEYS.a }, basic(KEYS.a), basic(ADMIN_KEY)]) {
          expect([path, (await ask(path, headers)).status]).toEqual([path, 200]);
        }
      }
    });
  });
});
