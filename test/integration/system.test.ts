import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { Drain } from '../../src/http/drain';
import { startTestApi, type TestApi } from '../support/api';
import { createTestDatabase, requestsUrlOf } from '../support/database';
import { TEST_GRAPHS } from '../support/gantry';
import { temporaryConfig } from '../support/langgraph-json';
import { freePort } from '../support/ports';
import { waitFor } from '../support/wait-for';
import { Exposition } from '../support/prometheus';

const API_KEY = `gtry_${'k'.repeat(43)}`;
const TOKEN = 'scrape-me-if-you-can';

const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('the system routes', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, GANTRY_REVISION: 'release-7' });
  });

  afterAll(() => api?.close());

  it('report that the process lives, and check the services only on request', async () => {
    for (const path of ['/', '/ok', '/ok?check_db=0', '/ok?check_db=false']) {
      expect(await json(await fetch(api.url + path))).toEqual({
        ok: true,
        services: { database: 'skipped', temporal: 'skipped' },
      });
    }
    for (const path of ['/ok?check_db=1', '/ok?check_db=2', '/?check_db=True']) {
      const response = await fetch(api.url + path);
      expect([response.status, await json(response)]).toEqual([
        200,
        { ok: true, services: { database: 'healthy', temporal: 'healthy' } },
      ]);
    }
    expect((await fetch(`${api.url}/ok?check_db=perhaps`)).status).toBe(422);
  });

  it('list the available features, and the revision of the graphs', async () => {
    const info = await json(await fetch(`${api.url}/info`));
    expect(info).toMatchObject({
      flags: { assistants: true, threads: true, runs: true, auth: false },
      host: { kind: 'self-hosted', revision_id: 'release-7' },
    });
    const { paths } = (await json(await fetch(`${api.url}/openapi.json`))) as { paths: object };
    const { flags } = info as { flags: Record<string, boolean> };
    expect(flags.crons).toBe('/runs/crons' in paths);
    expect(flags.store).toBe('/store/items' in paths);
  });

  describe('/metrics', () => {
    it('is a Prometheus exposition that another parser reads, with types and help for all', async () => {
      const response = await fetch(`${api.url}/metrics`);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      const { families } = new Exposition(await response.text());
      for (const [name, { type, help }] of families) {
        expect([name, help !== '', type === 'UNTYPED']).toEqual([name, true, false]);
        expect(name).toMatch(/^(gantry|process|nodejs)_[a-z0-9_]+$/);
      }
      expect([...families.keys()]).toEqual(
        expect.arrayContaining([
          'gantry_info',
          'gantry_runs',
          'gantry_run_queue_age_seconds',
          'gantry_workers',
          'gantry_stream_subscribers',
          'gantry_webhook_deliveries_pending',
          'gantry_exports_open',
          'gantry_database_pool_connections',
          'process_resident_memory_bytes',
          'nodejs_eventloop_lag_seconds',
        ]),
      );
      expect(families.get('gantry_backlog_up')).toMatchObject({ metrics: [{ value: '1' }] });
    });

    it('counts requests by route and never by address', async () => {
      const thread = uuidv7();
      await fetch(`${api.url}/threads/${thread}?secret=1`);
      await fetch(`${api.url}/no/such/${thread}`);
      const exposition = await Exposition.get(`${api.url}/metrics`);
      const route = { method: 'GET', route: '/threads/:thread_id' };
      expect(exposition.value('gantry_http_requests_total', { ...route, status: '404' })).toBe(1);
      expect(exposition.value('gantry_http_request_duration_seconds', route)).toBe(1);
      expect(exposition.value('gantry_http_requests_total', { route: 'none' })).toBe(1);
      expect(exposition.text).not.toContain(thread);
      expect(exposition.text).not.toContain('secret');
      for (const own of ['/metrics', '/ok']) expect(exposition.labels()).not.toContain(own);
    });

    it('shows the backlog, its age, and how much of it a worker could take', async () => {
      const create = async (threadId: string, body: object = {}): Promise<void> => {
        const response = await fetch(`${api.url}/threads/${threadId}/runs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ assistant_id: 'three', if_not_exists: 'create', ...body }),
        });
        expect(response.status).toBe(200);
      };
      const [one, other] = [uuidv7(), uuidv7()];
      await create(one);
      await create(one);
      await create(other, { after_seconds: 3600 });
      const sql = new Client({ connectionString: api.database.url });
      await sql.connect();
      // Runs that no worker has taken for a minute; the first is running, the second waits for it.
      await sql.query(`UPDATE runs SET scheduled_at = scheduled_at - interval '1 minute' WHERE thread_id = $1`, [one]);
      await sql.query(
        `UPDATE runs SET status = 'running' WHERE run_id = (SELECT min(run_id::text)::uuid FROM runs WHERE thread_id = $1)`,
        [one],
      );
      await sql.end();
      // A reading is reused for five seconds.
      await new Promise((resolve) => setTimeout(resolve, 5_100));
      const exposition = await Exposition.get(`${api.url}/metrics`);
      expect(exposition.value('gantry_runs', { status: 'pending' })).toBe(1);
      expect(exposition.value('gantry_runs', { status: 'running' })).toBe(1);
      expect(exposition.value('gantry_runs', { status: 'scheduled' })).toBe(1);
      expect(exposition.value('gantry_run_queue_age_seconds')).toBeGreaterThanOrEqual(60);
      expect(exposition.value('gantry_run_queue_unblocked_age_seconds')).toBe(0);
      const form = await json(await fetch(`${api.url}/metrics?format=json`));
      expect(form).toMatchObject({
        queue: {
          n_pending: 1,
          n_running: 1,
          pending_runs_wait_time_max_secs: expect.any(Number),
          pending_runs_wait_time_med_secs: expect.any(Number),
          pending_unblocked_runs_wait_time_max_secs: 0,
        },
        workers: { max: 0, active: 1, available: 0 },
        postgres: { pool_max: 10, pool_size: expect.any(Number), requests_queued: 0 },
      });
      const { metrics } = form as { metrics: Record<string, { type: string; series: object[] }> };
      expect(Object.keys(metrics).sort()).toEqual([...exposition.families.keys()].sort());
      expect(metrics.gantry_runs.series).toContainEqual({ labels: { status: 'scheduled' }, value: 1 });
      expect(metrics.gantry_http_request_duration_seconds.series).toContainEqual({
        labels: { method: 'POST', route: '/threads/:thread_id/runs' },
        count: 3,
        sum: expect.any(Number),
        buckets: expect.objectContaining({ '+Inf': 3 }),
      });
      expect(metrics.nodejs_heap_size_used_bytes).toMatchObject({
        type: 'gauge',
        series: [{ value: expect.any(Number) }],
      });
      const { http_requests_total: requests } = form.api as { http_requests_total: object[] };
      expect(requests).toContainEqual({ method: 'POST', path: '/threads/:thread_id/runs', status: 200, count: 3 });
    });

    it('treats an unknown format as the default', async () => {
      const response = await fetch(`${api.url}/metrics?format=yaml`);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    });
  });

  it('become unready first, when the process is about to stop, and stay alive', async () => {
    expect(await json(await fetch(`${api.url}/ready`))).toEqual({ ready: true });
    api.app.get(Drain).begin();
    const ready = await fetch(`${api.url}/ready`);
    expect([ready.status, await json(ready)]).toEqual([503, { ready: false, reason: 'The process is about to stop' }]);
    expect((await fetch(`${api.url}/ok`)).status).toBe(200);
    expect((await fetch(`${api.url}/ok?check_db=1`)).status).toBe(503);
    expect((await fetch(`${api.url}/threads/search`, { method: 'POST' })).status).toBe(200);
  });
});

describe('the application', () => {
  const children = (): number => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;

  it('stops a graph process that has answered when it closes', async () => {
    const before = children();
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    expect(children()).toBe(before);
    // The first question loads the graphs: a start does without.
    expect((await fetch(`${api.url}/assistants/three/schemas`)).status).toBe(200);
    expect(children()).toBe(before + 1);
    await api.close();
    expect(children()).toBe(before);
  });

  it('stops a graph process that is still starting when it closes', async () => {
    const before = children();
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    const question = fetch(`${api.url}/assistants/three/schemas`).catch(() => undefined);
    await waitFor('the graph process', () => children() === before + 1);
    await api.close();
    await question;
    expect(children()).toBe(before);
  });
});

describe('the system routes without a service', () => {
  it('report with 500 that Temporal is away, and stay ready: runs are accepted nevertheless', async () => {
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    try {
      const response = await fetch(`${api.url}/ok?check_db=1`);
      expect([response.status, await json(response)]).toEqual([
        500,
        { ok: false, services: { database: 'healthy', temporal: 'unhealthy' } },
      ]);
      expect((await fetch(`${api.url}/ready`)).status).toBe(200);
      const exposition = await Exposition.get(`${api.url}/metrics`);
      expect(exposition.value('gantry_backlog_up')).toBe(1);
      expect(exposition.value('gantry_workers')).toBeUndefined();
    } finally {
      await api.close();
    }
  });

  it('report with 500 that the database is away, and are not ready', async () => {
    const database = await createTestDatabase();
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS }, database);
    try {
      // The database is dropped, with the connections to it.
      await database.drop();
      const response = await fetch(`${api.url}/ok?check_db=1`);
      expect([response.status, await json(response)]).toMatchObject([
        500,
        { ok: false, services: { database: 'unhealthy' } },
      ]);
      expect((await fetch(`${api.url}/ready`)).status).toBe(503);
      const exposition = await Exposition.get(`${api.url}/metrics`);
      expect(exposition.value('gantry_backlog_up')).toBe(0);
      expect(exposition.value('gantry_runs')).toBeUndefined();
    } finally {
      await api.close();
    }
  });
});

describe('the system routes without the login of requests', () => {
  it('report with 500 that the database is away, and are not ready, though the login of the owner works', async () => {
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    const owner = new Client({ connectionString: api.database.url });
    await owner.connect();
    const role = new URL(await requestsUrlOf(api.database.url)).username;
    const status = async (path: string): Promise<number> => (await fetch(api.url + path)).status;
    try {
      expect(await status('/ready')).toBe(200);
      await owner.query(`ALTER ROLE ${role} NOLOGIN`);
      await owner.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
      const ready = await fetch(`${api.url}/ready`);
      expect([ready.status, await json(ready)]).toEqual([
        503,
        { ready: false, reason: 'The database does not answer, or takes no writes' },
      ]);
      const health = await fetch(`${api.url}/ok?check_db=1`);
      expect([health.status, await json(health)]).toEqual([
        500,
        { ok: false, services: { database: 'unhealthy', temporal: 'healthy' } },
      ]);
      await owner.query(`ALTER ROLE ${role} LOGIN`);
      await waitFor('the api to be ready', async () => (await status('/ready')) === 200);
      expect(await status('/ok?check_db=1')).toBe(200);
    } finally {
      await owner.end();
      await api.close();
    }
  });
});

describe('access to the metrics', () => {
  const status = async (api: TestApi, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(`${api.url}/metrics`, { headers })).status;

  it('on loopback: any caller', async () => {
    const api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: API_KEY });
    try {
      expect(await status(api)).toBe(200);
    } finally {
      await api.close();
    }
  });

  it.each<Record<string, string>>([{ GANTRY_HOST: '0.0.0.0' }, { GANTRY_METRICS_TOKEN: TOKEN }])(
    'with %j: token or key',
    async (env) => {
      const api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: API_KEY, ...env });
      try {
        expect(await status(api)).toBe(401);
        expect(await status(api, { authorization: `Bearer ${TOKEN}x` })).toBe(401);
        expect(await status(api, { 'x-api-key': `gtry_${'x'.repeat(43)}` })).toBe(401);
        expect(await status(api, { 'x-api-key': API_KEY })).toBe(200);
        const withToken = await status(api, { authorization: `Bearer ${TOKEN}` });
        expect(withToken).toBe('GANTRY_METRICS_TOKEN' in env ? 200 : 401);
      } finally {
        await api.close();
      }
    },
  );
});

describe('http.disable_meta', () => {
  it('leaves a plain /ok, and readiness', async () => {
    const config = temporaryConfig({ http: { disable_meta: true } });
    const api = await startTestApi({ GANTRY_CONFIG: config.path });
    try {
      for (const path of ['/ok', '/ok?check_db=1'])
        expect(await json(await fetch(api.url + path))).toEqual({ ok: true });
      for (const path of ['/', '/info', '/api/v1/info', '/metrics', '/system/findings', '/docs', '/openapi.json']) {
        expect([path, (await fetch(api.url + path)).status]).toEqual([path, 404]);
      }
      expect((await fetch(`${api.url}/ready`)).status).toBe(200);
    } finally {
      await api.close();
      config.remove();
    }
  });
});
