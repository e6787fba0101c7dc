import { randomUUID } from 'node:crypto';
import { getDataSourceToken } from '@nestjs/typeorm';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import type { TenantId } from '../../src/auth/tenant';
import { CronExecutor } from '../../src/crons/cron-executor';
import { CronFiresRepository } from '../../src/crons/cron-fires.repository';
import { CronRuns } from '../../src/crons/cron-runs';
import { CronsRepository } from '../../src/crons/crons.repository';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { registerNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const LIMIT = 300;
const SIZE = 200;

interface Answer {
  status: number;
  replayed: string | null;
  runs: { run_id: string }[];
}

describe('a batch of runs', () => {
  let api: TestApi;
  /** Another replica on the same database. */
  let replica: TestApi;

  beforeAll(async () => {
    const env = {
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_PENDING_RUNS_PER_TENANT: String(LIMIT),
      TEMPORAL_NAMESPACE: await registerNamespace(),
    };
    api = await startTestApi(env);
    replica = await startTestApi(env, api.database);
  });

  afterAll(async () => {
    await replica?.close();
    await api?.close();
  });

  beforeEach(() => sql('DELETE FROM threads'));

  const sql = <T>(statement: string, parameters: unknown[] = []): Promise<T[]> =>
    api.app.get<DataSource>(getDataSourceToken()).query(statement, parameters);

  /** Due in an hour: their rows are looked at, and no worker is needed. */
  const later = (size: number): object[] =>
    Array.from({ length: size }, (_, place) => ({
      assistant_id: 'three',
      input: { step_ms: 1 },
      metadata: { place },
      after_seconds: 3600,
    }));

  async function send(bodies: object[], { to = api, key }: { to?: TestApi; key?: string } = {}): Promise<Answer> {
    const response = await fetch(`${to.url}/runs/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify(bodies),
    });
    const runs = (await response.json()) as Answer['runs'];
    return { status: response.status, replayed: response.headers.get('idempotency-replayed'), runs };
  }

  const count = async (table: 'runs' | 'threads' | 'idempotency_keys'): Promise<number> =>
    (await sql<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0].count;

  it('is inserted by one transaction, in the order of the request', async () => {
    const { status, runs } = await send(later(SIZE));
    expect([status, runs]).toEqual([200, expect.any(Array)]);
    const [{ transactions }] = await sql<{ transactions: number }>(
      `SELECT count(DISTINCT xmin::text)::int AS transactions
       FROM (SELECT xmin FROM runs UNION ALL SELECT xmin FROM threads) AS written`,
    );
    expect(transactions).toBe(1);
    const rows = await sql<{ id: string; place: number }>(
      `SELECT run_id AS id, (metadata->>'place')::int AS place FROM runs ORDER BY created_at`,
    );
    expect(rows.map(({ place }) => place)).toEqual(Array.from({ length: SIZE }, (_, place) => place));
    expect(runs.map(({ run_id }) => run_id)).toEqual(rows.map(({ id }) => id));
  });

  it('is created in full or not at all when two of them meet the limit at once, on two replicas', async () => {
    const answers = await Promise.all([send(later(SIZE)), send(later(SIZE), { to: replica })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429]);
    expect(await count('runs')).toBe(SIZE);
    expect(await count('threads')).toBe(SIZE);
    expect((await send(later(LIMIT - SIZE))).status).toBe(200);
    expect((await send(later(1))).status).toBe(429);
  });

  it('leaves room for as many single runs that arrive together as the limit says', async () => {
    expect((await send(later(SIZE))).status).toBe(200);
    expect((await send(later(LIMIT - SIZE - 5))).status).toBe(200);
    const answers = await Promise.all(
      later(12).map(async (body) => {
        const headers = { 'content-type': 'application/json' };
        return (await fetch(`${api.url}/runs`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
      }),
    );
    expect(answers.sort()).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
    expect([await count('runs'), await count('threads')]).toEqual([LIMIT, LIMIT]);
  });

  it('is created once by repeated requests, which get the same runs', async () => {
    const key = randomUUID();
    const answers = await Promise.all([api, replica, api].map((to) => send(later(20), { to, key })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.filter(({ replayed }) => replayed === 'true')).toHaveLength(2);
    const [ids, ...repeated] = answers.map(({ runs }) => runs.map(({ run_id }) => run_id));
    for (const each of repeated) expect(each).toEqual(ids);
    expect(await count('runs')).toBe(20);
  });

  it('is answered again when the limit has no room for a second one', async () => {
    const key = randomUUID();
    const first = await send(later(SIZE), { key });
    expect(first).toMatchObject({ status: 200, replayed: null });
    expect(await send(later(SIZE), { key })).toEqual({ ...first, replayed: 'true' });
    expect((await send(later(SIZE))).status).toBe(429);
    expect(await count('runs')).toBe(SIZE);
  });

  it('leaves no idempotency key when it is refused', async () => {
    const key = randomUUID();
    const keys = await count('idempotency_keys');
    expect((await send(later(LIMIT))).status).toBe(200);
    expect((await send(later(2), { key })).status).toBe(429);
    expect(await count('idempotency_keys')).toBe(keys);
    await sql('DELETE FROM threads');
    expect(await send(later(2), { key })).toMatchObject({ status: 200, replayed: null });
  });

  it('keeps the ticks of a cron waiting when it fills the queue, and refuses those that are requested now', async () => {
    const ask = async (path: string, body: object): Promise<Response> =>
      fetch(api.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const request = { assistant_id: 'three', schedule: '0 * * * *', input: {}, enabled: false };
    const { cron_id: cronId } = (await (await ask('/runs/crons', request)).json()) as { cron_id: string };
    const ticks = async (): Promise<Record<string, number>> => {
      const rows = await sql<{ tick: string; count: number }>(
        `SELECT trigger || ' ' || status AS tick, count(*)::int AS count FROM cron_fires GROUP BY 1`,
      );
      return Object.fromEntries(rows.map(({ tick, count: found }) => [tick, found]));
    };
    expect((await send(later(LIMIT - 5))).status).toBe(200);
    const range = { start: '2026-01-05T00:00:00Z', end: '2026-01-05T09:00:00Z' };
    expect((await ask(`/runs/crons/${cronId}/backfill`, range)).status).toBe(200);
    const executor = api.app.get(CronExecutor, { strict: false });
    const cron = { tenantId: api.config.auth.defaultTenantId as TenantId, cronId };
    await expect(executor.startPending(cron)).rejects.toMatchObject({ status: 429 });
    expect(await ticks()).toEqual({ 'backfill started': 5, 'backfill pending': 5 });
    expect((await ask(`/runs/crons/${cronId}/trigger`, {})).status).toBe(429);
    expect(await ticks()).toEqual({ 'backfill started': 5, 'backfill pending': 5, 'manual failed': 1 });
    await sql('DELETE FROM threads');
    expect(await executor.startPending(cron)).toHaveLength(5);
    expect(await ticks()).toEqual({ 'backfill started': 10, 'manual failed': 1 });
  });

  it('is not continued for the ticks of a cron that is deleted meanwhile', async () => {
    const create = await fetch(`${api.url}/runs/crons`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'three', schedule: '0 * * * *', input: {} }),
    });
    const { cron_id: cronId } = (await create.json()) as { cron_id: string };
    const tenantId = api.config.auth.defaultTenantId as TenantId;
    const [crons, fires, runs] = [CronsRepository, CronFiresRepository, CronRuns].map((each) =>
      api.app.get<unknown>(each, { strict: false }),
    ) as [CronsRepository, CronFiresRepository, CronRuns];
    const ticks = [1, 2].map((hour) => ({ scheduledAt: new Date(`2026-01-05T0${hour}:00:00Z`) }));
    await crons.locked(tenantId, cronId, (cron, manager) =>
      fires.insertFires(
        manager,
        cron,
        ticks.map((tick) => ({ ...tick, trigger: 'backfill', status: 'pending' })),
      ),
    );
    const cron = (await crons.findCron(tenantId, cronId))!;
    const [first, second] = await fires.pending(tenantId, cronId, 2);
    expect(await runs.createRunOfTick(cron, first)).toMatchObject({ runId: first.runId });
    await crons.markDeleted(tenantId, cronId);
    expect(await runs.createRunOfTick(cron, second)).toBeNull();
    expect(await count('runs')).toBe(1);
    expect(await count('threads')).toBe(1);
  });

  it('is cancelled while a worker writes events of several of its runs in one statement', async () => {
    const { runs } = await send(later(5));
    await sql(`UPDATE runs SET status = 'running', attempt = 1`);
    const writer = new Client({ connectionString: api.database.url });
    await writer.connect();
    try {
      const locked = `SELECT run_id FROM runs WHERE run_id = ANY($1) ORDER BY thread_id FOR SHARE`;
      const [last] = await sql<{ run_id: string }>('SELECT run_id FROM runs ORDER BY thread_id DESC LIMIT 1');
      // The locks of a statement that writes events, one after the other.
      await writer.query('BEGIN');
      await writer.query(locked, [[last.run_id]]);
      const cancelled = fetch(`${api.url}/runs/cancel`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ status: 'all' }),
      });
      await waitFor('the cancellation to reach the locked run', async () => {
        const waiting = await sql(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      expect((await writer.query(locked, [runs.map(({ run_id }) => run_id)])).rowCount).toBe(5);
      await writer.query('COMMIT');
      expect((await cancelled).status).toBe(204);
      const marked = await sql<{ cancel_action: string }>('SELECT cancel_action FROM runs');
      expect(marked.map(({ cancel_action }) => cancel_action)).toEqual(Array(5).fill('interrupt'));
    } finally {
      await writer.end();
    }
  });
});
