// Latency and throughput of runs, through the public SDK and over HTTP as clients use it.
import { Client } from '@langchain/langgraph-sdk';
import { load, ms, percentile } from './measure.mjs';

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

/**
 * @param {string} api
 * @param {number} scale 1 for the full table, less for a quick look
 * @returns {AsyncGenerator<[string, string]>}
 */
export async function* benchRuns(api, scale) {
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

  const client = new Client({ apiUrl: api });
  const thread = await client.threads.create();
  await client.runs.wait(thread.thread_id, 'pipeline', { input: { step_ms: 0 } });
  const created = await load(times(500), 16, () => client.threads.create());
  yield ['threads created at 16', `${created.perSecond.toFixed(0)}/s`];
  const states = await load(times(500), 16, () => client.threads.getState(thread.thread_id));
  yield ['states read at 16', `${states.perSecond.toFixed(0)}/s (p50 ${ms(states.p50)})`];
}
