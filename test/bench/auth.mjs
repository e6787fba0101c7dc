// What the wall between tenants and a custom auth cost per request: ratios within one run, in turns, on one database.
//   npm run build && GANTRY_TEST_DATABASE_URL=postgres://… GANTRY_TEST_TEMPORAL_ADDRESS=host:port node test/bench/auth.mjs
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { load, percentile } from './measure.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { migrate } = createRequire(import.meta.url)(join(ROOT, 'dist', 'src', 'database', 'upgrade.js'));
const KEY = 'bench-key-0123456789';
const ROUNDS = 7;
const THREADS = 20_000;

const server = process.env.GANTRY_TEST_DATABASE_URL;
const temporal = process.env.GANTRY_TEST_TEMPORAL_ADDRESS;
if (!server || !temporal) throw new Error('GANTRY_TEST_DATABASE_URL and GANTRY_TEST_TEMPORAL_ADDRESS are missing');

/** @param {string} statement */
async function asAdmin(statement) {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** @param {number[]} values */
const median = (values) => percentile(values, 0.5);

/**
 * Each in turn, round by round; the first round warms up.
 * @param {Record<string, () => Promise<number>>} works each resolves to milliseconds
 */
async function inTurns(works) {
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(works)) {
      const ms = await work();
      if (round > 0) times[name].push(ms);
    }
  }
  const [[, base]] = Object.entries(times);
  for (const [name, values] of Object.entries(times)) {
    const ratio = median(values.map((value, round) => value / base[round]));
    console.log(`| ${name.padEnd(58)} | ${median(values).toFixed(3)} ms | ${ratio.toFixed(2)} |`);
  }
}

/** @param {string} url */
async function measureWall(url) {
  const tenants = [randomUUID(), randomUUID()];
  const plain = new pg.Client({ connectionString: url });
  await plain.connect();
  const login = await plain.query('SELECT role, password FROM request_login');
  const { role, password } = login.rows[0];
  const walled = new pg.Client({ connectionString: Object.assign(new URL(url), { username: role, password }).href });
  await walled.connect();
  for (const tenant of tenants) {
    await plain.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)`, [tenant, tenant]);
    await plain.query(
      `INSERT INTO threads (thread_id, tenant_id, metadata)
       SELECT gen_random_uuid(), $1, jsonb_build_object('owner', i % 1000) FROM generate_series(1, $2::int) AS i`,
      [tenant, THREADS],
    );
  }
  await plain.query('ANALYZE threads');
  const { rows } = await plain.query('SELECT thread_id FROM threads WHERE tenant_id = $1 LIMIT 200', [tenants[0]]);
  /** @param {string} tenant */
  const enter = (tenant) => ({
    name: 'scope',
    text: `SELECT set_config('gantry.tenant_id', $1, false)`,
    values: [tenant],
  });
  await walled.query(enter(tenants[0]));
  const byId = (/** @type {string} */ id) => ({
    name: 'by-id',
    text: 'SELECT * FROM threads WHERE tenant_id = $1 AND thread_id = $2',
    values: [tenants[0], id],
  });
  const search = (/** @type {number} */ owner) => ({
    name: 'search',
    text: 'SELECT * FROM threads WHERE tenant_id = $1 AND metadata @> $2 ORDER BY updated_at DESC LIMIT 10',
    values: [tenants[0], JSON.stringify({ owner })],
  });
  /** @param {(index: number) => Promise<unknown>} work */
  const each = (work) => async () => (await load(1_000, 1, work)).p50;
  const thread = (/** @type {number} */ index) => rows[index % rows.length].thread_id;
  await inTurns({
    'a thread by its id, without the wall': each((index) => plain.query(byId(thread(index)))),
    'behind it': each((index) => walled.query(byId(thread(index)))),
    'behind it, on a connection that served another tenant': each(async (index) => {
      await walled.query(enter(tenants[(index + 1) % 2]));
      await walled.query(enter(tenants[0]));
      await walled.query(byId(thread(index)));
    }),
  });
  await inTurns({
    [`a search by metadata in ${THREADS} threads, without the wall`]: each((index) =>
      plain.query(search(index % 1000)),
    ),
    'behind it': each((index) => walled.query(search(index % 1000))),
  });
  await Promise.all([plain.end(), walled.end()]);
}

/**
 * @param {string} url of the database
 * @param {string} config langgraph.json
 */
async function startApi(url, config) {
  const api = fork(join(ROOT, 'dist', 'src', 'main.js'), [], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: url,
      TEMPORAL_ADDRESS: temporal,
      GANTRY_PORT: '0',
      GANTRY_CONFIG: config,
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: KEY,
      GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GANTRY_TRACING: 'off',
    },
  });
  const address = await new Promise((resolve, reject) => {
    api.once('exit', () => reject(new Error('The api ended')));
    api.stdout?.setEncoding('utf8').on('data', (text) => {
      const [, found] = /"url":"([^"]+)"/.exec(text) ?? [];
      if (found) resolve(found);
    });
  });
  return { api, address };
}

/** @param {string} url @param {string} folder */
async function measureCustomAuth(url, folder) {
  const graphs = { whoami: join(ROOT, 'test', 'support', 'auth', 'whoami.ts:graph') };
  const module = join(folder, 'auth.ts');
  writeFileSync(
    module,
    `import { Auth } from '${import.meta.resolve('@langchain/langgraph-sdk/auth')}';
     export const auth = new Auth()
       .authenticate((request) => ({ identity: request.headers.get('authorization') ?? 'nobody', permissions: [] }))
       .on('*', ({ user }) => ({ owner: user.identity }));`,
  );
  const auth = { path: `${module}:auth` };
  const configs = {
    'GET /threads/{id} with an API key': { graphs },
    'with a custom auth': { graphs, auth },
    'with a custom auth and auth.cache': { graphs, auth: { ...auth, cache: { cache_keys: ['authorization'] } } },
  };
  const apis = [];
  /** @type {Record<string, () => Promise<number>>} */
  const alone = {};
  /** @type {Record<string, () => Promise<number>>} */
  const many = {};
  for (const [name, config] of Object.entries(configs)) {
    const file = join(folder, `${apis.length}.json`);
    writeFileSync(file, JSON.stringify(config));
    const { api, address } = await startApi(url, file);
    apis.push(api);
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY, authorization: 'alice' };
    const created = await fetch(`${address}/threads`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ metadata: { owner: 'alice' } }),
    });
    const { thread_id } = await created.json();
    const get = async () => {
      const response = await fetch(`${address}/threads/${thread_id}`, { headers });
      if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
      await response.text();
    };
    alone[name] = async () => (await load(500, 1, get)).p50;
    many[`${name}, at 16`] = async () => 1000 / (await load(2_000, 16, get)).perSecond;
  }
  await inTurns(alone);
  await inTurns(many);
  for (const api of apis) api.kill('SIGKILL');
}

const name = `bench_${randomBytes(6).toString('hex')}`;
const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-'));
await asAdmin(`CREATE DATABASE ${name}`);
try {
  const url = new URL(server);
  url.pathname = `/${name}`;
  await migrate(url.href);
  console.log('| what | median | ratio |\n| --- | --- | --- |');
  await measureWall(url.href);
  await measureCustomAuth(url.href, folder);
} finally {
  await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  rmSync(folder, { recursive: true });
}
