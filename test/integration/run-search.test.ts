import { v7 as uuidv7 } from 'uuid';
import { Pool } from 'pg';
import { startTestApi, type TestApi } from '../support/api';

const HOUR_MS = 3_600_000;

interface Found {
  run_id: string;
  status: string;
  attempts: number;
  error: { message: string } | null;
}

describe('runs over all threads', () => {
  let api: TestApi;
  let sql: Pool;
  let assistantId: string;

  beforeAll(async () => {
    api = await startTestApi();
    sql = new Pool({ connectionString: api.config.database.url, max: 1 });
    const found = await ask('/assistants/search', { limit: 1 });
    assistantId = ((await found.json()) as { assistant_id: string }[])[0].assistant_id;
  });

  afterAll(async () => {
    await sql?.end();
    await api?.close();
  });

  const ask = (path: string, body: object): Promise<Response> =>
    fetch(api.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function idsOf(search: object): Promise<string[]> {
    const response = await ask('/runs/search', search);
    expect(response.status).toBe(200);
    return ((await response.json()) as Found[]).map(({ run_id }) => run_id);
  }

  /** A run as its end leaves it. */
  async function insert(
    status: string,
    { hoursAgo = 0, message = '', metadata = {}, attempt = 2, seconds = 1 } = {},
  ): Promise<string> {
    const at = new Date(Date.now() - hoursAgo * HOUR_MS);
    const thread = uuidv7();
    const run = uuidv7({ msecs: at.getTime() });
    const tenant = api.config.auth.defaultTenantId;
    await sql.query(`INSERT INTO threads (tenant_id, thread_id) VALUES ($1, $2)`, [tenant, thread]);
    await sql.query(
      `INSERT INTO runs (tenant_id, run_id, thread_id, assistant_id, graph_id, status, attempt, kwargs, metadata, error,
         multitask_strategy, scheduled_at, created_at, updated_at, started_at, ended_at)
       VALUES ($1, $2, $3, $4, 'chat', $5, $9, '{}', $6, $7, 'enqueue', $8, $8, $8,
         $8::timestamptz + $10::float8 * interval '1 s',
         CASE WHEN $5 = 'running' THEN NULL ELSE $8::timestamptz + ($10::float8 + 2) * interval '1 s' END)`,
      [
        ...[tenant, run, thread, assistantId, status, metadata, message ? { error: 'Error', message } : null, at],
        ...[attempt, seconds],
      ],
    );
    return run;
  }

  it('are found newest first, page by page, by each filter', async () => {
    const old = await insert('success', { hoursAgo: 30 });
    const failed = await insert('error', { hoursAgo: 3, message: 'The Tool is down' });
    const running = await insert('running', { metadata: { team: 'red', size: 2 } });
    expect(await idsOf({})).toEqual([running, failed, old]);
    expect(await idsOf({ limit: 1 })).toEqual([running]);
    expect(await idsOf({ before: running })).toEqual([failed, old]);
    expect(await idsOf({ status: ['error', 'timeout'] })).toEqual([failed]);
    expect(await idsOf({ error: 'tool IS' })).toEqual([failed]);
    expect(await idsOf({ error: '%' })).toEqual([]);
    expect(await idsOf({ metadata: { team: 'red' } })).toEqual([running]);
    expect(await idsOf({ graph_id: 'chat' })).toHaveLength(3);
    expect(await idsOf({ run_id: failed })).toEqual([failed]);
    expect(await idsOf({ run_id: uuidv7() })).toEqual([]);
    expect(await idsOf({ assistant_id: uuidv7() })).toEqual([]);
    const dayAgo = new Date(Date.now() - 24 * HOUR_MS).toISOString();
    expect(await idsOf({ created_after: dayAgo })).toEqual([running, failed]);
    expect(await idsOf({ created_before: dayAgo })).toEqual([old]);
    expect(await (await ask('/runs/count', { created_after: dayAgo })).json()).toBe(2);

    const [found] = (await (await ask('/runs/search', { status: ['error'] })).json()) as Found[];
    expect(found).toMatchObject({ attempts: 2, error: { error: 'Error', message: 'The Tool is down' } });
    expect(found).not.toHaveProperty('kwargs');
    const wrong = await ask('/runs/search', { status: ['failed'] });
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('status.0')]);
  });

  it('are counted by time, with the runs that are open now', async () => {
    const stats = (await (await ask('/runs/overview', { hours: 24, buckets: 24 })).json()) as {
      running: number;
      pending: number;
      oldest_pending_at: string | null;
      buckets: Record<string, number | null>[];
    };
    expect([stats.pending, stats.running, stats.oldest_pending_at]).toEqual([0, 1, null]);
    expect(stats.buckets).toHaveLength(24);
    expect(stats.buckets.filter(({ created }) => created! > 0)).toHaveLength(2);
    const failed = stats.buckets.find(({ error }) => error === 1)!;
    expect(failed).toMatchObject({ created: 1, success: 0, wait_ms_p50: 1000, duration_ms_p95: 3000 });
  });

  it('have no start when they were cancelled before their turn: only their thread has a place for them', async () => {
    const cancelled = await insert('interrupted', { hoursAgo: 3, attempt: 0, seconds: 600 });
    const [found] = (await (await ask('/runs/search', { run_id: cancelled })).json()) as Found[];
    expect(found).toMatchObject({ attempts: 0, started_at: null, ended_at: expect.any(String) });
    const stats = (await (await ask('/runs/overview', { hours: 24, buckets: 24 })).json()) as {
      buckets: Record<string, number | null>[];
    };
    const waits = stats.buckets.map(({ wait_ms_p95 }) => wait_ms_p95);
    expect(new Set(waits)).toEqual(new Set([null, 1000]));
  });
});
