import { Gantry } from '../support/gantry';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';
const BATCH = 260;
/** Few slots, so that the batch fills them at once. */
const SLOTS = 8;
const LIMIT = 300;
const ROUNDS = 50;

describe('tenants that share a worker', () => {
  let gantry: Gantry;
  let alice: TenantCaller;
  let bob: TenantCaller;

  beforeAll(async () => {
    gantry = await Gantry.start({
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: ADMIN_KEY,
        GANTRY_RUNS_PER_WORKER: String(SLOTS),
        GANTRY_PENDING_RUNS_PER_TENANT: String(LIMIT),
        GANTRY_RUN_BATCH_LIMIT: String(BATCH),
      },
    });
    [alice, bob] = await Promise.all([
      TenantCaller.create(gantry.url, ADMIN_KEY),
      TenantCaller.create(gantry.url, ADMIN_KEY),
    ]);
  });

  afterAll(() => gantry?.stop());

  const nap = (ms: number): object => ({ assistant_id: 'sleep', input: { sleep_ms: ms }, on_completion: 'keep' });
  const batch = (who: TenantCaller, size: number, ms: number): Promise<Response> =>
    who.send('POST', '/runs/batch', { body: Array.from({ length: size }, () => nap(ms)) });
  const count = async ({ tenantId }: TenantCaller, status: string): Promise<number> => {
    const { rows } = await gantry.sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM runs WHERE tenant_id = $1 AND status = ANY ($2)',
      [tenantId, status.split(',')],
    );
    return rows[0].count;
  };

  it('do not wait for the batch of another: a single run ends while most of the batch is still waiting', async () => {
    // Longer than the test, so that only slots besides those of the batch can run others.
    expect((await batch(alice, BATCH, 600_000)).status).toBe(200);
    await waitFor('every slot to be taken', async () => (await count(alice, 'running')) >= SLOTS || undefined);
    // Each run comes as soon as the one before has ended, which may still occupy its slot.
    for (let round = 0; round < ROUNDS; round += 1) {
      await bob.json('POST', '/runs/wait', { body: nap(0) });
    }
    // Begun by its workflow, which knows no tenant.
    await bob.json('POST', '/runs/wait', { body: { ...nap(0), after_seconds: 1 } });
    expect(await count(bob, 'success')).toBe(ROUNDS + 1);
    expect(await count(alice, 'success')).toBe(0);
    expect(await count(alice, 'pending')).toBeGreaterThan(BATCH - 3 * SLOTS);
  });

  it('have separate limits of waiting runs, and of the runs in a batch', async () => {
    const waiting = await count(alice, 'pending');
    const tooMany = await batch(alice, BATCH, 0);
    expect(tooMany.status).toBe(429);
    expect(tooMany.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await tooMany.json()).toMatchObject({ detail: expect.stringContaining('GANTRY_PENDING_RUNS_PER_TENANT') });
    // The batch is accepted as a whole or not at all.
    expect(await count(alice, 'pending')).toBe(waiting);

    expect((await batch(alice, LIMIT - waiting, 0)).status).toBe(200);
    await waitFor('the limit', async () => (await count(alice, 'pending')) === LIMIT || undefined);
    const oneMore = await alice.send('POST', '/runs', { body: nap(0) });
    expect(oneMore.status).toBe(429);
    const { thread_id } = await alice.json<{ thread_id: string }>('POST', '/threads', { body: {} });
    expect((await alice.send('POST', `/threads/${thread_id}/runs`, { body: nap(0) })).status).toBe(429);
    // A refused run leaves no rows and blocks no other run.
    expect(await alice.json('GET', `/threads/${thread_id}`)).toMatchObject({ status: 'idle' });
    expect((await bob.send('POST', '/runs', { body: nap(0) })).status).toBe(200);

    const large = await batch(bob, BATCH + 1, 0);
    expect(large.status).toBe(422);
    expect(await large.json()).toMatchObject({ detail: expect.stringContaining(`${BATCH} runs or fewer`) });

    await alice.json('POST', '/runs/cancel', { body: { status: 'pending' } });
    expect((await alice.send('POST', '/runs', { body: nap(0) })).status).toBe(200);
  });
});
