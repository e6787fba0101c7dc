import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../src/auth/tenant';
import { TraceIngestRepository, unknownRun } from '../../src/traces/ingest/trace-ingest.repository';
import { ProjectsRepository } from '../../src/traces/projects/projects.repository';
import { TraceDeletionRepository } from '../../src/traces/trace-deletion.repository';
import { startTestApi, TestApi } from '../support/api';
import { waitFor } from '../support/wait-for';

type Json = Record<string, unknown>;

interface Page {
  items: { name: string }[];
  next_cursor: string | null;
  has_more: boolean;
}

/** Tracing projects, which the wire calls sessions, from their creation to their end. */
describe('sessions', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  async function send<T = Json>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json) {
    const answer = await api.app.inject({ method, url: `/api/v1/sessions${path}`, ...(body && { payload: body }) });
    return { status: answer.statusCode, body: answer.json<T>(), total: answer.headers['x-pagination-total'] };
  }

  it('are created once; with upsert the existing one is updated and keeps its id and its runs', async () => {
    const id = randomUUID();
    const first = await send('POST', '', {
      id,
      name: 'sales',
      description: 'first',
      extra: { metadata: { team: 'a' } },
    });
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({ id, name: 'sales', description: 'first' }),
    ]);
    const run = { id: randomUUID(), name: 'r', run_type: 'chain', session_name: 'sales', start_time: Date.now() };
    await api.app.inject({ method: 'POST', url: '/api/v1/runs', payload: run });

    expect((await send('POST', '', { name: 'sales', description: 'second' })).status).toBe(409);
    const again = await send('POST', '?upsert=true', { name: 'sales', description: 'third' });
    expect([again.status, again.body]).toEqual([
      200,
      expect.objectContaining({ id, description: 'third', extra: { metadata: { team: 'a' } } }),
    ]);
    const read = await send('GET', `/${id}?include_stats=true`);
    expect(read.body).toMatchObject({ id, description: 'third', run_count: 1 });
  });

  it('are created by one of many concurrent upserts of the same name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send('POST', '?upsert=true', { name: 'shared', description: `${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it('are listed by name, part of a name, id and metadata, in pages', async () => {
    const made = [];
    for (const name of ['page one', 'page two', 'page three']) {
      made.push((await send('POST', '', { name, extra: { metadata: { name } } })).body);
    }
    const names = async (query: string) => {
      const { body, total } = await send<{ name: string }[]>('GET', `?${query}`);
      return [body.map(({ name }) => name), total];
    };
    expect(await names('name=page%20two')).toEqual([['page two'], '1']);
    expect(await names('name_contains=page%20t&sort_by=name&sort_by_desc=false')).toEqual([
      ['page three', 'page two'],
      '2',
    ]);
    expect(await names('name_contains=page&sort_by=name&sort_by_desc=false&offset=1&limit=1')).toEqual([
      ['page three'],
      '3',
    ]);
    expect(await names(`id=${String(made[0]?.id)}`)).toEqual([['page one'], '1']);
    expect(await names(`metadata=${encodeURIComponent('{"name":"page two"}')}`)).toEqual([['page two'], '1']);
  });

  it('are changed, and refuse a name that is taken', async () => {
    const { body } = await send('POST', '', { name: 'old name' });
    await send('POST', '', { name: 'taken' });
    const changed = await send('PATCH', `/${String(body.id)}`, { name: 'new name', end_time: '2026-11-20T10:00:00Z' });
    expect(changed.body).toMatchObject({ id: body.id, name: 'new name', end_time: '2026-11-20T10:00:00.000000' });
    expect((await send('PATCH', `/${String(body.id)}`, { name: 'taken' })).status).toBe(409);
    expect((await send('PATCH', `/${randomUUID()}`, { name: 'nobody' })).status).toBe(404);
  });

  it('are deleted with their runs', async () => {
    const { body } = await send('POST', '', { name: 'short lived' });
    const run = { id: randomUUID(), name: 'r', run_type: 'chain', session_id: body.id, start_time: Date.now() };
    expect((await api.app.inject({ method: 'POST', url: '/api/v1/runs', payload: run })).statusCode).toBe(202);
    expect((await send('DELETE', `/${String(body.id)}`)).status).toBe(200);
    expect((await send('GET', `/${String(body.id)}`)).status).toBe(404);
    expect((await api.app.inject({ url: `/api/v1/runs/${run.id}` })).statusCode).toBe(404);
    expect((await send('DELETE', `/${String(body.id)}`)).status).toBe(404);
  });

  describe('in use', () => {
    let other: TestApi;
    let sql: Pool;

    beforeAll(async () => {
      other = await startTestApi({}, api.database);
      sql = new Pool({ connectionString: api.database.url, max: 2 });
    });
    afterAll(async () => {
      await sql.end();
      await other.close();
    });

    const newRun = (session?: string) => ({
      ...{ id: randomUUID(), name: 'r', run_type: 'chain', start_time: Date.now() },
      ...(session !== undefined && { session_name: session }),
    });
    const post = async (to: TestApi, run: Json): Promise<number> =>
      (await to.app.inject({ method: 'POST', url: '/api/v1/runs', payload: run })).statusCode;
    const projectOf = async (runId: string): Promise<unknown> =>
      (await api.app.inject({ url: `/api/v1/runs/${runId}` })).json<Json>().session_id;
    const found = async (name: string): Promise<Json> => (await send<[Json]>('GET', `?name=${name}`)).body[0];

    it('are deleted as soon as an upload has released the runs that it holds', async () => {
      const run = newRun('contended');
      await post(api, run);
      const upload = await sql.connect();
      await upload.query('BEGIN');
      await upload.query('SELECT FROM trace_run_keys WHERE run_id = $1 FOR UPDATE', [run.id]);
      const deletion = send('DELETE', `/${String((await found('contended')).id)}`);
      await waitFor('the deletion to wait for the upload', async () => {
        const { rows } = await sql.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      await upload.query(`UPDATE trace_runs SET name = 'changed' WHERE run_id = $1`, [run.id]);
      await upload.query('COMMIT');
      upload.release();
      expect((await deletion).status).toBe(200);
      expect((await api.app.inject({ url: `/api/v1/runs/${run.id}` })).statusCode).toBe(404);
    });

    it('get no run of another process that still knows the deleted one', async () => {
      await post(other, newRun('again'));
      const before = await found('again');
      await send('DELETE', `/${String(before.id)}`);
      const run = newRun('again');
      expect(await post(other, run)).toBe(202);
      const after = await found('again');
      expect(after.id).not.toBe(before.id);
      expect(await projectOf(run.id)).toBe(after.id);
      await send('DELETE', `/${String(after.id)}`);
      const byId = { ...newRun(), session_id: after.id };
      expect(await post(other, byId)).toBe(422);
    });

    it('leave no end of a run waiting for a deleted one', async () => {
      const run = newRun();
      const end = { outputs: { a: 1 }, end_time: Date.now(), session_name: 'held' };
      await api.app.inject({ method: 'PATCH', url: `/api/v1/runs/${run.id}`, payload: end });
      await send('DELETE', `/${String((await found('held')).id)}`);
      expect(await post(api, run)).toBe(202);
      expect(await projectOf(run.id)).toBe((await found('default')).id);
    });

    it('are deleted without reading the keys of the runs of other projects', async () => {
      const run = newRun('small');
      await post(api, run);
      const { id, tenant_id: tenantId } = await found('small');
      const other = randomUUID();
      await sql.query(
        `INSERT INTO trace_run_keys (tenant_id, run_id, project_id, start_time)
         SELECT $1::uuid, gen_random_uuid(), $2::uuid, now() FROM generate_series(1, 100000)`,
        [tenantId, other],
      );
      const database = api.app.get(DataSource);
      const pages: number[] = [];
      /** Notes the pages that each SELECT reads. */
      const explaining = (manager: EntityManager): EntityManager => {
        const explained = Object.create(manager) as EntityManager;
        explained.query = (async (text: string, parameters?: unknown[]) => {
          if (text.startsWith('SELECT')) {
            const [answer] = await manager.query<[{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }]>(
              `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
              parameters,
            );
            const [{ Plan: plan }] = answer['QUERY PLAN'];
            pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
          }
          return manager.query<unknown>(text, parameters);
        }) as EntityManager['query'];
        return explained;
      };
      const explained = Object.create(database) as DataSource;
      explained.transaction = ((work: (manager: EntityManager) => Promise<unknown>) =>
        database.transaction((manager) => work(explaining(manager)))) as DataSource['transaction'];
      const deletion = new TraceDeletionRepository(explained);
      expect(await deletion.deleteProjects(tenantId as TenantId, [String(id)])).toBe(1);
      expect(pages.length).toBeGreaterThan(1);
      expect(Math.max(...pages)).toBeLessThan(200);
      expect((await api.app.inject({ url: `/api/v1/runs/${run.id}` })).statusCode).toBe(404);
      await sql.query('DELETE FROM trace_run_keys WHERE project_id = $1', [other]);
    });

    it('leave every stored run a key when one is deleted between the statements of an upload', async () => {
      const run = newRun('keys');
      await post(api, run);
      const tenantId = (await found('keys')).tenant_id as TenantId;
      await api.app.get(DataSource).transaction(async (manager) => {
        let statements = 0;
        const raced = Object.create(manager) as EntityManager;
        raced.query = (async (text: string, parameters?: unknown[]) => {
          statements += 1;
          if (statements === 2) await sql.query('DELETE FROM trace_run_keys WHERE run_id = $1', [run.id]);
          return manager.query<unknown>(text, parameters);
        }) as EntityManager['query'];
        const keys = await api.app.get(TraceIngestRepository).claimKeys(raced, tenantId, [unknownRun(run.id)]);
        expect(keys).toEqual([]);
      });
      const { rows } = await sql.query('SELECT FROM trace_run_keys WHERE run_id = $1', [run.id]);
      expect(rows).toHaveLength(1);
    });
  });

  describe('of the second version', () => {
    async function v2<T = Json>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: Json) {
      const url = `/api/v2/sessions${path}`;
      const answer = await api.app.inject({ method, url, ...(body && { payload: body }) });
      return { status: answer.statusCode, body: answer.json<T>() };
    }
    const dataset = randomUUID();
    let project: Json;
    let experiment: Json;

    beforeAll(async () => {
      project = (await v2('POST', '', { type: 'PROJECT', name: 'v2 one', trace_tier: 'LONG_LIVED' })).body;
      const given = {
        type: 'EXPERIMENT',
        name: 'v2 two',
        reference_dataset_id: dataset,
        extra: { metadata: { a: 1 } },
      };
      experiment = (await v2('POST', '', given)).body;
      const run = {
        name: 'r',
        run_type: 'chain',
        session_name: 'v2 one',
        start_time: Date.now(),
        end_time: Date.now(),
      };
      await api.app.inject({ method: 'POST', url: '/api/v1/runs', payload: { ...run, id: randomUUID() } });
      for (const [key, score] of [['good', 1] as const, ['other', 0] as const]) {
        const payload = { session_id: project.id, key, score };
        await api.app.inject({ method: 'POST', url: '/api/v1/feedback', payload });
      }
    });

    it('have a type, and times with their offset', async () => {
      expect([project, experiment]).toEqual([
        expect.objectContaining({ type: 'PROJECT', trace_tier: 'LONG_LIVED', reference_dataset_id: null }),
        expect.objectContaining({ type: 'EXPERIMENT', trace_tier: null, reference_dataset_id: dataset }),
      ]);
      expect(project.start_time).toMatch(/Z$/);
      const read = await v2('GET', `/${String(project.id)}?include_stats=true`);
      expect(read.body).toMatchObject({
        ...{ name: 'v2 one', run_count: 1, total_cost: null, error_rate: 0, feedback_stats: null },
        session_feedback_stats: { good: { n: 1, avg: 1 }, other: { n: 1, avg: 0 } },
      });
    });

    it.each([
      ['NAME', 'asc'],
      ['NAME', 'desc'],
      ['START_TIME', 'desc'],
      ['START_TIME', 'asc'],
      // Most projects have no run, and so no value to sort by.
      ['LAST_RUN_START_TIME', 'desc'],
      ['ERROR_RATE', 'asc'],
      ['LATENCY_P50', 'desc'],
    ])('are listed once each across pages, by %s %s', async (sort, order) => {
      const paged: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Page = (
          await v2<Page>(
            'GET',
            `?page_size=2&sort_by=${sort}&sort_order=${order}${cursor === null ? '' : `&cursor=${cursor}`}`,
          )
        ).body;
        paged.push(...page.items.map(({ name }) => name));
        cursor = page.next_cursor;
        expect(page.has_more).toBe(cursor !== null);
      } while (cursor);
      const whole = await v2<{ items: { name: string }[] }>('GET', `?sort_by=${sort}&sort_order=${order}`);
      expect(paged).toEqual(whole.body.items.map(({ name }) => name));
      expect(paged.length).toBeGreaterThan(3);
      expect(new Set(paged).size).toBe(paged.length);
    });

    it.each([
      ['type=EXPERIMENT', ['v2 two']],
      ['type=AGENT', []],
      ['type=EXPERIMENT&type=PROJECT&name_contains=v2', ['v2 two', 'v2 one']],
      [`reference_dataset_id=${dataset}`, ['v2 two']],
      ['metadata=%7B%22a%22%3A1%7D', ['v2 two']],
      ['name=v2%20one', ['v2 one']],
      [
        'name_contains=v2&sort_by=FEEDBACK&sort_by_feedback_key=good&sort_by_feedback_source=SESSION',
        ['v2 one', 'v2 two'],
      ],
    ])('are found by %s', async (query, expected) => {
      const { body } = await v2<{ items: { name: string }[] }>('GET', `?${query}`);
      expect(body.items.map(({ name }) => name)).toEqual(expected);
    });

    it('return only the selected statistics', async () => {
      const query = '?name=v2%20one&include_stats=true&stats_select=run_count&stats_select=ERROR_RATE';
      const { body } = await v2<{ items: Json[] }>('GET', query);
      expect(body.items[0]).toMatchObject({ run_count: 1, error_rate: 0 });
      expect(body.items[0]).not.toHaveProperty('total_tokens');
    });

    it('read feedback only where its summary is selected', async () => {
      const feedback = jest.spyOn(api.app.get(ProjectsRepository), 'feedback');
      const select = async (field: string): Promise<Json> => {
        const query = `?name=v2%20one&include_stats=true&stats_select=${field}`;
        return (await v2<{ items: [Json] }>('GET', query)).body.items[0];
      };
      expect(await select('TOTAL_TOKENS')).toMatchObject({ name: 'v2 one', total_tokens: 0 });
      expect(feedback).not.toHaveBeenCalled();
      expect(await select('SESSION_FEEDBACK_STATS')).toMatchObject({
        session_feedback_stats: { good: { n: 1 }, other: { n: 1 } },
      });
      feedback.mockRestore();
    });

    it('are changed, and keep fields that are null', async () => {
      const changed = await v2('PATCH', `/${String(experiment.id)}`, {
        description: 'new',
        end_time: null,
        name: null,
      });
      expect([changed.status, changed.body]).toEqual([
        200,
        expect.objectContaining({ name: 'v2 two', description: 'new', end_time: null }),
      ]);
    });

    it('are found by the address of an experiment', async () => {
      const found = await send('GET', `/resolutions?kind=experiment&id=${String(experiment.id)}`);
      expect(found.body).toEqual({ session_id: experiment.id });
      expect((await send('GET', `/resolutions?kind=EXPERIMENT&id=${String(project.id)}`)).status).toBe(404);
    });

    it('of an agent are one for each environment, and found by its address', async () => {
      const resolve = () => send('GET', '/resolutions?kind=AGENT&id=helper&environment=LOCAL');
      expect((await resolve()).status).toBe(404);
      const run = { id: randomUUID(), name: 'r', run_type: 'chain', start_time: Date.now() };
      const post = async (address: string): Promise<number> => {
        const payload = { ...run, address };
        return (await api.app.inject({ method: 'POST', url: '/api/v1/runs', payload })).statusCode;
      };
      expect(await post('lrn:agents/helper')).toBe(422);
      expect(await post('lrn:agents/helper/environments/local')).toBe(202);
      const { session_id: id } = (await api.app.inject({ url: `/api/v1/runs/${run.id}` })).json<Json>();
      expect((await resolve()).body).toEqual({ session_id: id });
      expect((await send('GET', `/${String(id)}`)).body).toMatchObject({ name: 'helper/local' });
      expect((await send('GET', '/resolutions?kind=AGENT&id=helper&environment=PRODUCTION')).status).toBe(404);
    });

    it.each([
      [{ type: 'EXPERIMENT', name: 'x' }, 'reference_dataset_id'],
      [{ type: 'PROJECT', name: 'x', reference_dataset_id: dataset }, 'reference_dataset_id'],
      [{ type: 'AGENT', name: 'x' }, 'type'],
      [{ type: 'PROJECT', name: 'x', longlived_ttl_days: 30 }, 'longlived_ttl_days'],
      [{ type: 'PROJECT' }, 'name'],
    ])('answer 422 for %j', async (body, field) => {
      const answer = await v2('POST', '', body);
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([422, expect.stringContaining(field)]);
    });

    it.each(['filter=x', 'stats_filter=x', 'cursor=x', 'sort_by=FEEDBACK', 'include_facets=true'])(
      'answer 422 for a listing by %s',
      async (query) => {
        const answer = await v2('GET', `?${query}`);
        expect([answer.status, JSON.stringify(answer.body)]).toEqual([
          422,
          expect.stringContaining(query.includes('FEEDBACK') ? 'sort_by_feedback_key' : query.split('=')[0]),
        ]);
      },
    );
  });

  it.each([
    ['a name without letters', { name: '  ' }, 'name'],
    ['an id that is not a UUID', { name: 'x', id: '1' }, 'id'],
    ['an unknown tier', { name: 'x', trace_tier: 'eternal' }, 'trace_tier'],
  ])('answer 422 naming the field: %s', async (_title, body, field) => {
    const answer = await send('POST', '', body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(`"${field}"`);
  });
});
