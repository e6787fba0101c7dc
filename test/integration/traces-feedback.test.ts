import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { startTestApi, TestApi } from '../support/api';

type Json = Record<string, unknown>;
type Stats = Record<string, { n: number }> | null;

const START = '2026-11-20T10:00:00.123456Z';

function newRun(): Json & { id: string } {
  const id = uuidv7();
  const dottedOrder = START.replace(/[-:.]/g, '') + id;
  return { id, trace_id: id, dotted_order: dottedOrder, name: 'run', run_type: 'chain', start_time: START };
}
const newRuns = (count: number) => Array.from({ length: count }, newRun);

describe('feedback of concurrent requests', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  async function send<T = Json>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: Json) {
    const answer = await api.app.inject({ method, url: `/api/v1${url}`, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.json<T>() };
  }
  async function upload(items: Json[]): Promise<number> {
    const parts = items.map(
      ({ id, ...body }) =>
        `--b\r\nContent-Disposition: form-data; name="feedback.${id as string}"\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(body)}\r\n`,
    );
    const answer = await api.app.inject({
      method: 'POST',
      url: '/runs/multipart',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      payload: `${parts.join('')}--b--\r\n`,
    });
    return answer.statusCode;
  }
  const post = async (runs: Json[]): Promise<number> => (await send('POST', '/runs/batch', { post: runs })).status;
  const statsOf = async (runId: string): Promise<Stats> =>
    (await send<{ feedback_stats: Stats }>('GET', `/runs/${runId}`)).body.feedback_stats;

  it('is all in the summary of its run', async () => {
    const [run] = newRuns(1);
    await post([run]);
    const keys = Array.from({ length: 10 }, (_, index) => `key${index}`);
    const answers = await Promise.all(keys.map((key) => send('POST', '/feedback', { run_id: run.id, key, score: 1 })));
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect(Object.keys((await statsOf(run.id)) ?? {}).sort()).toEqual(keys);
  });

  it('is in the summary of a run that is stored at the same time', async () => {
    const runs = newRuns(10);
    await Promise.all(
      runs.flatMap((run) => [post([run]), send('POST', '/feedback', { run_id: run.id, key: 'early', score: 1 })]),
    );
    const summaries = await Promise.all(runs.map(({ id }) => statsOf(id)));
    expect(summaries).toEqual(runs.map(() => ({ early: expect.objectContaining({ n: 1 }) })));
  });

  it('leaves the summary of its earlier run when it is posted again for another one, and when it is deleted', async () => {
    const [before, after] = newRuns(2);
    await post([before, after]);
    const id = randomUUID();
    await send('POST', '/feedback', { id, run_id: before.id, key: 'moved', score: 1 });
    await send('POST', '/feedback', { id, run_id: after.id, key: 'moved', score: 1 });
    expect(await statsOf(before.id)).toBeNull();
    expect(await statsOf(after.id)).toMatchObject({ moved: { n: 1 } });
    await send('DELETE', `/feedback/${id}`);
    expect(await statsOf(after.id)).toBeNull();
  });

  it('takes the project and the trace of a run that comes after it, follows it, and is deleted with the project', async () => {
    const [run] = newRuns(1);
    const { body } = await send('POST', '/feedback', { run_id: run.id, key: 'early', score: 1 });
    const path = `/feedback/${String(body.id)}`;
    expect(body).toMatchObject({ session_id: null, trace_id: null });
    const projectId = async (name: string): Promise<string> =>
      (await send<{ id: string }[]>('GET', `/sessions?name=${name}`)).body[0]!.id;
    const patch = { ...run, session_name: 'before', end_time: '2026-11-20T10:00:01Z' };
    expect((await send('POST', '/runs/batch', { patch: [patch] })).status).toBe(202);
    const before = await projectId('before');
    expect((await send('GET', path)).body).toMatchObject({ session_id: before, trace_id: run.id });
    await post([{ ...run, session_name: 'after' }]);
    const after = await projectId('after');
    expect((await send('GET', `/feedback?session=${after}`)).body).toMatchObject([{ id: body.id, trace_id: run.id }]);
    expect((await send('GET', `/feedback?session=${before}`)).body).toEqual([]);
    await send('DELETE', `/sessions/${after}`);
    expect((await send('GET', path)).status).toBe(404);
  });

  it('lists its oldest comments in summaries, however large all of them are together', async () => {
    const [run] = newRuns(1);
    await post([{ ...run, session_name: 'commented' }]);
    const sql = new Pool({ connectionString: api.database.url, max: 1 });
    try {
      // An array of all of these is larger than a value of Postgres can be.
      await sql.query(
        `INSERT INTO trace_feedback
           (tenant_id, feedback_id, run_id, project_id, key, comment, feedback_source, created_at)
         SELECT tenant_id, gen_random_uuid(), run_id, project_id, 'long', number || repeat('x', 600000),
                json_build_object('type', number::text), timestamptz '2020-01-01' + number * interval '1 second'
         FROM trace_runs, generate_series(1, 2000) AS number WHERE run_id = $1`,
        [run.id],
      );
    } finally {
      await sql.end();
    }
    const oldest = ['1', '2', '3', '4', '5'];
    interface Summary {
      n: number;
      comments: string[];
      sources: Json[];
    }
    const [project] = (await send<[Json]>('GET', '/sessions?name=commented&include_stats=true')).body;
    const selected = (await send('POST', '/runs/stats', { id: [run.id] })).body;
    const again = { run_id: run.id, key: 'long', score: 1 };
    expect((await send('POST', '/feedback', again)).status).toBe(200);
    const stored = (await send('GET', `/runs/${run.id}`)).body;
    for (const [answer, n] of [[project, 2000] as const, [selected, 2000] as const, [stored, 2001] as const]) {
      const { long } = answer.feedback_stats as { long: Summary };
      expect([long.n, long.sources]).toEqual([n, oldest.map((type) => ({ type }))]);
      expect(long.comments.map((comment) => comment.slice(0, 2))).toEqual(oldest.map((number) => `${number}x`));
    }
  });

  it('keeps what an update omits, and clears what it sets to null', async () => {
    const [run] = newRuns(1);
    await post([run]);
    const fields = { score: 1, value: 'good', comment: 'why', correction: { a: 1 }, feedback_source: { type: 'api' } };
    const { body } = await send('POST', '/feedback', { run_id: run.id, key: 'k', ...fields });
    const path = `/feedback/${String(body.id)}`;
    const changed = await send('PATCH', path, { score: 0.5, comment: null });
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ ...fields, score: 0.5, comment: null }),
    ]);
    expect((await statsOf(run.id))?.k).toMatchObject({ n: 1, avg: 0.5, comments: [] });
    await send('PATCH', path, { score: null, value: null, correction: null });
    const cleared = { score: null, value: null, correction: null, comment: null, key: 'k', run_id: run.id };
    expect((await send('GET', path)).body).toMatchObject(cleared);
  });

  it('keeps the changes of concurrent updates of different fields, and is not created by one', async () => {
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await Promise.all(ids.map((id) => send('POST', '/feedback', { id, key: 'k', score: 0, comment: 'old' })));
    await Promise.all(
      ids.flatMap((id) => [
        send('PATCH', `/feedback/${id}`, { score: 1 }),
        send('PATCH', `/feedback/${id}`, { comment: 'new' }),
      ]),
    );
    const read = await Promise.all(ids.map((id) => send('GET', `/feedback/${id}`)));
    expect(read.map(({ body }) => [body.score, body.comment])).toEqual(ids.map(() => [1, 'new']));
    expect((await send('PATCH', `/feedback/${randomUUID()}`, { score: 1 })).status).toBe(404);
  });

  it('is stored without deadlocks from uploads of the same feedback in opposite orders', async () => {
    const [run] = newRuns(1);
    await post([run]);
    const items = Array.from({ length: 40 }, () => ({ id: randomUUID(), run_id: run.id, key: 'same', score: 1 }));
    const statuses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => upload(index % 2 === 0 ? items : items.toReversed())),
    );
    expect(statuses).toEqual(statuses.map(() => 202));
    expect(await statsOf(run.id)).toMatchObject({ same: { n: 40 } });
  });

  it('is stored without deadlocks beside patches of the same runs in opposite orders', async () => {
    const runs = newRuns(30);
    await post(runs);
    const feedback = (of: Json[]): Json[] =>
      of.map(({ id }) => ({ id: randomUUID(), run_id: id, key: 'same', score: 1 }));
    const patch = async (of: Json[], outputs: Json): Promise<number> => {
      const end = new Date().toISOString();
      const patches = of.map(({ id, trace_id, dotted_order }) => ({
        id,
        trace_id,
        dotted_order,
        end_time: end,
        outputs,
      }));
      return (await send('POST', '/runs/batch', { patch: patches })).status;
    };
    const rounds = 8;
    for (let round = 0; round < rounds; round += 1) {
      const statuses = await Promise.all([
        patch(runs.toReversed(), { round }),
        upload(feedback(runs)),
        patch(runs, { again: round }),
        upload(feedback(runs.toReversed())),
      ]);
      expect(statuses).toEqual([202, 202, 202, 202]);
    }
    const summaries = await Promise.all(runs.map(({ id }) => statsOf(id)));
    expect(summaries).toEqual(runs.map(() => ({ same: expect.objectContaining({ n: 2 * rounds }) })));
  });
});
