// Latency and throughput of runs, through the public SDK and over HTTP as clients use it.
import { Client } from '@langchain/langgraph-sdk';
import pg from 'pg';
import { load, ms, percentile } from './measure.mjs';

const { Pool } = pg;

const CHECKPOINTS = 1_000;
const SLEEPERS = 1_000;
const SLEEP_MS = 5_000;
const WAIT = { assistant_id: 'pipeline', input: { step_ms: 0 } };

/** @param {string} url @param {unknown} body */
async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} from ${url}: ${await response.text()}`);
  return response;
}

/** @param {string} api @param {Record<string, unknown>} body milliseconds until the first event behind `metadata` */
async function timeToFirstEvent(api, body) {
  const start = performance.now();
  const response = await post(`${api}/runs/stream`, body);
  const decoder = new TextDecoder();
  let text = '';
  let first;
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    first ??= (text.match(/^event: /gm)?.length ?? 0) > 1 ? performance.now() - start : undefined;
  }
  return first ?? NaN;
}

/** @param {string} api @returns {Promise<number>} how many events one stream of 200 tokens had */
async function countEvents(api) {
  const input = { messages: [{ role: 'user', content: 'talk' }] };
  const response = await post(`${api}/runs/stream`, { assistant_id: 'tokens', input, stream_mode: 'messages-tuple' });
  return (await response.text()).match(/^event: /gm)?.length ?? 0;
}

/**
 * How many of a thousand runs of a node that sleeps five seconds are in it at the same time.
 * @param {string} postgres @param {string} api @param {number} count
 */
async function sleepers(postgres, api, count) {
  const database = new Pool({ connectionString: postgres, max: 1 });
  const begun = performance.now();
  const body = {
    assistant_id: 'pipeline',
    input: { step_ms: SLEEP_MS },
    interrupt_after: ['step_1'],
    metadata: { bench: 'sleep' },
  };
  await load(count, 32, () => post(`${api}/runs`, body).then((r) => r.text()));
  let most = 0;
  for (;;) {
    const { rows } = await database.query(
      `SELECT count(*) FILTER (WHERE status = 'running')::int AS running, count(*) FILTER (WHERE status = 'success')::int AS done
       FROM runs WHERE metadata->>'bench' = 'sleep'`,
    );
    most = Math.max(most, rows[0].running);
    if (rows[0].done === count) break;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await database.end();
  return { most, seconds: (performance.now() - begun) / 1000 };
}

/**
 * @param {string} api
 * @param {string} postgres
 * @param {number} scale 1 for the full table, less for a quick look
 * @returns {AsyncGenerator<[string, string]>}
 */
export async function* benchRuns(api, postgres, scale) {
  const times = (/** @type {number} */ count) => Math.max(5, Math.round(count * scale));
  const waitOne = { ...WAIT, interrupt_after: ['step_1'] };
  await load(times(40), 8, () => post(`${api}/runs/wait`, waitOne).then((r) => r.text()));

  const lone = await load(times(100), 1, () => post(`${api}/runs/wait`, waitOne).then((r) => r.text()));
  yield ['stateless wait, one node, alone', `p50 ${ms(lone.p50)}, p99 ${ms(lone.p99)}`];
  const ten = await load(times(50), 1, () => post(`${api}/runs/wait`, WAIT).then((r) => r.text()));
  yield ['stateless wait, ten nodes, alone', `p50 ${ms(ten.p50)}, p99 ${ms(ten.p99)}`];

  for (const concurrency of [1, 16, 64]) {
    const { perSecond, p50, p99 } = await load(times(concurrency * 6 + 40), concurrency, () =>
      post(`${api}/runs/wait`, waitOne).then((r) => r.text()),
    );
    yield [`runs per second at ${concurrency}`, `${perSecond.toFixed(1)}/s (p50 ${ms(p50)}, p99 ${ms(p99)})`];
  }

  const client = new Client({ apiUrl: api });
  for (const concurrency of [1, 16, 64]) {
    const count = times(concurrency * 6 + 40);
    const threads = [];
    while (threads.length < count) threads.push((await client.threads.create()).thread_id);
    const { perSecond, p50, p99 } = await load(count, concurrency, (index) =>
      post(`${api}/threads/${threads[index]}/runs/wait`, waitOne).then((r) => r.text()),
    );
    yield [`thread waits at ${concurrency}`, `${perSecond.toFixed(1)}/s (p50 ${ms(p50)}, p99 ${ms(p99)})`];
  }

  for (const concurrency of [1, 64]) {
    /** @type {number[]} */
    const firsts = [];
    await load(times(concurrency === 1 ? 30 : 128), concurrency, async () => {
      firsts.push(await timeToFirstEvent(api, { ...waitOne, stream_mode: 'values' }));
    });
    yield [
      `first streamed event at ${concurrency}`,
      `p50 ${ms(percentile(firsts, 0.5))}, p99 ${ms(percentile(firsts, 0.99))}`,
    ];
  }

  for (const concurrency of [1, 16, 64]) {
    let events = 0;
    const count = times(concurrency === 1 ? 20 : concurrency * 3);
    const { perSecond } = await load(count, concurrency, async () => {
      events += await countEvents(api);
    });
    yield [`events of 200-token streams at ${concurrency}`, `${((events / count) * perSecond).toFixed(0)}/s`];
  }

  const thread = await client.threads.create();
  await client.runs.wait(thread.thread_id, 'pipeline', { input: { step_ms: 0 } });
  const created = await load(times(500), 16, () => client.threads.create());
  yield ['threads created at 16', `${created.perSecond.toFixed(0)}/s`];
  const states = await load(times(500), 16, () => client.threads.getState(thread.thread_id));
  yield ['states read at 16', `${states.perSecond.toFixed(0)}/s (p50 ${ms(states.p50)})`];

  const supersteps = Array.from({ length: CHECKPOINTS }, () => ({
    updates: [{ values: { step_ms: 0 }, asNode: 'step_1' }],
  }));
  const long = await client.threads.create({ graphId: 'pipeline', supersteps });
  const history = () => client.threads.getHistory(long.thread_id, { limit: CHECKPOINTS });
  const read = await load(times(20), 1, history);
  yield [`history of ${CHECKPOINTS} checkpoints read`, `p50 ${ms(read.p50)}, p99 ${ms(read.p99)}`];

  const asleep = await sleepers(postgres, api, times(SLEEPERS));
  const limit = process.env.GANTRY_RUNS_PER_WORKER ?? 'the default';
  yield [
    `${times(SLEEPERS)} sleepers of ${SLEEP_MS / 1000} s on one worker`,
    `${asleep.most} at once (limit: ${limit}), all in ${asleep.seconds.toFixed(0)} s`,
  ];
}
