// What LangGraph alone allows when it serves the routes that the bench uses: no record of runs, no queue, no log of events, no limits, and
// nothing survives but LangGraph's own checkpoints (PostgresSaver) and rows of threads. A server that promises more can't be faster
// than this one with the same libraries, so its figures show which targets this machine allows at all.
//   DATABASE_URL=… PORT=… PROCESSES=2 node test/bench/peers/bare.mjs
import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { graph as pipeline } from '../../../examples/graphs/pipeline.ts';
import { graph as loop } from '../graphs/loop.ts';
import { chat, graph as tokens } from '../graphs/tokens.ts';

const { DATABASE_URL, PORT, PROCESSES = '1' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16 });
const saver = new PostgresSaver(pool);
/** @type {Record<string, any>} */
const STATELESS = { loop, pipeline, tokens, chat };
const DURABLE = Object.fromEntries(
  Object.entries(STATELESS).map(([id, graph]) => [id, Object.assign(Object.create(graph), { checkpointer: saver })]),
);
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
      return graph.invoke(body.input, config);
    },
  ],
  [
    'POST',
    /^(?:\/threads\/([^/]+))?\/runs\/stream$/,
    async ([, thread], body, response) => {
      const [graph, config] = prepare(thread, body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const mode = /** @type {'values' | 'messages-tuple'} */ (body.stream_mode);
      for await (const chunk of await graph.stream(body.input, { ...config, streamMode: STREAM_MODES[mode] }))
        response.write(`event: ${mode === 'values' ? mode : 'messages'}\ndata: ${JSON.stringify(chunk)}\n\n`);
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
  await pool.end();
  for (let index = 0; index < Number(PROCESSES); index++) cluster.fork();
} else {
  await serve();
}
