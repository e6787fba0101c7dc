import { randomUUID } from 'node:crypto';
import type { Thread } from '@langchain/langgraph-sdk';
import { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { inScope } from '../../src/database/request-scope';
import { ThreadsRepository } from '../../src/threads/threads.repository';
import type { TenantId } from '../../src/auth/tenant';
import { startTestApi, type TestApi } from '../support/api';

const REQUESTS = 30;

/** Requests that arrive together share a statement; each still has its own answer. */
describe('threads that are created at once', () => {
  let api: TestApi;
  let pool: Pool;

  beforeAll(async () => {
    api = await startTestApi();
    pool = new Pool({ connectionString: api.database.url, max: 1 });
  });

  afterAll(async () => {
    await pool?.end();
    await api?.close();
  });

  const create = (body: object): Promise<Response> =>
    fetch(`${api.url}/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  async function createTenants(count: number): Promise<TenantId[]> {
    const tenants = Array.from({ length: count }, () => uuidv7() as TenantId);
    for (const tenant of tenants)
      await pool.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'a tenant')`, [tenant]);
    return tenants;
  }

  const numbers = Array.from({ length: REQUESTS }, (_, number) => number);

  it('each have what their request says', async () => {
    const ttlOf = (number: number): object | undefined =>
      number % 2 === 0 ? { ttl: number + 1, strategy: number % 4 === 0 ? 'delete' : 'keep_latest' } : undefined;
    const bodies = numbers.map((number) => ({ thread_id: randomUUID(), metadata: { number }, ttl: ttlOf(number) }));
    const answers = await Promise.all(bodies.map(create));
    const threads = (await Promise.all(answers.map((answer) => answer.json()))) as Thread[];
    expect(threads).toMatchObject(bodies.map(({ thread_id, metadata }) => ({ thread_id, metadata, status: 'idle' })));
    const { rows } = await pool.query<{ ttl: object | null }>(
      `SELECT CASE WHEN ttl_minutes IS NOT NULL THEN jsonb_build_object('ttl', ttl_minutes, 'strategy', ttl_strategy) END AS ttl
       FROM threads JOIN unnest($1::uuid[]) WITH ORDINALITY AS asked (thread_id, index) USING (thread_id) ORDER BY index`,
      [bodies.map(({ thread_id }) => thread_id)],
    );
    expect(rows.map(({ ttl }) => ttl)).toEqual(bodies.map(({ ttl }) => ttl ?? null));
  });

  it('with the same id are one thread, which all but one request find', async () => {
    const thread_id = randomUUID();
    const answers = await Promise.all(numbers.map((number) => create({ thread_id, metadata: { number } })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(REQUESTS - 1).fill(409)]);
    const again = await Promise.all(numbers.map(() => create({ thread_id, if_exists: 'do_nothing' })));
    expect(again.map(({ status }) => status)).toEqual(Array<number>(REQUESTS).fill(200));
  });

  it('of which one cannot be stored are all created but that one', async () => {
    const bodies = numbers.map((number) => ({
      thread_id: randomUUID(),
      metadata: { note: number === 7 ? 'a\u0000b' : 'a' },
    }));
    const answers = await Promise.all(bodies.map(create));
    const refused = (await create(bodies[7])).status;
    expect(refused).toBeGreaterThanOrEqual(400);
    expect(refused).toBeLessThan(500);
    expect(answers.map(({ status }) => status)).toEqual(numbers.map((number) => (number === 7 ? refused : 200)));
  });

  it('belong to their tenants', async () => {
    const tenants = await createTenants(3);
    const repository = api.app.get(ThreadsRepository, { strict: false });
    const inserted = await Promise.all(
      numbers.map((number) => {
        const tenantId = tenants[number % tenants.length];
        return inScope({ tenantId }, () => repository.insertThread(tenantId, uuidv7(), { number }, undefined));
      }),
    );
    expect(inserted.map((thread) => thread?.tenantId)).toEqual(
      numbers.map((number) => tenants[number % tenants.length]),
    );
    expect(inserted.map((thread) => thread?.metadata)).toEqual(numbers.map((number) => ({ number })));
  });

  it('of a tenant whose request is that of another one are refused, and no others', async () => {
    const [own, other] = await createTenants(2);
    const repository = api.app.get(ThreadsRepository, { strict: false });
    const insert = (scope: TenantId, tenantId: TenantId): Promise<unknown> =>
      inScope({ tenantId: scope }, () => repository.insertThread(tenantId, uuidv7(), {}, undefined));
    const results = await Promise.allSettled([
      insert(own, own),
      insert(other, own),
      insert(own, own),
      insert(other, other),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });
});
