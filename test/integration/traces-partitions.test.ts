import { randomUUID } from 'node:crypto';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../src/auth/tenant';
import { createDataSource } from '../../src/database/data-source';
import { toValues } from '../../src/traces/feedback/feedback-values';
import { FeedbackRepository } from '../../src/traces/feedback/feedback.repository';
import { TraceIngestRepository } from '../../src/traces/ingest/trace-ingest.repository';
import { TraceRunsRepository } from '../../src/traces/query/trace-runs.repository';
import { TracePartitionSweep } from '../../src/traces/trace-partition-sweep';
import { TracePartitions } from '../../src/traces/trace-partitions';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { testConfig } from '../support/config';

const DAY_MS = 86_400_000;
const day = (ahead: number): string => new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10);

describe('partitions of traces', () => {
  let api: ApiProcess;
  let worker: DataSource;

  beforeAll(async () => {
    api = await startApiProcess();
    worker = await createDataSource(api.database.url).initialize();
  });
  afterAll(async () => {
    await worker.destroy();
    await api.close();
  });

  const sweep = (overrides: Record<string, string>) =>
    new TracePartitionSweep(testConfig(api.database.url, overrides), new TracePartitions(worker)).sweep();
  const days = async (): Promise<string[]> => {
    const rows = await worker.query<{ name: string }[]>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'trace_runs'::regclass ORDER BY 1`,
    );
    return rows.map(({ name }) => name.slice(-8));
  };
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  };
  const run = (start: string) => ({
    id: randomUUID(),
    name: 'run',
    run_type: 'chain',
    start_time: start,
    session_name: 'days',
  });

  it('are created in advance, and again without effect', async () => {
    await sweep({});
    await Promise.all([sweep({}), sweep({})]);
    expect(await days()).toEqual([0, 1, 2, 3].map((ahead) => day(ahead).replaceAll('-', '')));
  });

  it('are dropped after their retention with everything in them, and created again when a run of that day arrives', async () => {
    const old = run(`${day(-10)}T12:00:00Z`);
    const kept = run(`${day(-2)}T12:00:00Z`);
    for (const { id, ...fields } of [old, kept]) {
      expect(await post('/api/v1/runs', { id, ...fields })).toBe(202);
      expect(await post('/feedback', { run_id: id, key: 'quality', score: 1 })).toBe(200);
    }
    await sweep({ GANTRY_TRACE_RETENTION_DAYS: '5' });
    expect(await days()).not.toContain(day(-10).replaceAll('-', ''));
    for (const table of ['trace_runs', 'trace_run_keys', 'trace_feedback']) {
      const rows = await worker.query<{ run_id: string }[]>(`SELECT run_id FROM ${table}`);
      expect({ table, ids: rows.map((row) => row.run_id) }).toEqual({ table, ids: [kept.id] });
    }
    // The api still believes that the day is there.
    expect(await post('/api/v1/runs', run(`${day(-10)}T13:00:00Z`))).toBe(202);
    expect(await days()).toContain(day(-10).replaceAll('-', ''));
  });

  it('are not needed to delete attachments of runs that never came, whose feedback is deleted with its own day', async () => {
    const id = randomUUID();
    const form = new FormData();
    form.append(`attachment.${id}.notes`, new Blob(['hello'], { type: 'text/plain' }));
    expect((await fetch(`${api.url}/runs/multipart`, { method: 'POST', body: form })).status).toBe(202);
    const feedback = { run_id: id, key: 'quality', score: 1, created_at: `${day(-15)}T12:00:00Z` };
    expect(await post('/feedback', feedback)).toBe(200);
    await new TracePartitions(worker).forgetHeld(new Date(Date.now() + DAY_MS));
    const count = async (table: string): Promise<number> => {
      const [{ n }] = await worker.query<[{ n: number }]>(`SELECT count(*)::int AS n FROM ${table} WHERE run_id = $1`, [
        id,
      ]);
      return n;
    };
    expect([await count('trace_attachments'), await count('trace_run_keys')]).toEqual([0, 0]);
    expect(await count('trace_feedback')).toBe(1);
    await post('/api/v1/runs', run(`${day(-14)}T12:00:00Z`));
    await sweep({ GANTRY_TRACE_RETENTION_DAYS: '5' });
    expect(await count('trace_feedback')).toBe(0);
  });

  it('are locked only where the runs are that a statement names', async () => {
    const traced = run(`${day(0)}T12:00:00Z`);
    await post('/api/v1/runs', traced);
    const [{ tenantId }] = await worker.query<[{ tenantId: TenantId }]>(
      'SELECT tenant_id AS "tenantId" FROM trace_run_keys WHERE run_id = $1',
      [traced.id],
    );
    expect((await days()).length).toBeGreaterThan(3);
    const [runs, feedback] = [new TraceIngestRepository(), new FeedbackRepository(worker)];
    const values = toValues({ run_id: traced.id, key: 'quality', score: 1 });
    const page = { selection: { ids: [traced.id] }, payloads: [], order: 'desc' as const, limit: 1 };
    const statements: Record<string, (manager: EntityManager) => Promise<unknown>> = {
      'feedback is stored': (manager) => feedback.upsertFeedback(manager, tenantId, [values]),
      'summaries are refreshed': (manager) => feedback.refreshStats(manager, tenantId, [traced.id]),
      'feedback is placed': (manager) => feedback.placeWithRuns(manager, tenantId, [traced.id]),
      'positions are read': (manager) => runs.positions(manager, tenantId, [traced.id]),
      'runs are read by their ids': (manager) =>
        new TraceRunsRepository({ query: manager.query.bind(manager) } as DataSource).page(tenantId, page),
    };
    for (const [title, statement] of Object.entries(statements)) {
      const locked = await worker.transaction(async (manager) => {
        await statement(manager);
        const rows = await manager.query<{ name: string }[]>(
          `SELECT DISTINCT c.relname AS name FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
           WHERE l.pid = pg_backend_pid() AND c.relname ~ '^trace_runs_[0-9]{8}$'`,
        );
        return rows.map(({ name }) => name);
      });
      expect([title, locked]).toEqual([title, [`trace_runs_${day(0).replaceAll('-', '')}`]]);
    }
  });

  it('are dropped later while a backup reads them, and nothing waits for that', async () => {
    await post('/api/v1/runs', run(`${day(-20)}T12:00:00Z`));
    const sweeper = new TracePartitionSweep(
      testConfig(api.database.url, { GANTRY_TRACE_RETENTION_DAYS: '5' }),
      new TracePartitions(worker),
    );
    const backup = worker.createQueryRunner();
    await backup.startTransaction();
    await backup.query('SELECT count(*) FROM trace_runs');
    await sweeper.sweep();
    expect(await days()).toContain(day(-20).replaceAll('-', ''));
    const query = jest.spyOn(worker, 'query');
    await sweeper.sweep();
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
    await backup.rollbackTransaction();
    await backup.release();
    await sweep({ GANTRY_TRACE_RETENTION_DAYS: '5' });
    expect(await days()).not.toContain(day(-20).replaceAll('-', ''));
  });

  it('are read in the order of exports by their primary key alone', async () => {
    const plan = await worker.query<{ 'QUERY PLAN': string }[]>(
      `EXPLAIN (COSTS OFF) SELECT * FROM trace_runs
       WHERE tenant_id = '00000000-0000-0000-0000-000000000000' AND project_id = '${randomUUID()}'
         AND start_time >= '2020-01-01Z' AND start_time < '2030-01-01Z'
         AND (start_time, run_id) > ('2020-06-01Z', '${randomUUID()}')
       ORDER BY start_time, run_id LIMIT 1000`,
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('_pkey');
    expect(text).not.toMatch(/\bSort\b/);
  });
});
