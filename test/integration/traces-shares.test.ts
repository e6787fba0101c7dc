import { createHash, randomUUID } from 'node:crypto';
import { Client as LangSmithClient } from 'langsmith';
import { Pool } from 'pg';
import { TraceRunsRepository } from '../../src/traces/query/trace-runs.repository';
import { startTestApi, TestApi } from '../support/api';

type Json = Record<string, unknown>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Public links to traces and threads, and links that leave feedback: made with a key, followed without one. */
describe('public links', () => {
  let api: TestApi;
  let closed: TestApi;
  let sql: Pool;
  let client: LangSmithClient;
  let projectId: string;
  const [root, child, other] = [randomUUID(), randomUUID(), randomUUID()];
  const key = `gtry_${'k'.repeat(43)}`;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: key });
    closed = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: key, GANTRY_TRACE_SHARING: 'off' }, api.database);
    sql = new Pool({ connectionString: api.database.url, max: 1 });
    client = new LangSmithClient({ apiUrl: `${api.url}/api/v1`, apiKey: key, webUrl: api.url });
    const [start, later] = [0, 1].map((ms) => new Date(Date.now() - 1000 + ms).toISOString());
    const stampOf = (time: string): string => time.replace(/[-:.]/g, '').replace('Z', '000Z');
    const stamp = stampOf(start);
    const run = {
      run_type: 'chain',
      session_name: 'shared',
      start_time: start,
      inputs: { text: '<script>alert(1)</script>' },
      outputs: { done: true },
      serialized: { model: 'inner workings' },
      extra: { metadata: { thread_id: 'talk' } },
    };
    await send('POST', '/api/v1/runs/batch', {
      post: [
        { ...run, id: root, trace_id: root, name: 'root', dotted_order: `${stamp}${root}` },
        {
          ...{ ...run, id: child, trace_id: root, parent_run_id: root, name: 'child', start_time: later },
          dotted_order: `${stamp}${root}.${stampOf(later)}${child}`,
        },
        { ...run, id: other, trace_id: other, name: 'other', dotted_order: `${stamp}${other}`, extra: {} },
      ],
    });
    projectId = (await client.readProject({ projectName: 'shared' })).id;
    const feedback = { run_id: root, key: 'mood', score: 1, comment: 'of a colleague' };
    await send('POST', '/api/v1/feedback', feedback);
  });
  afterAll(async () => {
    await sql?.end();
    await closed?.close();
    await api?.close();
  });

  const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: Json, to = api) =>
    to.app.inject({ method, url, headers: { 'x-api-key': key }, ...(payload && { payload }) });
  /** Requests without a key, as by a person with the link. */
  const follow = (method: 'GET' | 'POST', url: string, payload?: Json, to = api) =>
    to.app.inject({ method, url, ...(payload && { payload }) });
  const share = async (): Promise<string> => {
    const given = { session_id: projectId, trace_id: root };
    const { share_token: token } = (await client.runs.share.create(root, given)) as { share_token: string };
    return token;
  };
  const sharedRuns = async (token: string, selects = ['NAME']) =>
    (await follow('POST', `/api/v2/public/${token}/runs/query`, { selects })).json<{ items: Json[] }>().items;

  it('show the whole trace to people without a key, and nothing else', async () => {
    const token = await share();
    expect(token).toMatch(UUID);
    expect(await sharedRuns(token)).toEqual([{ name: 'root' }, { name: 'child' }]);
    const one = await follow('GET', `/api/v2/public/${token}/run/${child}?selects=INPUTS&selects=TRACE_ID`);
    expect(one.json()).toEqual({ inputs: { text: '<script>alert(1)</script>' }, trace_id: root });
    expect((await follow('GET', `/api/v2/public/${token}/run/${other}?selects=NAME`)).statusCode).toBe(404);
    // The link of a child is that of its trace, and sharing twice makes no second one.
    expect(await client.shareRun(child)).toBe(`${api.url}/public/${token}/r`);
    expect(await client.readRunSharedLink(root)).toContain(token);
    const [run] = await Promise.all([
      send('GET', `/api/v2/runs/${child}?project_id=${projectId}&selects=SHARE_URL`),
      expect(share()).resolves.toBe(token),
    ]);
    expect(run.json<Json>().share_url).toContain(`/public/${token}/r`);
  });

  it('show a page that executes nothing of what was traced', async () => {
    const page = await follow('GET', `/public/${await share()}/r`);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'") as string,
    });
    expect(page.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.body).not.toContain('<script');
    expect(page.body).toMatch(/root.*child/s);
  });

  it('reveal nothing about the tenant, its people and its models', async () => {
    const token = await share();
    const tenant = '00000000-0000-0000-0000-000000000000';
    const v1 = await follow('GET', `/api/v1/public/${token}/run`);
    expect(v1.json()).toMatchObject({ id: root, name: 'root', app_path: '' });
    const listed = await follow('POST', `/public/${token}/runs/query`, { id: [child] });
    expect(listed.json<{ runs: Json[] }>().runs.map(({ name }) => name)).toEqual(['child']);
    const everything = await sharedRuns(token, ['FEEDBACK_STATS', 'EXTRA', 'METADATA', 'OUTPUTS']);
    expect(everything[0]).toMatchObject({ feedback_stats: { mood: { n: 1, avg: 1, comments: [], sources: [] } } });
    const page = await follow('GET', `/public/${token}/r`);
    for (const text of [v1.body, listed.body, JSON.stringify(everything), page.body]) {
      expect(text).not.toMatch(new RegExp(`${tenant}|of a colleague|inner workings|${key}`));
    }
    for (const field of ['SHARE_URL', 'MANIFEST', 'ATTACHMENTS', 'APP_PATH', 'EVENTS']) {
      const refused = await follow('POST', `/api/v2/public/${token}/runs/query`, { selects: [field] });
      expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining(field)]);
    }
  });

  it('are stored hashed and sealed, under keys that are rotated, and recorded in the audit log', async () => {
    const token = await share();
    const { rows } = await sql.query<Json>('SELECT * FROM trace_shares WHERE run_id = $1', [root]);
    expect(rows).toEqual([
      expect.objectContaining({
        token_hash: createHash('sha256').update(token).digest(),
        sealed_token: expect.stringMatching(/^v1\./) as string,
      }),
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);
    const { rows: records } = await sql.query(`SELECT action FROM audit_log WHERE resource = 'trace_share'`);
    expect(records).toEqual([{ action: 'create' }]);
  });

  it('lead to nothing once they are revoked; the next one differs', async () => {
    const token = await share();
    await client.runs.share.delete(root, { session_id: projectId });
    await client.runs.share.delete(root, { session_id: projectId });
    expect((await follow('POST', `/api/v2/public/${token}/runs/query`, {})).statusCode).toBe(404);
    expect((await follow('GET', `/public/${token}/r`)).statusCode).toBe(404);
    expect(await client.readRunSharedLink(root)).toBeUndefined();
    const next = await share();
    expect(next).not.toBe(token);
    expect(await sharedRuns(next)).toHaveLength(2);
    await client.unshareRun(root);
    expect((await follow('GET', `/public/${next}/r`)).statusCode).toBe(404);
  });

  it('show a thread including traces that arrive later', async () => {
    const path = `/api/v2/threads/talk/share`;
    expect((await send('GET', `${path}?project_id=${projectId}`)).json()).toEqual({});
    const answers = await Promise.all([1, 2, 3].map(() => send('POST', path, { project_id: projectId })));
    const tokens = new Set(answers.map((answer) => answer.json<{ share_token: string }>().share_token));
    expect(tokens.size).toBe(1);
    const [token = ''] = tokens;
    expect(await sharedRuns(token)).toEqual([{ name: 'root' }, { name: 'child' }]);
    await client.createRun({
      ...{ name: 'later', run_type: 'chain', inputs: {}, project_name: 'shared' },
      extra: { metadata: { thread_id: 'talk' } },
    });
    await client.awaitPendingTraceBatches();
    expect((await sharedRuns(token)).map(({ name }) => name)).toEqual(['root', 'child', 'later']);
    expect((await send('DELETE', `${path}?project_id=${projectId}`)).statusCode).toBe(204);
    expect((await follow('POST', `/api/v2/public/${token}/runs/query`, {})).statusCode).toBe(404);
    expect((await send('POST', '/api/v2/threads/none/share', { project_id: projectId })).statusCode).toBe(404);
  });

  it('are deleted with what they show', async () => {
    const run = { id: randomUUID(), name: 'short', run_type: 'chain', start_time: Date.now(), session_name: 'shared' };
    await send('POST', '/api/v1/runs', run);
    const token = (await send('PUT', `/api/v1/runs/${run.id}/share`, { share_token: root })).json<Json>().share_token;
    // A client proposes a token; a guessable one must not become the link.
    expect(token).not.toBe(root);
    expect((await follow('GET', `/public/${String(token)}/r`)).statusCode).toBe(200);
    await send('POST', '/api/v1/runs/delete', { session_id: projectId, trace_ids: [run.id] });
    expect((await follow('GET', `/public/${String(token)}/r`)).statusCode).toBe(404);
    const { rows } = await sql.query('SELECT FROM trace_shares WHERE run_id = $1', [run.id]);
    expect(rows).toEqual([]);
  });

  it('read no more than the root for the first version, or the first run while there is no root', async () => {
    const [lateRoot, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    const at = (ms: number): string => new Date(1_795_168_800_000 + ms).toISOString();
    const stampOf = (ms: number): string => at(ms).replace(/[-:.]/g, '').replace('Z', '000Z');
    const post = (id: string, name: string, ms: number, parent?: string) =>
      send('POST', '/api/v1/runs', {
        ...{ id, name, trace_id: lateRoot, run_type: 'chain', session_name: 'shared', start_time: at(ms), inputs: {} },
        dotted_order: `${parent === undefined ? '' : `${stampOf(5)}${parent}.`}${stampOf(ms)}${id}`,
        ...(parent !== undefined && { parent_run_id: parent }),
      });
    await post(first, 'first', 0, lateRoot);
    await post(second, 'second', 1, lateRoot);
    const shared = await send('PUT', `/api/v1/runs/${first}/share`, {});
    const page = jest.spyOn(api.app.get(TraceRunsRepository), 'page');
    const read = async (): Promise<[unknown, number[]]> => {
      page.mockClear();
      const answer = await follow('GET', `/api/v1/public/${String(shared.json<Json>().share_token)}/run`);
      const pages = await Promise.all(page.mock.results.map(({ value }) => value as Promise<unknown[]>));
      return [answer.json<Json>().name, pages.map((rows) => rows.length)];
    };
    expect(await read()).toEqual(['first', [0, 1]]);
    await post(lateRoot, 'root', 5);
    expect(await read()).toEqual(['root', [1]]);
    page.mockRestore();
  });

  it('answer 413 for runs that are too large together, which can still be read one by one', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of ids) {
      const parent = id === ids[0] ? {} : { parent_run_id: ids[0] };
      const run = { id, trace_id: ids[0], name: 'large', run_type: 'chain', session_name: 'shared', ...parent };
      const stamp = (of: string | undefined): string => `20261120T100000000000Z${of}`;
      const order = id === ids[0] ? stamp(id) : `${stamp(ids[0])}.${stamp(id)}`;
      await send('POST', '/api/v1/runs', { ...run, start_time: '2026-11-20T10:00:00Z', dotted_order: order });
    }
    const { rowCount } = await sql.query(
      `UPDATE trace_runs SET inputs = '{"text":"' || repeat('x', 23000000) || '"}' WHERE trace_id = $1`,
      [ids[0]],
    );
    expect(rowCount).toBe(3);
    const shared = await send('PUT', `/api/v1/runs/${ids[0]}/share`, {});
    const token = String(shared.json<Json>().share_token);
    for (const answer of [
      await follow('GET', `/public/${token}/r`),
      await follow('POST', `/api/v1/public/${token}/runs/query`, {}),
      await follow('POST', `/api/v1/public/${token}/runs/query`, { id: ids }),
      await follow('POST', `/api/v2/public/${token}/runs/query`, { selects: ['INPUTS'] }),
    ]) {
      expect([answer.statusCode, answer.body]).toEqual([413, expect.stringContaining('read single runs by their ids')]);
    }
    expect(await sharedRuns(token)).toHaveLength(3);
    const listed = await follow('POST', `/api/v1/public/${token}/runs/query`, { id: ids.slice(1) });
    expect(listed.statusCode).toBe(200);
    for (const one of ['v1/public/$/run', `v1/public/$/run/${ids[2]}`, `v2/public/$/run/${ids[2]}?selects=INPUTS`]) {
      expect((await follow('GET', `/api/${one.replace('$', token)}`)).statusCode).toBe(200);
    }
  });

  it.each([
    ['an unknown token', randomUUID()],
    ['an invalid token', 'x'],
    ['the id of the shared run', root],
  ])('answer 404 for %s', async (_title, token) => {
    await share();
    for (const answer of [
      await follow('GET', `/public/${token}/r`),
      await follow('GET', `/api/v1/public/${token}/run`),
      await follow('POST', `/api/v2/public/${token}/runs/query`, {}),
    ]) {
      expect(answer.statusCode).toBe(404);
    }
  });

  it('are neither created nor followed where the operator has disabled them, and can be revoked', async () => {
    const token = await share();
    const refused = await send('POST', `/api/v2/runs/${root}/share`, { session_id: projectId, trace_id: root }, closed);
    expect([refused.statusCode, refused.body]).toEqual([403, expect.stringContaining('GANTRY_TRACE_SHARING')]);
    expect((await send('PUT', `/api/v1/runs/${root}/share`, {}, closed)).statusCode).toBe(403);
    expect((await send('GET', `/api/v1/runs/${root}/share`, undefined, closed)).json()).toEqual({});
    expect((await follow('GET', `/public/${token}/r`, undefined, closed)).statusCode).toBe(404);
    expect((await follow('POST', `/api/v2/public/${token}/runs/query`, {}, closed)).statusCode).toBe(404);
    await send('DELETE', `/api/v2/runs/${root}/share`, { session_id: projectId }, closed);
    expect((await follow('GET', `/public/${token}/r`)).statusCode).toBe(404);
  });

  describe('that leave feedback', () => {
    it('are created for a run and a key, listed, and followed without an API key', async () => {
      const made = await client.createPresignedFeedbackToken(other, 'helpful', { expiration: { hours: 1 } as never });
      expect(made.url).toMatch(/\/feedback\/tokens\/[0-9a-f-]{36}$/);
      expect(Date.parse(made.expires_at) - Date.now()).toBeGreaterThan(3_500_000);
      const listed: unknown[] = [];
      for await (const token of client.listPresignedFeedbackTokens(other)) listed.push(token);
      expect(listed).toEqual([made]);

      const path = new URL(made.url).pathname;
      const left = { score: 0.5, comment: 'fine', metadata: { page: 'checkout' } };
      expect((await follow('POST', path, left)).statusCode).toBe(200);
      expect((await follow('GET', `${path}?score=1`)).statusCode).toBe(200);
      const found = (await send('GET', `/api/v1/feedback?run=${other}`)).json<Json[]>();
      // The second time corrects the first.
      expect(found).toEqual([expect.objectContaining({ key: 'helpful', score: 1, feedback_source: { type: 'link' } })]);
      const { rows } = await sql.query<Json>('SELECT * FROM trace_feedback_links');
      expect(JSON.stringify(rows)).not.toContain(made.id);
    });

    it('are created for several keys at once, and refused once they have expired', async () => {
      const request = { run_id: other, expires_in: { minutes: 5 } };
      const made = (
        await send('POST', '/feedback/tokens', [
          { ...request, feedback_key: 'a' },
          { ...request, feedback_key: 'b', id: child },
        ] as unknown as Json)
      ).json<{ id: string }[]>();
      expect(made).toHaveLength(2);
      await follow('POST', `/feedback/tokens/${made[1]?.id}`, { value: 'good' });
      expect((await send('GET', `/api/v1/feedback/${child}`)).json()).toMatchObject({ key: 'b', value: 'good' });
      await sql.query(`UPDATE trace_feedback_links SET expires_at = now() - interval '1 second'`);
      expect((await follow('POST', `/feedback/tokens/${made[0]?.id}`, { score: 1 })).statusCode).toBe(404);
      expect((await send('GET', `/api/v1/feedback/tokens?run_id=${other}`)).json()).toEqual([]);
    });

    it.each([
      ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      ['no time at all', { expires_in: { minutes: 0 } }, 'expires_in'],
    ])('are refused with %s', async (_title, expiry, named) => {
      const answer = await send('POST', '/api/v1/feedback/tokens', { run_id: other, feedback_key: 'a', ...expiry });
      expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining(named)]);
    });
  });

  it('answer 413 rather than without the newest runs of a trace that has more than 10,000', async () => {
    const id = randomUUID();
    const start = new Date().toISOString();
    const run = { id, trace_id: id, name: 'long', run_type: 'chain', session_name: 'shared', start_time: start };
    await send('POST', '/api/v1/runs', run);
    await sql.query(
      `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, parent_run_id, dotted_order, name, run_type, status)
       SELECT tenant_id, project_id, start_time, gen_random_uuid(), run_id, run_id, dotted_order, 'child', 'tool', 'success'
       FROM trace_runs, generate_series(1, 10000) WHERE run_id = $1`,
      [id],
    );
    const given = { session_id: projectId, trace_id: id };
    const { share_token: token } = (await client.runs.share.create(id, given)) as { share_token: string };
    const shared = () => follow('POST', `/api/v2/public/${token}/runs/query`, { selects: ['NAME'] });
    const traced = () => send('GET', `/api/v2/traces/${id}/runs?project_id=${projectId}&selects=NAME`);
    for (const refused of [await shared(), await traced()]) {
      expect([refused.statusCode, refused.body]).toEqual([413, expect.stringContaining('10000 runs')]);
    }
    expect((await follow('GET', `/api/v2/public/${token}/run/${id}?selects=NAME`)).json()).toEqual({ name: 'long' });
    await sql.query(
      `DELETE FROM trace_runs WHERE run_id = (SELECT run_id FROM trace_runs WHERE parent_run_id = $1 LIMIT 1)`,
      [id],
    );
    for (const whole of [await shared(), await traced()])
      expect(whole.json<{ items: Json[] }>().items).toHaveLength(10_000);
  });

  it('show the first run and single runs of a thread that is too long or too large to be listed', async () => {
    const [turn, step] = [randomUUID(), randomUUID()];
    const run = { trace_id: turn, run_type: 'chain', session_name: 'shared', start_time: new Date().toISOString() };
    const metadata = { thread_id: 'endless' };
    await send('POST', '/api/v1/runs/batch', {
      post: [
        { ...run, id: turn, name: 'first turn', extra: { metadata } },
        { ...run, id: step, parent_run_id: turn, name: 'step' },
      ],
    });
    await sql.query(
      `INSERT INTO trace_runs
         (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status, thread_id)
       SELECT tenant_id, project_id, start_time + number * interval '1 microsecond', id, id, dotted_order,
              'turn', 'chain', 'success', thread_id
       FROM trace_runs, (SELECT number, gen_random_uuid() AS id FROM generate_series(1, 10000) AS number) AS turns
       WHERE run_id = $1`,
      [turn],
    );
    const shared = await send('POST', '/api/v2/threads/endless/share', { project_id: projectId });
    const token = shared.json<{ share_token: string }>().share_token;
    const single = async (runId: string) => {
      const answer = await follow('GET', `/api/v2/public/${token}/run/${runId}?selects=NAME`);
      return [answer.statusCode, answer.json<Json>().name];
    };
    const expectSingleRuns = async (refusal: string) => {
      const listed = await follow('POST', `/api/v2/public/${token}/runs/query`, { selects: ['NAME'] });
      expect([listed.statusCode, listed.body]).toEqual([413, expect.stringContaining(refusal)]);
      expect([await single(turn), await single(step)]).toEqual([
        [200, 'first turn'],
        [200, 'step'],
      ]);
      expect((await single(other))[0]).toBe(404);
      const byId = await follow('POST', `/api/v1/public/${token}/runs/query`, { id: [step, other] });
      expect(byId.json<{ runs: Json[] }>().runs.map(({ name }) => name)).toEqual(['step']);
      expect((await follow('GET', `/api/v1/public/${token}/run`)).json()).toMatchObject({ name: 'first turn' });
    };
    await expectSingleRuns('10000 runs');
    await sql.query(
      `DELETE FROM trace_runs WHERE run_id IN (SELECT run_id FROM trace_runs WHERE name = 'turn' LIMIT 8000)`,
    );
    await sql.query(`UPDATE trace_runs SET error = repeat('x', 40000) WHERE name = 'turn'`);
    await expectSingleRuns('bytes');
  });
});
