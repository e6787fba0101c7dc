import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { startTestApi, TestApi } from '../support/api';

const OTHER = '11111111-1111-4111-8111-111111111111';
const KEYS = {
  own: 'own-key-of-the-default-tenant',
  other: 'key-of-the-other-tenant',
  internal: 'internal-key-of-workers',
};

describe('traces of several tenants', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: KEYS.own, GANTRY_INTERNAL_KEY: KEYS.internal });
    const db = new Client({ connectionString: api.database.url });
    await db.connect();
    await db.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'other')`, [OTHER]);
    await db.end();
    await api.app.get(ApiKeysService, { strict: false }).register(OTHER as TenantId, 'other', KEYS.other);
  });
  afterAll(() => api.close());

  async function call(key: string | undefined, method: string, path: string, body?: unknown, tenant?: string) {
    const response = await fetch(api.url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key && { 'x-api-key': key }),
        ...(tenant && { 'x-tenant-id': tenant }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> & { id?: string }[] };
  }

  it('separates the same run id, project name and feedback of two tenants', async () => {
    const id = randomUUID();
    const run = { id, name: 'shared', run_type: 'chain', start_time: '2026-11-20T10:00:00Z', session_name: 'shared' };
    expect((await call(undefined, 'POST', '/api/v1/runs', run)).status).toBe(401);
    for (const key of [KEYS.own, KEYS.other]) {
      expect((await call(key, 'POST', '/api/v1/runs', { ...run, inputs: { key } })).status).toBe(202);
      const read = await call(key, 'GET', `/api/v1/runs/${id}`);
      expect(read.body).toMatchObject({ inputs: { key } });
    }
    const [own, other] = await Promise.all([KEYS.own, KEYS.other].map((key) => call(key, 'GET', '/sessions')));
    expect(own?.body[0]?.id).not.toBe(other?.body[0]?.id);
    const stranger = { session: [own?.body[0]?.id] };
    expect((await call(KEYS.other, 'POST', '/runs/query', stranger)).body).toMatchObject({ runs: [] });
    expect((await call(KEYS.other, 'POST', '/runs/stats', stranger)).body).toMatchObject({ run_count: 0 });
    expect((await call(KEYS.other, 'GET', `/sessions/${own?.body[0]?.id}`)).status).toBe(404);
    expect((await call(KEYS.other, 'DELETE', `/sessions/${own?.body[0]?.id}`)).status).toBe(404);

    const feedback = await call(KEYS.own, 'POST', '/feedback', { run_id: id, key: 'quality', score: 1 });
    const feedbackId = (feedback.body as { id?: string }).id;
    expect((await call(KEYS.other, 'GET', `/feedback/${feedbackId}`)).status).toBe(404);
    expect((await call(KEYS.other, 'GET', `/api/v1/runs/${id}`)).body).toMatchObject({ feedback_stats: null });
  });

  it("accepts the runs of any tenant with the workers' key, and nothing else", async () => {
    const id = randomUUID();
    const run = { id, name: 'own run', run_type: 'chain', start_time: '2026-11-20T10:00:00Z', session_name: 'graphs' };
    expect((await call(KEYS.internal, 'POST', '/api/v1/runs', run, OTHER)).status).toBe(202);
    expect((await call(KEYS.internal, 'PATCH', `/runs/${id}`, { outputs: { a: 1 } }, OTHER)).status).toBe(202);
    expect((await call(KEYS.other, 'GET', `/api/v1/runs/${id}`)).body).toMatchObject({ outputs: { a: 1 } });
    expect((await call(KEYS.own, 'GET', `/api/v1/runs/${id}`)).status).toBe(404);
    expect((await call(KEYS.internal, 'GET', `/api/v1/runs/${id}`, undefined, OTHER)).status).toBe(401);
    expect((await call(KEYS.internal, 'POST', '/api/v1/runs', run)).status).toBe(401);
  });
});
