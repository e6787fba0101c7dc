// Bulk export beside what could be used instead, and beside its own ceiling, over the same rows in turns:
//   gantry   api and worker as processes of their own, through Temporal
//   script   test/bench/export_script.py: server-side cursor, pyarrow, boto3
//   copy     COPY … TO STDOUT of the same columns, thrown away
//   duckdb   DuckDB writing the same rows from memory to a Parquet file
//
//   npm run build && node test/bench/exports-side-by-side.mjs [rows] [rounds] [--alone]
//
// With --alone only the first: for more rows than fit into DuckDB's memory.
// Needs a Postgres server, Temporal and S3 as GANTRY_TEST_DATABASE_URL, GANTRY_TEST_TEMPORAL_ADDRESS, GANTRY_TEST_S3, and
// GANTRY_BENCH_PYTHON with psycopg, pyarrow and boto3; without that the script is left out. Figures on a busy machine are
// worth nothing but their ratios, so the best of the rounds counts.
import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync, statSync, createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { peakMemoryMb, processorSeconds } from './measure.mjs';

const ROOT = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const { migrate } = require(join(ROOT, 'dist/src/database/upgrade.js'));
const { DEFAULT_COLUMNS, readColumns } = require(join(ROOT, 'dist/src/exports/parquet/export-columns.js'));

const {
  values: { alone: ALONE },
  positionals: [rows = '200000', rounds = '3'],
} = parseArgs({ options: { alone: { type: 'boolean', default: false } }, allowPositionals: true });
const ROWS = Number(rows);
const ROUNDS = Number(rounds);
const DAY = '2026-10-01';
const POLL_MS = 1_000;
const TENANT = '00000000-0000-0000-0000-000000000000';
const PROJECT = randomUUID();
const {
  GANTRY_TEST_DATABASE_URL: server,
  GANTRY_TEST_TEMPORAL_ADDRESS: temporal,
  GANTRY_TEST_S3: s3,
  GANTRY_BENCH_PYTHON: python,
} = process.env;

/** Fills the table with rows of about 1.7 KB. @param {pg.Client} client */
async function fill(client) {
  await client.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'bench') ON CONFLICT DO NOTHING`, [TENANT]);
  await client.query(`INSERT INTO trace_projects (tenant_id, project_id, name) VALUES ($1, $2, 'bench')`, [
    TENANT,
    PROJECT,
  ]);
  await client.query(
    `CREATE TABLE IF NOT EXISTS trace_runs_bench PARTITION OF trace_runs
     FOR VALUES FROM ('${DAY} 00:00:00+00') TO (timestamptz '${DAY} 00:00:00+00' + interval '24 hours')`,
  );
  await client.query(
    `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status,
       end_time, inputs, outputs, extra, events, tags, prompt_tokens, completion_tokens, total_tokens, prompt_cost,
       completion_cost, total_cost)
     SELECT $1, $2, t, id, id, to_char(t AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISSUS"Z"') || id, 'ChatOpenAI', 'llm',
       'success', t + interval '1.2 s',
       '{"messages": [{"role": "user", "content": "' || repeat(md5(n::text) || ' ', 15) || '"}]}',
       '{"generations": [{"text": "' || repeat(md5((n * 7)::text) || ' said ', 15) || '"}]}',
       '{"metadata": {"user": "u' || (n % 1000) || '"}, "runtime": {"sdk": "langsmith-py", "platform": "linux"}}',
       '[{"name": "start", "time": "2026-10-01"}, {"name": "end"}]', ARRAY['a', 'b'], n % 500, n % 900, n % 1400,
       n * 0.0001, n * 0.0002, n * 0.0003
     FROM (SELECT n, $3::timestamptz + n * (interval '23 hours' / $4::int) AS t, gen_random_uuid() AS id
           FROM generate_series(1, $4::int) n) AS generated`,
    [TENANT, PROJECT, `${DAY} 00:00:00+00`, ROWS],
  );
  await client.query('VACUUM ANALYZE trace_runs');
}

async function freePort() {
  const socket = createServer().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (socket.address());
  socket.close();
  return port;
}

/** @param {string} program @param {NodeJS.ProcessEnv} env */
async function startProcess(program, env) {
  const child = spawn(process.execPath, [join(ROOT, 'dist', program)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env,
  });
  await once(child, 'message');
  return child;
}

/** @param {string} api @param {string} method @param {string} path @param {unknown} [body] */
async function call(api, method, path, body) {
  const response = await fetch(`${api}/api/v1/bulk-exports${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/**
 * Duration of an export in seconds, by its own times: polling more often would add load.
 * @param {string} api
 * @param {string} prefix
 */
async function gantry(api, prefix) {
  const { bucket, region, endpoint, access_key_id, secret_access_key } = JSON.parse(s3);
  const destination = await call(api, 'POST', '/destinations', {
    destination_type: 's3',
    display_name: 'bench',
    config: { bucket_name: bucket, prefix, region, endpoint_url: endpoint },
    credentials: { access_key_id, secret_access_key },
  });
  const { id } = await call(api, 'POST', '', {
    bulk_export_destination_id: destination.id,
    session_id: PROJECT,
    start_time: `${DAY}T00:00:00Z`,
    end_time: `${DAY}T23:59:59.999999Z`,
  });
  for (;;) {
    await sleep(POLL_MS);
    const row = await call(api, 'GET', `/${id}`);
    if (row.status === 'Completed' && row.progress.rows_written === ROWS) {
      return (Date.parse(row.finished_at) - Date.parse(row.created_at)) / 1000;
    }
    if (!['Created', 'Running'].includes(row.status)) throw new Error(JSON.stringify(row));
  }
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** The statement of an export, for all rows at once. @param {'text' | 'csv'} format */
const copySql = (format) => `COPY (
  SELECT ${readColumns(DEFAULT_COLUMNS)
    .map((/** @type {{ sql: string }} */ { sql }) => sql)
    .join(', ')} FROM trace_runs r
  WHERE r.tenant_id = '${TENANT}' AND r.project_id = '${PROJECT}' ORDER BY r.start_time, r.run_id
) TO STDOUT (FORMAT ${format})`;

/**
 * What the export is compared with, each a function of the S3 prefix it may use.
 * @param {pg.Client} client @param {string} database
 */
async function openAlternatives(client, database) {
  const csv = join(directory, 'rows.csv');
  await pipeline(client.query(copyTo(copySql('csv'))), createWriteStream(csv));
  const duckdb = await DuckDBInstance.create(':memory:');
  const writer = await duckdb.connect();
  await writer.run(`CREATE TABLE rows AS FROM read_csv('${csv}', header = false, quote = '"', escape = '"')`);
  const bytes = statSync(csv).size;
  rmSync(csv);
  const script = async (/** @type {string} */ prefix) => {
    const settings = { DATABASE_URL: database, S3: s3, PROJECT, DAY, PREFIX: `${prefix}/script` };
    const program = join(import.meta.dirname, 'export_script.py');
    await promisify(execFile)(python, [program], { env: { ...process.env, ...settings } });
  };
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    bytes,
    runs: {
      ...(python && { script }),
      copy: () => pipeline(client.query(copyTo(copySql('text'))), nowhere()),
      duckdb: () => writer.run(`COPY rows TO '${join(directory, 'rows.parquet')}' (FORMAT parquet, COMPRESSION zstd)`),
    },
    close: () => {
      writer.closeSync();
      duckdb.closeSync();
    },
  };
}

const name = `bench_${randomBytes(6).toString('hex')}`;
const directory = mkdtempSync(join(tmpdir(), 'gantry-bench-exports-'));
const admin = new pg.Client({ connectionString: server });
await admin.connect();
await admin.query(`CREATE DATABASE ${name}`);
const database = new URL(server);
database.pathname = `/${name}`;
/** @type {import('node:child_process').ChildProcess[]} */
const processes = [];
try {
  await migrate(database.href);
  const client = new pg.Client({ connectionString: database.href });
  await client.connect();
  await fill(client);
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATABASE_URL: database.href,
    TEMPORAL_ADDRESS: temporal,
    TEMPORAL_NAMESPACE: name,
    GANTRY_SECRET_KEY: randomBytes(32).toString('base64'),
    GANTRY_CONFIG: join(ROOT, 'test/support/graphs/examples.json'),
    GANTRY_PORT: String(port),
    GANTRY_TRACING: 'off',
    GANTRY_LOG_LEVEL: 'error',
    // A worker of exports alone, as docs/bulk-export.md has it: its memory is then that of exports, without graphs.
    GANTRY_WORKER_QUEUES: 'exports',
    GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8',
    MALLOC_ARENA_MAX: '2',
    NODE_OPTIONS: '--max-semi-space-size=1',
  };
  const { Connection } = require('@temporalio/client');
  const connection = await Connection.connect({ address: temporal });
  await connection.workflowService.registerNamespace({
    namespace: name,
    workflowExecutionRetentionPeriod: { seconds: 86_400 },
  });
  await connection.close();
  await sleep(12_000); // until every part of the Temporal server knows the namespace
  const apiProcess = await startProcess('src/main.js', env);
  processes.push(apiProcess);
  const worker = await startProcess('worker/main.js', env);
  processes.push(worker);
  const api = `http://127.0.0.1:${port}`;
  console.log(`worker at rest: ${peakMemoryMb(worker.pid ?? 0)} MB`);

  const alternatives = ALONE ? undefined : await openAlternatives(client, database.href);
  /** @type {Record<string, number[]>} */
  const seconds = { gantry: [] };
  for (let round = 1; round <= ROUNDS; round++) {
    const prefix = `bench/${name}/${round}`;
    const names = { [process.pid]: 'bench', [apiProcess.pid ?? 0]: 'api', [worker.pid ?? 0]: 'worker' };
    const before = processorSeconds(names);
    seconds.gantry.push(await gantry(api, `${prefix}/gantry`));
    const after = processorSeconds(names);
    const spent = Object.entries(after)
      .map(([name, all]) => ({ name, used: all - (before[name] ?? 0) }))
      .filter(({ used }) => used >= 0.05)
      .sort((a, b) => b.used - a.used);
    console.log(
      `round ${round}: processor ${spent.map(({ name, used }) => `${name} ${used.toFixed(2)} s`).join(', ')}`,
    );
    for (const [what, run] of Object.entries(alternatives?.runs ?? {})) {
      (seconds[what] ??= []).push(await timed(() => run(prefix)));
    }
    const shown = Object.entries(seconds).map(([what, each]) => `${what} ${each.at(-1)?.toFixed(1)} s`);
    console.log(`round ${round}: ${shown.join(', ')}; worker peak ${peakMemoryMb(worker.pid ?? 0)} MB`);
  }
  const best = Object.fromEntries(Object.entries(seconds).map(([what, each]) => [what, Math.min(...each)]));
  console.log(`\n${ROWS} rows, best of ${ROUNDS}\n`);
  if (alternatives) {
    const megabytes = alternatives.bytes / 1e6;
    console.log('| what | rows/s | MB/s |\n| --- | --- | --- |');
    for (const [what, each] of Object.entries(best)) {
      console.log(`| ${what} | ${Math.round(ROWS / each)} | ${(megabytes / each).toFixed(1)} |`);
    }
    const slower = Math.max(best.copy, best.duckdb);
    if (python) console.log(`\ngantry ÷ script: ${(best.script / best.gantry).toFixed(2)}`);
    console.log(`gantry ÷ slower part of the ceiling: ${(slower / best.gantry).toFixed(2)}`);
  }
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[1];
  console.log(`worker: peak ${peakMemoryMb(worker.pid ?? 0)} MB, now ${Math.round(Number(resident) / 1024)} MB`);
  alternatives?.close();
  await client.end();
} finally {
  for (const child of processes) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
  rmSync(directory, { recursive: true, force: true });
}
