import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { startTestApi, TestApi } from '../support/api';

type Json = Record<string, unknown>;

/** A run as clients send it that know only its parent. */
function newRun(parentId?: string): Json & { id: string } {
  const run = { id: uuidv7(), name: 'run', run_type: 'chain', start_time: '2026-11-20T10:00:00.123456Z' };
  return { ...run, session_name: 'positions', ...(parentId && { parent_run_id: parentId }) };
}

function newTrace(): [root: Json & { id: string }, child: Json & { id: string }, grandchild: Json & { id: string }] {
  const root = newRun();
  const child = newRun(root.id);
  return [root, child, newRun(child.id)];
}

describe('runs without positions', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  async function send(method: 'GET' | 'POST', url: string, payload?: Json) {
    const answer = await api.app.inject({ method, url: `/api/v1${url}`, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.json<Json>() };
  }
  const placeOf = async (id: string) => {
    const { body } = await send('GET', `/runs/${id}`);
    return { trace: body.trace_id, above: body.parent_run_ids };
  };

  it.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
    'are in the trace of their root when generations arrive in the order %j',
    async (order) => {
      const runs = newTrace();
      for (const index of order) expect((await send('POST', '/runs', runs[index])).status).toBe(202);
      const [root, child, grandchild] = runs;
      expect(await placeOf(child.id)).toEqual({ trace: root.id, above: [root.id] });
      expect(await placeOf(grandchild.id)).toEqual({ trace: root.id, above: [root.id, child.id] });
    },
  );

  it('are in the trace of their root when one upload has the children first', async () => {
    const [root, child, grandchild] = newTrace();
    await send('POST', '/runs/batch', { post: [grandchild, child] });
    await send('POST', '/runs', root);
    expect(await placeOf(grandchild.id)).toEqual({ trace: root.id, above: [root.id, child.id] });
  });

  it('count as changed when their parent arrives after them, so that a later pass of an export has their place', async () => {
    const [root, child] = newTrace();
    for (const run of [child, root]) await send('POST', '/runs', run);
    expect(await placeOf(child.id)).toEqual({ trace: root.id, above: [root.id] });
    const database = new Client({ connectionString: api.database.url });
    await database.connect();
    try {
      const { rows } = await database.query(
        'SELECT updated_at > received_at AS changed FROM trace_runs WHERE run_id = $1',
        [child.id],
      );
      expect(rows).toEqual([{ changed: true }]);
    } finally {
      await database.end();
    }
  });

  it('are in the trace of their root when all generations arrive at the same time', async () => {
    const traces = Array.from({ length: 10 }, newTrace);
    const answers = await Promise.all(
      traces
        .flat()
        .reverse()
        .map((run) => send('POST', '/runs', run)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    const places = await Promise.all(traces.map(([, , { id }]) => placeOf(id)));
    expect(places).toEqual(traces.map(([root, child]) => ({ trace: root.id, above: [root.id, child.id] })));
  });

  it('are stored when there are more of them in an upload than Postgres has locks', async () => {
    const runs = Array.from({ length: 11_000 }, () => ({ id: uuidv7() }));
    expect((await send('POST', '/runs/batch', { post: runs })).status).toBe(202);
  });

  it('are refused as their own parents, and stored when they are each other’s', async () => {
    const run = newRun();
    const { status, body } = await send('POST', '/runs', { ...run, parent_run_id: run.id });
    expect([status, body.errors]).toEqual([422, [expect.objectContaining({ path: 'parent_run_id' })]]);
    const other = newRun(run.id);
    const circle = { post: [{ ...run, parent_run_id: other.id }, other] };
    expect((await send('POST', '/runs/batch', circle)).status).toBe(202);
  });
});
