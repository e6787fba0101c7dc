// What LangGraph alone allows when it serves the routes that the bench uses: no record of runs, no queue, no log of events, no limits, and
// nothing survives but LangGraph's own checkpoints (PostgresSaver) and rows of threads. A server that promises more can't be faster
// than this one with the same libraries, so its figures show which targets this machine allows at all.
//
// With RECORDS=on it also stores each run before it begins and when it ends, with its result, and events before they are sent: the least
// that a server needs to lose nothing that it has shown to anyone, still without a queue, fencing, limits and several workers.
//   DATABASE_URL=… PORT=… PROCESSES=2 RECORDS=on node test/bench/peers/bare.mjs
import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { graph as pipeline } from '../../../examples/graphs/pipeline.ts';
import { graph as loop } from '../graphs/loop.ts';
import { chat, graph as tokens } from '../graphs/tokens.ts';

const { DATABASE_URL, PORT, PROCESSES = '1', RECORDS } = process.env;
const isRecording = RECORDS === 'on';
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16 });
const saver = new PostgresSaver(pool);
/** @type {Record<string, any>} */
const STATELESS = { loop, pipeline, tokens, chat };
const DURABLE = Object.fromEntries(
  Object.entries(STATELESS).map(([id, graph]) => [id, Object.assign(Object.create(graph), { checkpointer: saver })]),
);
/** Statements of a server that records its runs. */
const BEGIN = 'INSERT INTO bare_runs (run_id, thread_id, kwargs) VALUES ($1, $2, $3)';
const LOG = 'INSERT INTO bare_segments (run_id, first, frames) SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[])';
const END = 'UPDATE bare_runs SET status = $2, output = $3 WHERE run_id = $1';
/** Milliseconds for which frames are collected, as by Gantry's worker. */
const COLLECT_MS = 3;
const STREAM_MODES = { values: 'values', 'messages-tuple': 'messages' };

/** @param {import('node:http').IncomingMessage} request */
async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
}

/** @param {string | undefined} thread_id @param {any} body */
function prepare(thread_id, { assistant_id, config }) {
  const graph = (thread_id ? DURABLE : STATELESS)[assistant_id];
  return [graph, { recursionLimit: config?.recursion_limit ?? 25, configurable: { thread_id } }];
}

/** @param {string} text @param {unknown[]} values */
const store = (text, values) => pool.query({ name: text, text, values });

/**
 * Stores a run before `work` and its result after that.
 * @template T
 * @param {string | undefined} thread @param {unknown} body @param {(id: string) => Promise<T>} work
 */
async function recorded(thread, body, work) {
  const id = randomUUID();
  if (!isRecording) return work(id);
  await store(BEGIN, [id, thread ?? null, JSON.stringify(body)]);
  const result = await work(id);
  await store(END, [id, 'success', JSON.stringify(result ?? null)]);
  return result;
}

/**
 * Frames of all runs of this process that are not stored yet, by run; `first` is the number of the first of them.
 * @type {Map<string, { first: number, frames: string, response: import('node:http').ServerResponse }>}
 */
let waiting = new Map();
/** @type {Promise<void>} */
let writing = Promise.resolve();
/** @type {Promise<void> | undefined} */
let nextWrite;

/** Stores the frames that wait in one statement, and sends them. */
async function writeFrames() {
  const segments = [...waiting];
  waiting = new Map();
  const column = (/** @type {'first' | 'frames'} */ key) => segments.map(([, segment]) => segment[key]);
  await store(LOG, [segments.map(([run]) => run), column('first'), column('frames')]);
  for (const [, { response, frames }] of segments) response.write(frames);
}

/** Resolves when the frames that wait are stored and sent. One statement is under way at a time. */
function written() {
  nextWrite ??= writing
    .then(() => sleep(COLLECT_MS))
    .then(() => {
      nextWrite = undefined;
      writing = writeFrames();
      return writing;
    });
  return nextWrite;
}

/** Sends frames in their order; where events are stored, after that. @param {string} run @param {import('node:http').ServerResponse} response */
function frameSender(run, response) {
  let count = 0;
  /** @type {Promise<void> | undefined} */
  let last;
  return {
    send: (/** @type {string} */ frame) => {
      if (!isRecording) return response.write(frame);
      const segment = waiting.get(run) ?? { first: count, frames: '', response };
      segment.frames += frame;
      waiting.set(run, segment);
      count += 1;
      return (last = written());
    },
    sent: () => last,
  };
}

/** @type {[string, RegExp, (match: RegExpExecArray, body: any, response: import('node:http').ServerResponse) => Promise<unknown>][]} */
const ROUTES = [
  ['GET', /^\/ok$/, async () => ({ ok: true })],
  [
    'POST',
    /^\/threads$/,
    async () => {
      const { rows } = await pool.query({
        name: 'create',
        text: 'INSERT INTO bare_threads (thread_id) VALUES ($1) RETURNING *',
        values: [randomUUID()],
      });
      return { ...rows[0], metadata: {}, status: 'idle', values: null };
    },
  ],
  [
    'POST',
    /^(?:\/threads\/([^/]+))?\/runs\/wait$/,
    async ([, thread], body) => {
      const [graph, config] = prepare(thread, body);
      return recorded(thread, body, () => graph.invoke(body.input, config));
    },
  ],
  [
    'POST',
    /^(?:\/threads\/([^/]+))?\/runs\/stream$/,
    async ([, thread], body, response) => {
      const [graph, config] = prepare(thread, body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const mode = /** @type {'values' | 'messages-tuple'} */ (body.stream_mode);
      await recorded(thread, body, async (run) => {
        const frames = frameSender(run, response);
        for await (const chunk of await graph.stream(body.input, { ...config, streamMode: STREAM_MODES[mode] }))
          void frames.send(`event: ${mode === 'values' ? mode : 'messages'}\ndata: ${JSON.stringify(chunk)}\n\n`);
        await frames.sent();
      });
      response.end();
      return undefined;
    },
  ],
  [
    'GET',
    /^\/threads\/([^/]+)\/state$/,
    async ([, thread_id]) => DURABLE.pipeline.getState({ configurable: { thread_id } }),
  ],
  [
    'POST',
    /^\/threads\/([^/]+)\/history$/,
    async ([, thread_id], { limit }) => {
      const states = [];
      for await (const state of DURABLE.loop.getStateHistory({ configurable: { thread_id } }, { limit }))
        states.push(state);
      return states;
    },
  ],
];

async function serve() {
  createServer(async (request, response) => {
    try {
      const body = await bodyOf(request);
      for (const [method, path, handle] of ROUTES) {
        const match = request.method === method && path.exec(request.url ?? '');
        if (!match) continue;
        const answer = await handle(match, body, response);
        if (answer === undefined) return;
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
        return;
      }
      response.writeHead(404).end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(Number(PORT), '127.0.0.1');
}

if (cluster.isPrimary) {
  await saver.setup();
  await pool.query('CREATE TABLE bare_threads (thread_id uuid PRIMARY KEY, created_at timestamptz DEFAULT now())');
  await pool.query(
    'CREATE TABLE bare_runs (run_id uuid PRIMARY KEY, thread_id uuid, status text, kwargs jsonb, output jsonb)',
  );
  await pool.query('CREATE TABLE bare_segments (run_id uuid, first int, frames text, PRIMARY KEY (run_id, first))');
  await pool.end();
  for (let index = 0; index < Number(PROCESSES); index++) cluster.fork();
} else {
  await serve();
}
