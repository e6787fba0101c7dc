// What the measurements of the console read: runs of a long time, and a large trace.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { post } from './post.mjs';

const RUNS_PER_THREAD = 10;

/**
 * Copies a run that has ended into runs of the last 30 days, of which one in twenty has failed.
 * @param {string} url of the database
 * @param {string} runId
 * @param {number} count
 */
export async function insertRuns(url, runId, count) {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    await db.query(
      `CREATE TEMPORARY TABLE copies AS
        SELECT n, gen_random_uuid() AS thread_id, now() - n * interval '30 days' / $1::int AS created_at
          FROM generate_series(1, $1::int) n`,
      [count],
    );
    await db.query(`UPDATE copies c SET thread_id = f.thread_id FROM copies f WHERE f.n = c.n - (c.n - 1) % $1::int`, [
      RUNS_PER_THREAD,
    ]);
    await db.query(
      `INSERT INTO threads (thread_id, tenant_id, metadata, "values", created_at, updated_at)
        SELECT c.thread_id, t.tenant_id, t.metadata, t."values", c.created_at, c.created_at
          FROM copies c, runs r JOIN threads t USING (thread_id) WHERE r.run_id = $1 AND c.n % $2 = 1`,
      [runId, RUNS_PER_THREAD],
    );
    await db.query(
      `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, status, attempt, metadata, kwargs,
          multitask_strategy, error, scheduled_at, created_at, updated_at, started_at, ended_at)
        SELECT uuidv7(c.created_at - now()), r.tenant_id, c.thread_id, r.assistant_id, r.graph_id,
            CASE WHEN c.n % 20 = 0 THEN 'error' ELSE r.status END, r.attempt, r.metadata, r.kwargs, r.multitask_strategy,
            CASE WHEN c.n % 20 = 0 THEN jsonb_build_object('error', 'ModelError', 'message', 'The model refused call ' || c.n) END,
            c.created_at, c.created_at, c.created_at, c.created_at + interval '20 ms',
            c.created_at + (c.n % 90) * interval '110 ms' + interval '300 ms'
          FROM copies c, runs r WHERE r.run_id = $1`,
      [runId],
    );
    await db.query('ANALYZE threads, runs');
  } finally {
    await db.end();
  }
}

/**
 * Uploads a trace as a client of LangSmith does: agents under the root, each with calls of a model and a tool.
 * @param {string} api
 * @param {number} count
 * @returns {Promise<{ project: string, trace: string }>}
 */
export async function uploadTrace(api, count) {
  const name = `console-${randomUUID()}`;
  const begun = Date.now() - 60_000;
  const trace = randomUUID();
  const stamp = (/** @type {number} */ at) => new Date(begun + at).toISOString();
  const orderOf = (/** @type {number} */ at, /** @type {string} */ id) =>
    `${stamp(at).replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`;
  const messages = [{ role: 'user', content: 'What is in the seventh report of this quarter, and who wrote it?' }];
  const root = orderOf(0, trace);
  let agent = { id: trace, order: root };
  const runs = Array.from({ length: count }, (_, index) => {
    const isRoot = index === 0;
    const isAgent = index % 10 === 1;
    const id = isRoot ? trace : randomUUID();
    const parent = isRoot || isAgent ? { id: trace, order: root } : agent;
    const order = isRoot ? root : `${parent.order}.${orderOf(index, id)}`;
    if (isAgent) agent = { id, order };
    const type = isRoot || isAgent ? 'chain' : index % 3 === 0 ? 'tool' : 'llm';
    return {
      id,
      trace_id: trace,
      ...(!isRoot && { parent_run_id: parent.id }),
      dotted_order: order,
      name: isRoot ? 'reports' : isAgent ? 'agent' : type === 'llm' ? 'ChatModel' : 'read_report',
      run_type: type,
      start_time: stamp(index),
      end_time: stamp(index + (isRoot ? count : 5)),
      session_name: name,
      inputs: { messages },
      outputs: {
        messages: [{ role: 'assistant', content: 'It is the report on the harvest. '.repeat(10) }],
        ...(type === 'llm' && { usage_metadata: { input_tokens: 120, output_tokens: 80, total_tokens: 200 } }),
      },
    };
  });
  await post(`${api}/api/v1/runs/batch`, { post: runs, patch: [] });
  const projects = await (await fetch(`${api}/api/v1/sessions?name=${name}`)).json();
  return { project: projects[0].id, trace };
}
