// Latency and throughput of runs, through the public SDK and over HTTP as clients use it.
import { Client } from '@langchain/langgraph-sdk';
import pg from 'pg';
import { chatLoad } from './chat-load.mjs';
import { formatFigures, load, percentile } from './measure.mjs';
import { post } from './post.mjs';

const { Pool } = pg;

const CHECKPOINTS = 1_000;
const TOKENS = 200;
const SLEEPERS = 1_000;
const SLEEP_MS = 5_000;
/** Runs of each kind before the first measurement. */
const WARM_UP_RUNS = 3_000;
const WARM_UP_STREAMS = 300;
/** Requests before those that are measured: the first state makes an api start its graph process. */
const WARM_UP_REQUESTS = 1_000;
/** Threads whose states are read, in turn. */
const STATES = 200;
const TEN_NODES = { assistant_id: 'pipeline', input: { step_ms: 0 } };
export const ONE_NODE = { assistant_id: 'loop', input: { turns: 1, turn: 0 } };

/** Waits for a run on the thread, or on none. @param {string} base @param {unknown} body */
export const wait = async (base, body) => (await post(`${base}/runs/wait`, body)).json();

/**
 * Milliseconds until the first event of the mode of a stream.
 * @param {string} api
 * @param {{ stream_mode: string }} body
 */
export async function timeToFirstEvent(api, body) {
  const start = performance.now();
  const response = await post(`${api}/runs/stream`, body);
  const decoder = new TextDecoder();
  let text = '';
  const wanted = new RegExp(`^event: ?${body.stream_mode}`, 'm');
  let first;
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (wanted.test(text)) first ??= performance.now() - start;
  }
  if (first === undefined) throw new Error(`A stream without ${body.stream_mode}: ${text.slice(0, 500)}`);
  return first;
}

/** @param {string} base of the server, or of a thread of it @returns {Promise<number>} how many messages a stream of 200 tokens had */
async function countMessages(base) {
  const input = { messages: [{ role: 'user', content: 'talk' }] };
  const response = await post(`${base}/runs/stream`, { assistant_id: 'tokens', input, stream_mode: 'messages-tuple' });
  const text = await response.text();
  const count = text.match(/^event: ?messages/gm)?.length ?? 0;
  if (count < TOKENS) throw new Error(`A stream of ${count} messages: ${text.slice(-500)}`);
  return count;
}

/**
 * Figures that any server of the public API can give, so that several servers can be compared.
 * @param {string} api
 * @param {number} scale 1 for the full table, less for a quick look
 * @returns {Generator<{ what: string, measure: () => Promise<import('./measure.mjs').Figures> }>} to be measured in their order
 */
export function* measurements(api, scale) {
  const times = (/** @type {number} */ count, least = 5) => Math.max(least, Math.round(count * scale));
  /**
   * At least as many as run at once; with fewer, the measurement would show less.
   * @param {number} count
   * @param {number} concurrency
   * @param {(index: number) => Promise<unknown>} work
   */
  const loadAt = (count, concurrency, work) => load(times(count, concurrency), concurrency, work);
  const client = new Client({ apiUrl: api });
  const createThread = async () => (await post(`${api}/threads`, {})).json();
  /** @param {number} count @returns {Promise<string[]>} addresses of new threads */
  async function threadsFor(count) {
    /** @type {string[]} */
    const threads = [];
    while (threads.length < count) threads.push(`${api}/threads/${(await createThread()).thread_id}`);
    return threads;
  }

  yield {
    what: 'stateless wait, one node, alone',
    measure: async () => {
      const { p50, p99 } = await loadAt(100, 1, () => wait(api, ONE_NODE));
      return { p50, p99 };
    },
  };
  yield {
    what: 'stateless wait, ten nodes, alone',
    measure: async () => {
      const { p50, p99 } = await loadAt(50, 1, () => wait(api, TEN_NODES));
      return { p50, p99 };
    },
  };
  for (const concurrency of [1, 16, 64]) {
    yield {
      what: `stateless waits at ${concurrency}`,
      measure: () => loadAt(concurrency * 6 + 40, concurrency, () => wait(api, ONE_NODE)),
    };
  }
  for (const concurrency of [1, 16, 64]) {
    yield {
      what: `thread waits at ${concurrency}`,
      measure: async () => {
        const threads = await threadsFor(times(concurrency * 6 + 40, concurrency));
        return load(threads.length, concurrency, (index) => wait(threads[index], ONE_NODE));
      },
    };
  }
  for (const concurrency of [1, 64]) {
    yield {
      what: `first streamed event at ${concurrency}`,
      measure: async () => {
        /** @type {number[]} */
        const firsts = [];
        await loadAt(concurrency === 1 ? 30 : 128, concurrency, async () => {
          firsts.push(await timeToFirstEvent(api, { ...ONE_NODE, stream_mode: 'values' }));
        });
        return { p50: percentile(firsts, 0.5), p99: percentile(firsts, 0.99) };
      },
    };
  }
  /** @param {string[]} bases of streams, each of the server or of a thread @param {number} concurrency */
  async function eventsOf(bases, concurrency) {
    /** @type {number[]} */
    const counts = [];
    const { perSecond } = await load(bases.length, concurrency, async (index) => {
      counts.push(await countMessages(bases[index]));
    });
    return { perSecond: (counts.reduce((sum, count) => sum + count, 0) / counts.length) * perSecond };
  }
  for (const concurrency of [1, 16, 64]) {
    const count = times(concurrency === 1 ? 20 : concurrency * 3, concurrency);
    yield {
      what: `events of ${TOKENS}-token streams at ${concurrency}`,
      measure: () => eventsOf(Array(count).fill(api), concurrency),
    };
    if (concurrency === 1) continue;
    yield {
      what: `events of ${TOKENS}-token streams on threads at ${concurrency}`,
      measure: async () => eventsOf(await threadsFor(count), concurrency),
    };
  }
  yield { what: 'chats at once, a token every 20 ms', measure: () => chatLoad(api) };
  // Plain requests: the SDK takes as much of the cores for a thread as the server, and asks once for equal reads under way.
  for (const concurrency of [16, 64]) {
    yield {
      what: `threads created at ${concurrency}`,
      measure: async () => {
        await loadAt(WARM_UP_REQUESTS, concurrency, createThread);
        const { perSecond } = await loadAt(4_000, concurrency, createThread);
        return { perSecond };
      },
    };
  }
  for (const concurrency of [16, 64]) {
    yield {
      what: `states read at ${concurrency}`,
      measure: async () => {
        const threads = await threadsFor(times(STATES, concurrency));
        await load(threads.length, concurrency, (index) => wait(threads[index], TEN_NODES));
        const read = async (/** @type {number} */ index) => {
          const response = await fetch(`${threads[index % threads.length]}/state`);
          const { values } = await response.json();
          if (values?.done?.length !== 10) throw new Error(`A state of ${response.status}: ${JSON.stringify(values)}`);
        };
        await loadAt(WARM_UP_REQUESTS, concurrency, read);
        const { perSecond, p50 } = await loadAt(4_000, concurrency, read);
        return { perSecond, p50 };
      },
    };
  }

  const checkpoints = times(CHECKPOINTS);
  /** @type {string | undefined} */
  let long;
  // Without a durability, other servers write a step's checkpoint while the next step runs.
  for (const [name, more] of /** @type {const} */ ([
    [`a run of ${checkpoints} steps`, {}],
    [`a run of ${checkpoints} steps, durability sync`, { durability: 'sync' }],
  ])) {
    yield {
      what: name,
      measure: async () => {
        const { thread_id } = await client.threads.create();
        const body = {
          assistant_id: 'loop',
          input: { turns: checkpoints, turn: 0 },
          config: { recursion_limit: checkpoints + 1 },
          ...more,
        };
        const begun = performance.now();
        const { turn } = await wait(`${api}/threads/${thread_id}`, body);
        if (turn !== checkpoints) throw new Error(`The run took ${turn} steps`);
        long = thread_id;
        return { seconds: (performance.now() - begun) / 1000 };
      },
    };
  }
  yield {
    what: `history of ${checkpoints} checkpoints read`,
    measure: async () => {
      if (long === undefined) throw new Error('There is no thread with so long a history');
      const thread = long;
      // Nothing before reads a history, so the first third of these also compiles the code in a server in JavaScript.
      const { p50, p99 } = await loadAt(60, 1, async () => {
        const { length } = await client.threads.getHistory(thread, { limit: checkpoints });
        if (length !== checkpoints) throw new Error(`The history has ${length} checkpoints`);
      });
      return { p50, p99 };
    },
  };
}

/**
 * Warms up the server, and checks that it does the work to be measured.
 * @param {string} api
 * @param {number} scale
 */
export async function warmUp(api, scale) {
  const one = await wait(api, ONE_NODE);
  const ten = await wait(api, TEN_NODES);
  if (one.turn !== 1 || ten.done?.length !== 10) {
    throw new Error(`The graph ended elsewhere: ${JSON.stringify({ one, ten })}`);
  }
  // A server that has just started still compiles what it runs: after 3,000 runs, a run takes two thirds of the time.
  await load(Math.max(8, Math.round(WARM_UP_RUNS * scale)), 64, () => wait(api, ONE_NODE));
  await load(Math.max(8, Math.round(WARM_UP_STREAMS * scale)), 16, () => countMessages(api));
}

/**
 * Maximum number of runs that are in a sleeping node at the same time, of a thousand runs that sleep for five seconds.
 * @param {string} postgres
 * @param {string} api
 * @param {number} count
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
      `SELECT count(*) FILTER (WHERE status = 'running')::int AS running, count(*) FILTER (WHERE status = 'success')::int AS done,
         count(*) FILTER (WHERE status NOT IN ('pending', 'running', 'success'))::int AS failed
       FROM runs WHERE metadata->>'bench' = 'sleep'`,
    );
    const [{ running, done, failed }] = rows;
    if (failed > 0) throw new Error(`${failed} of ${count} sleepers failed`);
    most = Math.max(most, running);
    if (done === count) break;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await database.end();
  return { most, seconds: (performance.now() - begun) / 1000 };
}

/**
 * @param {string} api
 * @param {number} scale 1 for the full table, less for a quick look
 * @returns {AsyncGenerator<[string, string]>}
 */
export async function* benchRuns(api, scale) {
  await warmUp(api, scale);
  for (const { what, measure } of measurements(api, scale)) yield [what, formatFigures([await measure()])];
}

/**
 * @param {string} api
 * @param {string} postgres
 * @param {number} scale 1 for the full table, less for a quick look
 * @returns {AsyncGenerator<[string, string]>}
 */
export async function* benchSleepers(api, postgres, scale) {
  const count = Math.round(SLEEPERS * scale);
  const { most, seconds } = await sleepers(postgres, api, count);
  const limit = process.env.GANTRY_RUNS_PER_WORKER ?? 'the default';
  yield [
    `${count} sleepers of ${SLEEP_MS / 1000} s on one worker`,
    `${most} at once (limit: ${limit}), all in ${seconds.toFixed(0)} s`,
  ];
}
