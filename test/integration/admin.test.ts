import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { ApiKey, CreatedApiKey, Tenant } from '../../src/auth/admin.schemas';
import { ENTITLEMENT } from '../../src/auth/entitlements';
import { KeyUsage } from '../../src/auth/key-usage';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { addressOf, routesOf } from '../support/routes';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';
const TENANT_KEY = 'development-key-0123456789';

describe('the admin API', () => {
  let api: TestApi;
  let database: DataSource;

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: TENANT_KEY,
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
    });
    database = api.app.get<DataSource>(getDataSourceToken());
  });

  afterAll(() => api?.close());

  const send = (key: string | undefined, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(api.url + path, {
      method,
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const admin = async <T>(method: string, path: string, body?: unknown, status = 200): Promise<T> => {
    const response = await send(ADMIN_KEY, method, path, body);
    const text = await response.text();
    expect([response.status, text]).toEqual([status, expect.any(String)]);
    return JSON.parse(text) as T;
  };
  const newTenant = (): Promise<Tenant> => admin<Tenant>('POST', '/admin/tenants', { name: `tenant ${uuidv7()}` });
  const newKey = (tenantId: string, more: object = {}): Promise<CreatedApiKey> =>
    admin<CreatedApiKey>('POST', '/admin/keys', { tenant_id: tenantId, name: 'ci', ...more });
  const searchThreads = (key: string): Promise<Response> => send(key, 'POST', '/threads/search', {});

  describe('belongs to the operator only', () => {
    const adminRoutes = (): { method: string; path: string }[] =>
      routesOf(api.app)
        .filter(({ path }) => path.startsWith('/admin'))
        .map(({ method, path }) => ({ method, path: addressOf(path) }));

    it('on every route', async () => {
      expect(adminRoutes().length).toBeGreaterThan(6);
      for (const { method, path } of adminRoutes()) {
        const statuses = [];
        for (const key of [undefined, 'key-of-nobody-0123456789', TENANT_KEY]) {
          statuses.push((await send(key, method, path)).status);
        }
        expect([method, path, ...statuses]).toEqual([method, path, 401, 401, 403]);
      }
    });

    it('and its key is not accepted on routes of tenants', async () => {
      expect((await searchThreads(ADMIN_KEY)).status).toBe(401);
    });

    it('also while authentication is off, and without an admin key it is disabled', async () => {
      const open = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
      try {
        const ask = (headers: Record<string, string>): Promise<Response> =>
          fetch(`${open.url}/admin/keys`, { headers });
        expect((await ask({})).status).toBe(401);
        expect((await ask({ 'x-api-key': '' })).status).toBe(401);
        expect((await ask({ 'x-api-key': ADMIN_KEY })).status).toBe(401);
      } finally {
        await open.close();
      }
    });
  });

  describe('tenants', () => {
    it('are created, listed, read and renamed', async () => {
      const name = `acme ${uuidv7()}`;
      const made = await admin<Tenant>('POST', '/admin/tenants', { name });
      expect(made).toMatchObject({ name, entitlements: { crons: true, bulk_export: true } });
      const listed = await admin<Tenant[]>('GET', '/admin/tenants?limit=1000');
      expect(listed.map(({ tenant_id }) => tenant_id)).toContain(made.tenant_id);
      const renamed = await admin<Tenant>('PATCH', `/admin/tenants/${made.tenant_id}`, { name: `${name} Ltd` });
      expect(renamed).toEqual({ ...made, name: `${name} Ltd` });
      expect(await admin<Tenant>('GET', `/admin/tenants/${made.tenant_id}`)).toEqual(renamed);
    });

    it('have unique names and ids', async () => {
      const { name, tenant_id } = await newTenant();
      expect((await send(ADMIN_KEY, 'POST', '/admin/tenants', { name })).status).toBe(409);
      expect((await send(ADMIN_KEY, 'POST', '/admin/tenants', { name: uuidv7(), tenant_id })).status).toBe(409);
    });

    it('are a 404 when they do not exist', async () => {
      for (const [method, path, body] of [
        ['GET', `/admin/tenants/${uuidv7()}`, undefined],
        ['PATCH', `/admin/tenants/${uuidv7()}`, {}],
        ['DELETE', `/admin/keys/${uuidv7()}`, undefined],
        ['POST', '/admin/keys', { tenant_id: uuidv7(), name: 'ci' }],
      ] as const) {
        expect([path, (await send(ADMIN_KEY, method, path, body)).status]).toEqual([path, 404]);
      }
    });
  });

  describe('keys', () => {
    it('are shown once, stored hashed, and give access to their tenant', async () => {
      const { tenant_id } = await newTenant();
      const { key, ...shown } = await newKey(tenant_id);
      expect(key).toMatch(/^gtry_[A-Za-z0-9_-]{49}$/);
      expect((await searchThreads(key)).status).toBe(200);

      const listed = await admin<ApiKey[]>('GET', `/admin/keys?tenant_id=${tenant_id}`);
      expect(listed).toEqual([{ ...shown, last_used_at: null }]);
      expect(JSON.stringify(listed)).not.toContain(key);
      const rows: unknown[] = await database.query('SELECT * FROM api_keys');
      expect(JSON.stringify(rows)).not.toContain(key.slice(5, -4));
      expect(JSON.stringify(rows)).not.toContain(Buffer.from(key).toString('hex'));
    });

    it('give no access immediately after they were revoked, even if they were just used', async () => {
      const { tenant_id } = await newTenant();
      const { key, key_id } = await newKey(tenant_id);
      expect((await searchThreads(key)).status).toBe(200);
      const revoked = await admin<ApiKey>('DELETE', `/admin/keys/${key_id}`);
      expect(revoked.revoked_at).not.toBeNull();
      await waitFor('the refusal', async () => (await searchThreads(key)).status === 401, 4_500);
      expect(await admin<ApiKey>('DELETE', `/admin/keys/${key_id}`)).toEqual(revoked);
    });

    it('give no access after they have expired, even if they were just used', async () => {
      const { tenant_id } = await newTenant();
      const { key } = await newKey(tenant_id, { expires_at: new Date(Date.now() + 10_000).toISOString() });
      expect((await searchThreads(key)).status).toBe(200);
      await waitFor('the refusal', async () => (await searchThreads(key)).status === 401, 14_000);
    });

    it('cannot be created with an expiry in the past', async () => {
      const { tenant_id } = await newTenant();
      const body = { tenant_id, name: 'late', expires_at: '2020-01-01T00:00:00Z' };
      expect((await send(ADMIN_KEY, 'POST', '/admin/keys', body)).status).toBe(422);
    });

    it('record when they were last used, in one write for many uses', async () => {
      const { tenant_id } = await newTenant();
      const { key } = await newKey(tenant_id);
      const before = Date.now();
      const [{ n: earlier }] = await database.query<{ n: string }[]>(
        'SELECT xmin::text AS n FROM api_keys WHERE tenant_id = $1',
        [tenant_id],
      );
      for (let use = 0; use < 5; use += 1) await searchThreads(key);
      const [{ n: now }] = await database.query<{ n: string }[]>(
        'SELECT xmin::text AS n FROM api_keys WHERE tenant_id = $1',
        [tenant_id],
      );
      expect(now).toBe(earlier);
      await api.app.get(KeyUsage, { strict: false }).flush();
      const [{ last_used_at: lastUsed }] = await admin<ApiKey[]>('GET', `/admin/keys?tenant_id=${tenant_id}`);
      expect(Date.parse(lastUsed!)).toBeGreaterThanOrEqual(before - 1);
    });
  });

  describe('entitlements', () => {
    const createExport = (key: string, tenantId: string): Promise<Response> =>
      fetch(`${api.url}/api/v1/bulk-exports`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'x-tenant-id': tenantId, 'content-type': 'application/json' },
        body: '{}',
      });

    it('are disabled for one tenant, which gets the reason, and enabled again', async () => {
      const [one, other] = [await newTenant(), await newTenant()];
      const [key, otherKey] = [await newKey(one.tenant_id), await newKey(other.tenant_id)];
      expect((await createExport(key.key, one.tenant_id)).status).toBe(422);

      const off = await admin<Tenant>('PATCH', `/admin/tenants/${one.tenant_id}`, {
        entitlements: { bulk_export: false },
      });
      expect(off.entitlements).toEqual({ crons: true, bulk_export: false });
      await waitFor('the refusal', async () => (await createExport(key.key, one.tenant_id)).status === 403, 4_500);
      const { detail } = (await (await createExport(key.key, one.tenant_id)).json()) as { detail: string };
      expect(detail).toMatch(/^Bulk export \(bulk_export\) belongs to a higher plan/);
      expect((await createExport(otherKey.key, other.tenant_id)).status).toBe(422);

      await admin('PATCH', `/admin/tenants/${one.tenant_id}`, { entitlements: { bulk_export: true } });
      await waitFor('the consent', async () => (await createExport(key.key, one.tenant_id)).status === 422, 4_500);
    });

    it('are required by everything that starts or resumes work: every such route answers 403 with the reason', async () => {
      const { tenant_id } = await newTenant();
      const { key } = await newKey(tenant_id);
      const entitlements = { crons: false, bulk_export: false };
      await admin('PATCH', `/admin/tenants/${tenant_id}`, { entitlements });
      await waitFor('the refusal', async () => (await createExport(key, tenant_id)).status === 403, 4_500);
      const needy = routesOf(api.app)
        .map((route) => ({ ...route, entitlement: Reflect.getMetadata(ENTITLEMENT, route.handler) as string }))
        .filter(({ entitlement }) => entitlement !== undefined);
      expect(needy.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'POST /api/v1/bulk-exports',
        'POST /api/v1/bulk-exports/:export_id/retry',
        'POST /api/v1/bulk-exports/:export_id/runs/:run_id/retry',
        'POST /api/v1/bulk-exports/destinations',
        'POST /runs/crons',
        'PATCH /runs/crons/:cron_id',
        'POST /runs/crons/:cron_id/backfill',
        'POST /runs/crons/:cron_id/resume',
        'POST /runs/crons/:cron_id/trigger',
        'POST /threads/:thread_id/runs/crons',
      ]);
      for (const { method, path, entitlement } of needy) {
        const response = await fetch(api.url + addressOf(path), {
          method,
          headers: { 'x-api-key': key, 'x-tenant-id': tenant_id, 'content-type': 'application/json' },
          body: '{}',
        });
        expect([path, response.status]).toEqual([path, 403]);
        const { detail } = (await response.json()) as { detail: string };
        expect([path, detail]).toEqual([path, expect.stringMatching(new RegExp(`\\(${entitlement}\\) belongs to`))]);
      }
    });

    it('allow reading and stopping for a tenant that has lost them', async () => {
      const { tenant_id } = await newTenant();
      const { key } = await newKey(tenant_id);
      await admin('PATCH', `/admin/tenants/${tenant_id}`, { entitlements: { bulk_export: false } });
      await waitFor('the refusal', async () => (await createExport(key, tenant_id)).status === 403, 4_500);
      const list = await fetch(`${api.url}/api/v1/bulk-exports`, {
        headers: { 'x-api-key': key, 'x-tenant-id': tenant_id },
      });
      expect(list.status).toBe(200);
    });

    it('are refused when they are unknown', async () => {
      const { tenant_id } = await newTenant();
      const body = { entitlements: { everything: true } };
      expect((await send(ADMIN_KEY, 'PATCH', `/admin/tenants/${tenant_id}`, body)).status).toBe(422);
    });
  });
});
