import { DuckDBInstance } from '@duckdb/node-api';
import * as fc from 'fast-check';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { amount } from '../support/amount';
import { startTestApi, TestApi } from '../support/api';
import { ExportBucket } from '../support/export-bucket';
import { endProcess, startExportWorkerProcess } from '../support/export-worker-process';
import { testStore } from '../support/exports';
import { registerNamespace } from '../support/temporal';

const TENANT = '00000000-0000-0000-0000-000000000000';
const ROWS = Number(process.env.GANTRY_TEST_EXPORT_ROWS ?? amount(6_000, 15_000));
const KILLS = Number(process.env.GANTRY_TEST_EXPORT_KILLS ?? amount(1, 3));
const DAYS = ['2026-09-01', '2026-09-02', '2026-09-03'];

/** What the API answers: its shape is what the tests are about. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

let api: TestApi;
let bucket: ExportBucket;
let settings: Record<string, string>;

beforeAll(async () => {
  settings = {
    TEMPORAL_NAMESPACE: await registerNamespace(),
    GANTRY_EXPORT_PART_ROWS: String(Math.max(200, Math.ceil(ROWS / 150))),
    GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2',
    GANTRY_SWEEP_INTERVAL_SECONDS: '1',
    GANTRY_SHUTDOWN_GRACE_SECONDS: '5',
    GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8',
  };
  api = await startTestApi(settings);
  bucket = new ExportBucket();
});

afterAll(async () => {
  await bucket?.close();
  await api?.close();
});

const startWorker = () => startExportWorkerProcess(api, settings);

async function call(method: 'GET' | 'POST', path: string, payload?: Json): Promise<Json> {
  const answer = await api.app.inject({ method, url: `/api/v1/bulk-exports${path}`, ...(payload && { payload }) });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.json<Json>();
}

async function prepare(): Promise<{ project: string; prefix: string; body: Json }> {
  const project = uuidv7();
  const database = new Client({ connectionString: api.database.url });
  await database.connect();
  try {
    await database.query(`INSERT INTO trace_projects (tenant_id, project_id, name) VALUES ($1, $2, $3)`, [
      TENANT,
      project,
      project,
    ]);
    for (const day of DAYS) {
      await database.query(
        `CREATE TABLE IF NOT EXISTS trace_runs_${day.replaceAll('-', '')} PARTITION OF trace_runs
         FOR VALUES FROM ('${day} 00:00:00+00') TO (timestamptz '${day} 00:00:00+00' + interval '24 hours')`,
      );
      // Many rows share an instant: a cursor that looks at the instant alone would lose or repeat them.
      await database.query(
        `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status,
           inputs, outputs)
         SELECT $1, $2, $3::timestamptz + (n / 7) * interval '1 second', gen_random_uuid(), gen_random_uuid(), n::text,
           'run ' || n, 'chain', 'success', repeat(md5(n::text), 20), repeat(md5(n::text), 20)
         FROM generate_series(1, $4::int) n`,
        [TENANT, project, `${day} 00:00:00+00`, ROWS / DAYS.length],
      );
    }
  } finally {
    await database.end();
  }
  const store = testStore();
  const prefix = `faults/${uuidv7()}`;
  const destination = await call('POST', '/destinations', {
    destination_type: 's3',
    display_name: 'Fault test',
    config: { bucket_name: store.bucket, prefix, region: store.region, endpoint_url: store.endpoint },
    credentials: { access_key_id: store.access_key_id, secret_access_key: store.secret_access_key },
  });
  return {
    project,
    prefix,
    body: {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: `${DAYS[0]}T00:00:00Z`,
      end_time: `${DAYS[2]}T23:59:59.999999Z`,
    },
  };
}

async function untilRows(id: string, rows: number): Promise<Json> {
  for (let attempt = 0; attempt < 6_000; attempt += 1) {
    const row = await call('GET', `/${id}`);
    if (row.progress.rows_written >= rows || !['Created', 'Running'].includes(row.status)) return row;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The export stands still');
}

async function untilEnded(id: string): Promise<Json> {
  return untilRows(id, Infinity);
}

/** Checks that each row is exported exactly once, and that the bucket has only the files of the manifest. */
async function expectWhole(id: string, project: string, prefix: string): Promise<void> {
  const folder = `${prefix}/export_id=${id}`;
  const manifest = JSON.parse((await bucket.read(`${folder}/_manifest.json`)).toString()) as Json;
  const listed = manifest.partitions.flatMap((partition: Json) =>
    partition.files.map((file: Json) => file.path as string),
  );
  const { bucket: name } = testStore();
  expect((await bucket.keys(folder)).map((key) => `${name}/${key}`)).toEqual(
    [...listed, `${name}/${folder}/_SUCCESS`, `${name}/${folder}/_manifest.json`].sort(),
  );
  expect(await bucket.danglingUploads(folder)).toBe(0);
  const root = await bucket.download(folder);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const database = new Client({ connectionString: api.database.url });
  await database.connect();
  try {
    const read = await connection.runAndReadAll(
      `SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids, md5(string_agg(id || name, ',' ORDER BY id)) AS sum
       FROM read_parquet('${root}/**/*.parquet', hive_partitioning = false)`,
    );
    const { rows } = await database.query(
      `SELECT count(*)::int AS n, count(DISTINCT run_id)::int AS ids,
         md5(string_agg(run_id::text || name, ',' ORDER BY run_id::text COLLATE "C")) AS sum
       FROM trace_runs WHERE project_id = $1`,
      [project],
    );
    expect(rows[0].n).toBe(ROWS);
    expect(read.getRowObjects()).toEqual(rows);
    expect(manifest.rows).toBe(ROWS);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await database.end();
  }
}

it(
  `loses and repeats no row when its worker is killed (kills: ${KILLS})`,
  async () => {
    const { project, prefix, body } = await prepare();
    const { id } = await call('POST', '', body);
    let worker = await startWorker();
    let kills = 0;
    const pauses = fc.sample(fc.nat(200), { numRuns: KILLS, seed: jest.getSeed() });
    for (let n = 1; n <= KILLS; n += 1) {
      const row = await untilRows(id, (ROWS * n) / (KILLS + 1));
      if (row.status === 'Completed') break;
      await new Promise((resolve) => setTimeout(resolve, pauses[n - 1]));
      await endProcess(worker, 'SIGKILL');
      kills += 1;
      worker = await startWorker();
    }
    try {
      expect(kills).toBeGreaterThan(0);
      const row = await untilEnded(id);
      expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
      await expectWhole(id, project, prefix);
    } finally {
      await endProcess(worker, 'SIGKILL');
    }
  },
  600_000 + KILLS * 30_000,
);

it('hands its work over to the next worker when it is asked to stop', async () => {
  const { project, prefix, body } = await prepare();
  const { id } = await call('POST', '', body);
  const first = await startWorker();
  await untilRows(id, ROWS / 10);
  await endProcess(first, 'SIGTERM');
  const before = await call('GET', `/${id}`);
  expect(before.status).toBe('Running');
  const second = await startWorker();
  try {
    const row = await untilEnded(id);
    expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
    await expectWhole(id, project, prefix);
    const runs = (await call('GET', `/${id}/runs`)) as unknown as Json[];
    expect(runs.map(({ errors }) => errors)).toEqual([null, null, null]);
  } finally {
    await endProcess(second, 'SIGTERM');
  }
});
