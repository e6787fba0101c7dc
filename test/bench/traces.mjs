// Runs ingested per second from payloads of the real Python client, and what a run costs each process; then queries over a
// million runs. Ratios and CPU seconds: the machine need not be quiet.
//   npm run build && GANTRY_TEST_DATABASE_URL=postgres://… GANTRY_TEST_PYTHON=python node test/bench/traces.mjs [runs] [rows] [apis]
import { execFileSync, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { load, ms, peakMemoryMb, percentile } from './measure.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { migrate } = createRequire(import.meta.url)(join(ROOT, 'dist', 'src', 'database', 'upgrade.js'));
const RUNS = Number(process.argv[2] ?? 10_000);
const ROWS = Number(process.argv[3] ?? 1_000_000);
/** Number of api processes, used in turns. */
const APIS = Number(process.argv[4] ?? 1);
const TENANT = '00000000-0000-0000-0000-000000000000';
/** Maximum number of runs in one request of a client (GET /info). */
const PER_REQUEST = 100;
const TICKS_PER_SECOND = 100;

const server = process.env.GANTRY_TEST_DATABASE_URL;
const python = process.env.GANTRY_TEST_PYTHON;
if (!server || !python) throw new Error('GANTRY_TEST_DATABASE_URL and GANTRY_TEST_PYTHON are missing');

/** @param {string} statement */
async function asAdmin(statement) {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/**
 * Bodies as the Python client sends them: zstd, multipart, each with 100 posts that have ended.
 * @param {number} requests
 * @param {number} bytes of inputs and outputs together
 * @returns {{ body: Buffer, headers: Record<string, string> }[]}
 */
function payloads(requests, bytes) {
  const lines = execFileSync(
    python,
    [join(ROOT, 'test', 'bench', 'trace_payloads.py'), `${requests}`, `${bytes}`, `${PER_REQUEST}`],
    {
      maxBuffer: 4 * 1024 * 1024 * 1024,
      encoding: 'utf8',
    },
  );
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const { body, headers } = JSON.parse(line);
      return { body: Buffer.from(body, 'base64'), headers };
    });
}

/** @param {number} pid */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/**
 * Processor time by backend of a database; backends are processes of their own that come and go.
 * @param {pg.Client} db
 * @returns {Promise<Map<number, number>>}
 */
async function backendSeconds(db) {
  const { rows } = await db.query(`SELECT pid FROM pg_stat_activity WHERE datname = current_database()`);
  return new Map(rows.map(({ pid }) => [pid, cpuSeconds(pid)]));
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });

const name = `bench_${randomBytes(4).toString('hex')}`;
await asAdmin(`CREATE DATABASE ${name}`);
const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
await migrate(url);
const db = new pg.Client({ connectionString: url });
await db.connect();
const apis = await Promise.all(
  Array.from({ length: APIS }, async () => {
    const port = await freePort();
    const process = startApi(port);
    return { process, pid: /** @type {number} */ (process.pid), base: `http://127.0.0.1:${port}` };
  }),
);
const [{ base }] = apis;
try {
  for (const api of apis) {
    for (let tries = 0; tries < 600; tries += 1) {
      if ((await fetch(`${api.base}/ok`).catch(() => undefined))?.ok) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  console.log('| payload | connections | runs/s | api, ms of CPU a run | Postgres, ms a run | api, peak MB |');
  for (const bytes of [2_000, 50_000]) {
    const requests = Math.ceil(RUNS / PER_REQUEST / (bytes > 10_000 ? 10 : 1));
    for (const connections of [1, 4, 16]) {
      const bodies = payloads(requests, bytes);
      const apiBefore = apiSeconds();
      const backendsBefore = await backendSeconds(db);
      const { perSecond } = await load(bodies.length, connections, async (index) => {
        const response = await fetch(`${apis[index % APIS].base}/api/v1/runs/multipart`, {
          method: 'POST',
          ...bodies[index],
        });
        if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
        await response.arrayBuffer();
      });
      const runs = bodies.length * PER_REQUEST;
      const ofApi = apiSeconds() - apiBefore;
      let ofPostgres = 0;
      for (const [pid, seconds] of await backendSeconds(db)) ofPostgres += seconds - (backendsBefore.get(pid) ?? 0);
      const each = (/** @type {number} */ seconds) => ((seconds * 1000) / runs).toFixed(3);
      console.log(
        `| ${bytes / 1000} KB | ${connections} | ${Math.round(perSecond * PER_REQUEST)} | ${each(ofApi)} | ${each(ofPostgres)} | ${Math.max(...apis.map(({ pid }) => peakMemoryMb(pid)))} |`,
      );
    }
  }
  if (ROWS > 0) await benchQueries();
} finally {
  for (const api of apis) api.process.kill('SIGKILL');
  await db.end();
  await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
}

/** @param {number} port */
function startApi(port) {
  return fork(join(ROOT, 'dist', 'src', 'main.js'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      DATABASE_URL: url,
      TEMPORAL_ADDRESS: process.env.GANTRY_TEST_TEMPORAL_ADDRESS ?? '127.0.0.1:7233',
      GANTRY_CONFIG: join(ROOT, 'test', 'support', 'graphs', 'examples.json'),
      GANTRY_PORT: String(port),
      GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GANTRY_TRACING: 'off',
      GANTRY_LOG_LEVEL: 'error',
    },
  });
}

function apiSeconds() {
  return apis.reduce((total, { pid }) => total + cpuSeconds(pid), 0);
}

async function benchQueries() {
  const project = '00000000-0000-0000-0000-0000000000aa';
  const days = Array.from({ length: 10 }, (_, ago) => `2026-11-${String(10 + ago)}`);
  for (const day of days) {
    const table = `trace_runs_${day.replaceAll('-', '')}`;
    await db.query(`CREATE TABLE IF NOT EXISTS ${table} (LIKE trace_runs INCLUDING ALL)`);
    await db
      .query(
        `ALTER TABLE trace_runs ATTACH PARTITION ${table} FOR VALUES FROM ('${day} 00:00+00') TO ('${day} 00:00+00'::timestamptz + interval '1 day')`,
      )
      .catch((error) => {
        if (!/already a partition/.test(error.message)) throw error;
      });
  }
  await db.query(`INSERT INTO trace_projects (tenant_id, project_id, name) VALUES ($1, $2, 'queries')`, [
    TENANT,
    project,
  ]);
  // Traces of ten runs, evenly over ten days; one run in 50 failed; 2,000 conversations.
  await db.query(
    `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, parent_run_id, dotted_order, name, run_type, status,
                             end_time, error, inputs, outputs, metadata, tags, thread_id, total_tokens)
     SELECT $1, $2, '2026-11-10 00:00+00'::timestamptz + i * interval '0.86 s' * (1000000.0 / $3), md5('run' || i)::uuid,
            md5('run' || (i - i % 10))::uuid, CASE WHEN i % 10 > 0 THEN md5('run' || (i - i % 10))::uuid END, lpad(i::text, 12, '0'),
            'step ' || i % 10, (ARRAY['chain', 'llm', 'tool'])[1 + i % 3], CASE WHEN i % 50 = 0 THEN 'error' ELSE 'success' END,
            '2026-11-10 00:00+00'::timestamptz + i * interval '0.86 s' * (1000000.0 / $3) + i % 100 * interval '0.1 s',
            CASE WHEN i % 50 = 0 THEN 'no luck' END, '{"question":"' || md5(i::text) || '"}', '{"answer":"' || md5(i::text) || '"}',
            jsonb_build_object('user', i % 1000), ARRAY['tag' || i % 7], 'thread ' || (i / 10) % 2000, i % 500
     FROM generate_series(0, $3::int - 1) AS i`,
    [TENANT, project, ROWS],
  );
  await db.query(
    `INSERT INTO trace_run_keys (tenant_id, run_id, project_id, start_time) SELECT tenant_id, run_id, project_id, start_time FROM trace_runs WHERE project_id = $1`,
    [project],
  );
  await db.query('VACUUM ANALYZE trace_runs');
  await db.query('ANALYZE trace_run_keys');
  const {
    rows: [one],
  } = await db.query(
    `SELECT run_id, trace_id FROM trace_runs WHERE project_id = $1 AND start_time > '2026-11-15' LIMIT 1`,
    [project],
  );
  const window = { start_time: '2026-11-15T00:00:00Z', end_time: '2026-11-16T00:00:00Z' };
  /** @type {Record<string, object>} */
  const queries = {
    'newest page': {},
    'newest roots': { is_root: true },
    errors: { error: true },
    'a run by its id': { id: [one.run_id] },
    'a trace': { trace: one.trace_id },
    'a conversation': { filter: 'eq(thread_id, "thread 77")' },
    'a run type': { run_type: 'llm' },
    'a name': { filter: 'eq(name, "step 3")' },
    'one day': window,
    'a tag and tokens': { filter: 'and(has(tags, "tag3"), gt(total_tokens, 400))' },
    'roots with an error somewhere in the tree': { is_root: true, tree_filter: 'eq(status, "error")', ...window },
    "one user's (metadata, 1 in 1,000, no index)": {
      filter: 'and(eq(metadata_key, "user"), eq(metadata_value, "77"))',
    },
  };
  const select = ['id', 'name', 'run_type', 'start_time', 'status', 'inputs', 'outputs'];
  console.log(`\n| query over ${ROWS} runs | p50 | p95 |`);
  for (const [what, query] of Object.entries(queries)) {
    /** @type {number[]} */
    const times = [];
    for (let round = 0; round < 12; round += 1) {
      const began = performance.now();
      const body = JSON.stringify({ ...('id' in query ? {} : { session: [project] }), select, limit: 50, ...query });
      const response = await fetch(`${base}/runs/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const { runs } = await response.json();
      if (!runs?.length) throw new Error(`${what} found nothing`);
      if (round > 1) times.push(performance.now() - began);
    }
    console.log(`| ${what} | ${ms(percentile(times, 0.5))} | ${ms(percentile(times, 0.95))} |`);
  }
}
