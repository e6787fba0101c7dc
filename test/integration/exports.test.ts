import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { startTestApi, TestApi } from '../support/api';
import { ExportBucket } from '../support/export-bucket';
import {
  destinationBody,
  DestinationChange,
  exportEnded,
  Json,
  startExportWorker,
  TestExportWorker,
  testStore,
} from '../support/exports';
import { runPython } from '../support/python';
import { registerNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const TENANT = '00000000-0000-0000-0000-000000000000';
const DEFAULT_FIELDS = [
  'completion_cost',
  'completion_tokens',
  'dotted_order',
  'end_time',
  'error',
  'events',
  'extra',
  'feedback_stats',
  'first_token_time',
  'id',
  'inputs',
  'is_root',
  'name',
  'outputs',
  'parent_run_id',
  'parent_run_ids',
  'prompt_cost',
  'prompt_tokens',
  'reference_example_id',
  'run_type',
  'session_id',
  'start_time',
  'status',
  'tags',
  'tenant_id',
  'total_cost',
  'total_tokens',
  'trace_id',
  'trace_tier',
];

type Row = Record<string, unknown>;

let api: TestApi;
let worker: TestExportWorker;
let database: Client;
let bucket: ExportBucket;

beforeAll(async () => {
  const namespace = await registerNamespace();
  api = await startTestApi({
    TEMPORAL_NAMESPACE: namespace,
    GANTRY_EXPORT_PART_ROWS: '40',
    GANTRY_SWEEP_INTERVAL_SECONDS: '1',
  });
  worker = await startExportWorker(api.config);
  database = new Client({ connectionString: api.database.url });
  await database.connect();
  bucket = new ExportBucket();
});

afterAll(async () => {
  await worker?.stop();
  await database?.end();
  await bucket?.close();
  await api?.close();
});

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: unknown) {
  const answer = await api.app.inject({
    method,
    url: `/api/v1/bulk-exports${path}`,
    ...(payload !== undefined && { payload: payload as Json }),
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    body: (answer.body ? answer.json() : undefined)!,
  };
}

async function createDestination(change?: DestinationChange): Promise<Json> {
  const { status, body, text } = await call('POST', '/destinations', destinationBody(change));
  if (status !== 200) throw new Error(text);
  return body;
}

async function createProject(): Promise<string> {
  const id = uuidv7();
  await database.query(`INSERT INTO trace_projects (tenant_id, project_id, name) VALUES ($1, $2, $3)`, [
    TENANT,
    id,
    `project ${id}`,
  ]);
  return id;
}

async function createDay(day: string): Promise<void> {
  await database.query(
    `CREATE TABLE IF NOT EXISTS trace_runs_${day.replaceAll('-', '')} PARTITION OF trace_runs
     FOR VALUES FROM ('${day} 00:00:00+00') TO (timestamptz '${day} 00:00:00+00' + interval '24 hours')`,
  );
}

/** Rows with every type, nulls, and values that break writers; their instants have microseconds. */
async function createRuns(projectId: string, day: string, count: number): Promise<void> {
  await createDay(day);
  await database.query(
    `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, parent_run_id, parent_run_ids,
       dotted_order, name, run_type, status, end_time, first_token_time, error, inputs, outputs, extra, events, tags,
       reference_example_id, prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost,
       feedback_stats, trace_tier)
     SELECT $1, $2, t, id, id, CASE WHEN n % 3 = 0 THEN id END, CASE WHEN n % 3 = 0 THEN ARRAY[id] ELSE '{}' END,
       to_char(t AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISSUS"Z"') || id, 'naïve 🚀 ' || n, 'llm',
       CASE WHEN n % 5 = 0 THEN 'error' ELSE 'success' END, t + interval '1.000001 s',
       CASE WHEN n % 4 = 0 THEN t + interval '1 microsecond' END,
       CASE WHEN n % 5 = 0 THEN E'Error: "quoted"\\n\\ttab' END,
       '{"big": 9007199254740993, "nul": "\\u0000", "dup": 1, "dup": 2, "n": ' || n || '}',
       CASE WHEN n % 2 = 0 THEN '{"messages": []}' END, '{"metadata": {}}', '[]',
       CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN '{}'::text[] ELSE ARRAY['a"b', 'ü,'] END,
       CASE WHEN n % 7 = 0 THEN id END, n, 9007199254740993, NULL, n * 0.000123, NULL, 1e-9, '{"k": {"n": 1}}', 'longlived'
     FROM (SELECT n, $3::timestamptz + n * interval '1234567 microseconds' AS t, gen_random_uuid() AS id
           FROM generate_series(0, $4 - 1) n) AS generated`,
    [TENANT, projectId, `${day} 00:00:00+00`, count],
  );
}

async function ended(exportId: string): Promise<Json> {
  return exportEnded(call, exportId);
}

/** The expected rows of an export, read from the table in another way than the export does. */
async function expectedRows(projectId: string): Promise<Row[]> {
  const { rows } = await database.query(
    `SELECT *, (extract(epoch FROM start_time) * 1000000)::bigint::text AS start_us,
       (extract(epoch FROM end_time) * 1000000)::bigint::text AS end_us,
       (extract(epoch FROM first_token_time) * 1000000)::bigint::text AS first_us
     FROM trace_runs WHERE project_id = $1 ORDER BY start_time, run_id`,
    [projectId],
  );
  const number = (value: string | null): number | null => (value === null ? null : Number(value));
  return rows.map((row: Json) => ({
    completion_cost: number(row.completion_cost),
    completion_tokens: BigInt(row.completion_tokens ?? 0),
    dotted_order: row.dotted_order,
    end_time: BigInt(row.end_us),
    error: row.error,
    events: row.events,
    extra: row.extra,
    feedback_stats: JSON.stringify(row.feedback_stats).replaceAll(':', ': '),
    first_token_time: row.first_us === null ? null : BigInt(row.first_us),
    id: row.run_id,
    inputs: row.inputs,
    is_root: row.parent_run_id === null,
    name: row.name,
    outputs: row.outputs,
    parent_run_id: row.parent_run_id,
    parent_run_ids: JSON.stringify(row.parent_run_ids),
    prompt_cost: number(row.prompt_cost),
    prompt_tokens: BigInt(row.prompt_tokens ?? 0),
    reference_example_id: row.reference_example_id,
    run_type: row.run_type,
    session_id: row.project_id,
    start_time: BigInt(row.start_us),
    status: row.status,
    tags: row.tags === null ? null : JSON.stringify(row.tags),
    tenant_id: row.tenant_id,
    total_cost: number(row.total_cost),
    total_tokens: BigInt(row.total_tokens ?? 0),
    trace_id: row.trace_id,
    trace_tier: row.trace_tier,
  }));
}

async function readWithDuckDb(root: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const result = await connection.runAndReadAll(
      `SELECT * REPLACE (epoch_us(start_time) AS start_time, epoch_us(end_time) AS end_time,
         epoch_us(first_token_time) AS first_token_time)
       FROM read_parquet('${root}/**/*.parquet', hive_partitioning = false) ORDER BY start_time, id`,
    );
    return result.getRowObjects();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function readWithPyarrow(root: string): Promise<{ head: Json; rows: Row[] }> {
  const output = await runPython([join(__dirname, '../python/export_read.py'), root]);
  const [head, ...lines] = output.trim().split('\n');
  // Whole numbers are integers of 64 bits: JSON.parse would round those beyond 2^53.
  const integers = /"(\w+_tokens|start_time|end_time|first_token_time)": (\d+)/g;
  const rows = lines.map(
    (line) =>
      JSON.parse(line.replace(integers, '"$1": "int:$2"'), (_, value: unknown) =>
        typeof value === 'string' && value.startsWith('int:') ? BigInt(value.slice(4)) : value,
      ) as Row,
  );
  return { head: JSON.parse(head) as Json, rows };
}

function sorted(rows: Row[]): Row[] {
  return rows
    .map((row) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))))
    .sort((a, b) => `${String(a.start_time)}${String(a.id)}`.localeCompare(`${String(b.start_time)}${String(b.id)}`));
}

describe('destinations', () => {
  it('are stored after a write under tmp, and never show their credentials', async () => {
    const destination = await createDestination();
    expect(destination).toMatchObject({
      destination_type: 's3',
      tenant_id: TENANT,
      credentials_keys: ['access_key_id', 'secret_access_key'],
      config: { include_bucket_in_prefix: false },
    });
    // The test file was deleted again.
    expect(await bucket.keys(destination.config.prefix)).toEqual([]);
    const got = await call('GET', `/destinations/${destination.id}`);
    const listed = await call('GET', '/destinations');
    expect(got.body).toEqual(destination);
    expect(listed.body).toContainEqual(destination);
    const { rows } = await database.query(`SELECT credentials FROM export_destinations WHERE destination_id = $1`, [
      destination.id,
    ]);
    const secret = testStore().secret_access_key;
    expect(`${got.text}${listed.text}${rows[0].credentials}`).not.toContain(secret);
    expect(rows[0].credentials).toMatch(/^v1\./);
  });

  it.each<[string, () => DestinationChange, string]>([
    ['an unknown key id', () => ({ credentials: { access_key_id: 'nobody' } }), 'Key ID you provided does not exist'],
    ['a wrong secret', () => ({ credentials: { secret_access_key: 'wrong' } }), 'Signature does not match'],
    ['an unknown bucket', () => ({ config: { bucket_name: 'no-such-bucket' } }), 'Bucket is not valid'],
    [
      'an endpoint that does not listen',
      () => ({ config: { endpoint_url: 'http://127.0.0.1:9' } }),
      'Invalid endpoint',
    ],
    ['an endpoint that is not S3', () => ({ config: { endpoint_url: api.url } }), 'Invalid endpoint'],
    ['an unknown host', () => ({ config: { endpoint_url: 'http://nowhere.invalid' } }), 'Invalid endpoint'],
    ['the metadata service', () => ({ config: { endpoint_url: 'http://169.254.169.254' } }), 'Invalid endpoint'],
    [
      'the metadata service in IPv6 form',
      () => ({ config: { endpoint_url: 'http://[::ffff:a9fe:a9fe]' } }),
      'Invalid endpoint',
    ],
    [
      'an AWS endpoint',
      () => ({ config: { endpoint_url: 'https://s3.eu-central-1.amazonaws.com' } }),
      'Invalid endpoint: endpoint_url must be omitted for AWS',
    ],
  ])('are refused with 400 for %s', async (_, change, reason) => {
    const { status, body } = await call('POST', '/destinations', destinationBody(change()));
    expect({ status, detail: body.detail }).toEqual({
      status: 400,
      detail: expect.stringMatching(new RegExp(`^Failed to validate S3 destination: ${reason}`)),
    });
    expect(body.detail).not.toContain('wrong');
  });

  it.each<[string, Json, string]>([
    ['no bucket', { config: { bucket_name: undefined } }, 'config.bucket_name'],
    ['no prefix', { config: { prefix: undefined } }, 'config.prefix'],
    ['no region for AWS', { config: { endpoint_url: undefined, region: undefined } }, 'config.region'],
    ['an endpoint that is not a URL', { config: { endpoint_url: 'localhost' } }, 'config.endpoint_url'],
    ['an unknown option', { config: { colour: 'red' } }, 'config'],
    ['no secret', { credentials: { secret_access_key: undefined } }, 'credentials.secret_access_key'],
  ])('are refused with 422 for %s', async (_, change, path) => {
    const { status, body } = await call('POST', '/destinations', destinationBody(change));
    expect(status).toBe(422);
    expect(body.errors.map((error: Json) => error.path)).toContain(path);
  });

  it('accept new credentials after testing them', async () => {
    const { id } = await createDestination();
    const store = testStore();
    const wrong = await call('PATCH', `/destinations/${id}`, {
      credentials: { access_key_id: store.access_key_id, secret_access_key: 'wrong' },
    });
    expect(wrong.status).toBe(400);
    const right = await call('PATCH', `/destinations/${id}`, {
      credentials: {
        access_key_id: store.access_key_id,
        secret_access_key: store.secret_access_key,
      },
    });
    expect(right).toMatchObject({ status: 200, body: { credentials_keys: ['access_key_id', 'secret_access_key'] } });
  });

  it('report the system they could not reach, and no secret, when they are tested', async () => {
    const { id } = await createDestination();
    const tested = await call('POST', `/destinations/${id}/test`);
    expect(tested).toMatchObject({ status: 200, body: { destination_id: id, usable: true, complete: true } });
    await database.query(`UPDATE export_destinations SET config = config || $2 WHERE destination_id = $1`, [
      id,
      { endpoint_url: 'http://169.254.169.254' },
    ]);
    const refused = await call('POST', `/destinations/${id}/test`);
    expect(refused.body).toMatchObject({ usable: false, complete: false });
    expect(refused.body.checks).toEqual([
      expect.objectContaining({ operation: 'write', state: 'failed', error_code: 'InvalidEndpoint' }),
      expect.objectContaining({ operation: 'read', state: 'skipped' }),
      expect.objectContaining({ operation: 'delete', state: 'skipped' }),
    ]);
    expect(tested.text + refused.text).not.toContain(testStore().secret_access_key);
  });

  it('can be deleted unless an export refers to them', async () => {
    const { id } = await createDestination();
    const session_id = await createProject();
    const other = await createDestination();
    expect((await call('DELETE', `/destinations/${id}`)).status).toBe(204);
    expect((await call('GET', `/destinations/${id}`)).status).toBe(404);
    const created = await call('POST', '', {
      bulk_export_destination_id: other.id,
      session_id,
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-02T00:00:00Z',
    });
    expect(created.status).toBe(200);
    expect((await call('DELETE', `/destinations/${other.id}`)).status).toBe(409);
  });
});

describe('one-off exports', () => {
  it('write a folder for each UTC day, which DuckDB and pyarrow read back equal to the rows', async () => {
    const project = await createProject();
    const other = await createProject();
    await createRuns(project, '2026-11-20', 90);
    await createRuns(project, '2026-11-22', 41);
    await createRuns(other, '2026-11-20', 5);
    const destination = await createDestination();
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: '2026-11-20T00:00:00Z',
      end_time: '2026-11-22T12:00:00Z',
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      status: 'Created',
      format: 'Parquet',
      format_version: 'v2_beta',
      compression: 'zstandard',
      export_fields: null,
      filter: null,
      source_bulk_export_id: null,
      start_time: '2026-11-20T00:00:00.000000+00:00',
      end_time: '2026-11-22T12:00:00.000000+00:00',
    });
    const id = created.body.id as string;
    const finished = await ended(id);
    expect(finished).toMatchObject({
      status: 'Completed',
      progress: { partitions_total: 3, partitions_done: 3, rows_total: 131, rows_written: 131 },
    });
    expect(finished.finished_at).toMatch(/^\d{4}-.*\+00:00$/);

    const runs = await call('GET', `/${id}/runs`);
    expect(
      (runs.body as unknown as Json[]).map((run) => [run.status, run.rows_written, run.start_time, run.end_time]),
    ).toEqual([
      ['Completed', 90, '2026-11-20T00:00:00.000000+00:00', '2026-11-21T00:00:00.000000+00:00'],
      ['Completed', 0, '2026-11-21T00:00:00.000000+00:00', '2026-11-22T00:00:00.000000+00:00'],
      ['Completed', 41, '2026-11-22T00:00:00.000000+00:00', '2026-11-22T12:00:00.000000+00:00'],
    ]);
    const [first] = runs.body as unknown as Json[];
    expect((await call('GET', `/${id}/runs/${first.id}`)).body).toEqual(first);

    const { prefix } = destination.config;
    const folder = `${prefix}/export_id=${id}`;
    const data = `${folder}/tenant_id=${TENANT}/session_id=${project}/runs`;
    expect(await bucket.keys(folder)).toEqual(
      [
        `${folder}/_SUCCESS`,
        `${folder}/_manifest.json`,
        `${data}/year=2026/month=11/day=20/2026-11-20-part-00000.parquet`,
        `${data}/year=2026/month=11/day=20/2026-11-20-part-00001.parquet`,
        `${data}/year=2026/month=11/day=20/2026-11-20-part-00002.parquet`,
        `${data}/year=2026/month=11/day=22/2026-11-22-part-00000.parquet`,
        `${data}/year=2026/month=11/day=22/2026-11-22-part-00001.parquet`,
      ].sort(),
    );
    expect(first.metadata.result.exported_files).toContain(
      `${testStore().bucket}/${data}/year=2026/month=11/day=20/2026-11-20-part-00000.parquet`,
    );
    const manifest = JSON.parse((await bucket.read(`${folder}/_manifest.json`)).toString()) as Json;
    expect(manifest).toMatchObject({ rows: 131, sizes_verified: true, filter: null });
    expect(manifest.partitions.map((partition: Json) => partition.files.length)).toEqual([3, 0, 2]);

    const root = await bucket.download(folder);
    const expected = sorted(await expectedRows(project));
    expect(expected).toHaveLength(131);
    expect(sorted(await readWithDuckDb(root))).toEqual(expected);
    const { head, rows } = await readWithPyarrow(root);
    expect(sorted(rows)).toEqual(expected);
    expect(Object.keys(head.schema)).toEqual(DEFAULT_FIELDS);
    expect(head.schema).toMatchObject({
      start_time: 'timestamp[us, tz=UTC]',
      total_cost: 'double',
      total_tokens: 'int64',
      is_root: 'bool',
      inputs: 'string',
      tags: 'string',
    });
    expect(head.codecs).toEqual(['ZSTD']);
  });

  it('contain what a trace client sent', async () => {
    const [root, child] = [uuidv7(), uuidv7()];
    const start = new Date(Date.now() - 60_000).toISOString();
    const stamp = start.replace(/[-:.]/g, '').replace('Z', '000Z');
    const run = (id: string, order: string, more: Json): Json => ({
      id,
      trace_id: root,
      dotted_order: order,
      session_name: 'sent by a client',
      start_time: start,
      end_time: new Date().toISOString(),
      ...more,
    });
    const post = [
      run(root, `${stamp}${root}`, {
        name: 'agent',
        run_type: 'chain',
        inputs: { question: 'wie spät? 🕰', big: 12345678901234 },
        outputs: { answer: [1, null, 'x'] },
        tags: ['a', 'b'],
        extra: { metadata: { user: 'u1' } },
      }),
      run(child, `${stamp}${root}.${stamp}${child}`, {
        name: 'model',
        run_type: 'llm',
        parent_run_id: root,
        inputs: {},
        error: 'boom',
      }),
    ];
    const sent = await api.app.inject({ method: 'POST', url: '/api/v1/runs/batch', payload: { post } });
    expect(sent.statusCode).toBe(202);
    const [project] = (await api.app.inject({ url: '/api/v1/sessions?name=sent%20by%20a%20client' })).json<Json[]>();
    const destination = await createDestination();
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      session_id: project.id,
      start_time: start,
      end_time: new Date().toISOString(),
    });
    expect(await ended(created.body.id)).toMatchObject({ status: 'Completed', progress: { rows_written: 2 } });
    const read = await bucket.download(`${destination.config.prefix}/export_id=${created.body.id}`);
    const rows = (await readWithPyarrow(read)).rows as Json[];
    const agent = rows.find(({ id }) => id === root)!;
    expect(JSON.parse(agent.inputs)).toEqual(post[0].inputs);
    expect(JSON.parse(agent.outputs)).toEqual(post[0].outputs);
    expect(JSON.parse(agent.tags)).toEqual(['a', 'b']);
    expect(agent).toMatchObject({ is_root: true, status: 'success', name: 'agent', trace_id: root });
    expect(rows.find(({ id }) => id === child)).toMatchObject({
      is_root: false,
      status: 'error',
      error: 'boom',
      parent_run_id: root,
      parent_run_ids: JSON.stringify([root]),
    });
  });

  it('write the requested columns with the requested compression, under the bucket on request', async () => {
    const project = await createProject();
    await createRuns(project, '2026-11-20', 3);
    const destination = await createDestination({ config: { include_bucket_in_prefix: true } });
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: '2026-11-20',
      end_time: '2026-11-21T00:00:00+00:00',
      export_fields: ['tenant_id', 'id', 'is_root', 'feedbacks'],
      compression: 'gzip',
    });
    expect(await ended(created.body.id)).toMatchObject({ status: 'Completed' });
    const folder = `${testStore().bucket}/${destination.config.prefix}/export_id=${created.body.id}`;
    const { head, rows } = await readWithPyarrow(await bucket.download(folder));
    expect(head).toMatchObject({
      schema: { id: 'string', is_root: 'bool', tenant_id: 'string', feedbacks: 'string' },
      codecs: ['GZIP'],
      files: 1,
    });
    expect(rows.map(({ feedbacks }) => feedbacks)).toEqual(['[]', '[]', '[]']);
  });

  it('have a half-open window', async () => {
    const project = await createProject();
    await createRuns(project, '2026-11-20', 10);
    const destination = await createDestination();
    // Row n starts at n × 1.234567 s: row 2 is the first in, row 5 the first out.
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: '2026-11-20T00:00:02.469134Z',
      end_time: '2026-11-20T00:00:06.172835Z',
      export_fields: ['id'],
    });
    expect(await ended(created.body.id)).toMatchObject({ status: 'Completed', progress: { rows_written: 3 } });
  });

  it('of all experiments include each project with a dataset, in separate folders', async () => {
    const [experiment, another, plain, idle] = await Promise.all([1, 2, 3, 4].map(() => createProject()));
    await database.query(
      `UPDATE trace_projects SET reference_dataset_id = gen_random_uuid() WHERE project_id = ANY ($1)`,
      [[experiment, another, idle]],
    );
    await createRuns(experiment, '2026-11-12', 50);
    await createRuns(another, '2026-11-12', 3);
    await createRuns(another, '2026-11-13', 4);
    await createRuns(plain, '2026-11-12', 5);
    const destination = await createDestination();
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      all_experiments: true,
      start_time: '2026-11-12T00:00:00Z',
      end_time: '2026-11-14T00:00:00Z',
    });
    expect([created.status, created.body]).toEqual([
      200,
      expect.objectContaining({ session_id: null, all_experiments: true }),
    ]);
    const row = await ended(created.body.id);
    // Days of an experiment without runs have no partition.
    expect(row).toMatchObject({ status: 'Completed', progress: { partitions_total: 3, rows_written: 57 } });

    const runs = (await call('GET', `/${created.body.id}/runs`)).body as unknown as Json[];
    const [one, two] = [experiment, another].sort();
    expect(runs.map((run) => [run.start_time.slice(0, 10), run.session_id])).toEqual([
      ['2026-11-12', one],
      ['2026-11-12', two],
      ['2026-11-13', another],
    ]);
    for (const run of runs) expect(run.metadata.result.export_path).toContain(`/session_id=${run.session_id}/runs/`);
    const folder = await bucket.download(`${destination.config.prefix}/export_id=${created.body.id}`);
    const rows = await readWithDuckDb(folder);
    expect(sorted(rows)).toEqual(sorted([...(await expectedRows(experiment)), ...(await expectedRows(another))]));

    const verified = await call('POST', `/${created.body.id}/verify`, { checksums: true });
    expect(verified.body).toMatchObject({ verified: true, files: 4, rows: 57 });
  });

  it('include the rows that match the filter, and report where a wrong filter is wrong', async () => {
    const project = await createProject();
    await createRuns(project, '2026-11-20', 60);
    const body = {
      bulk_export_destination_id: (await createDestination()).id,
      session_id: project,
      start_time: '2026-11-20T00:00:00Z',
      end_time: '2026-11-21T00:00:00Z',
      export_fields: ['id', 'name', 'is_root'],
    };
    const filter = 'and(eq(run_type, "llm"), eq(is_root, true), like(name, "%🚀 1%"))';
    const created = await call('POST', '', { ...body, filter });
    expect(created.body).toMatchObject({ filter });
    // Of rows 0 to 59, 1 and 10 to 19 match, without the multiples of three.
    expect(await ended(created.body.id)).toMatchObject({
      status: 'Completed',
      progress: { rows_total: 8, rows_written: 8 },
    });
    const wrong = await call('POST', '', { ...body, filter: 'and(eq(run_type, "llm"), nonsense(name, "x"))' });
    expect(wrong).toMatchObject({ status: 422, body: { detail: expect.stringMatching(/^filter: .*position 25/) } });
  });

  it('are listed newest first, by status, with limit and offset', async () => {
    const project = await createProject();
    const destination = await createDestination();
    const body = {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-02T00:00:00Z',
    };
    const first = (await call('POST', '', body)).body.id;
    const second = (await call('POST', '', body)).body.id;
    await Promise.all([ended(first), ended(second)]);
    const listed = (await call('GET', '?limit=2')).body as unknown as Json[];
    expect(listed.map(({ id }) => id)).toEqual([second, first]);
    expect(((await call('GET', '?limit=1&offset=1')).body as unknown as Json[]).map(({ id }) => id)).toEqual([first]);
    const completed = (await call('GET', '?status=Completed')).body as unknown as Json[];
    expect(completed.map(({ id }) => id)).toEqual(expect.arrayContaining([first, second]));
    expect((await call('GET', '?limit=0')).status).toBe(422);
    const { rows } = await database.query<{ total: string }>(
      `SELECT count(*) AS total FROM bulk_exports WHERE status = 'Completed'`,
    );
    expect((await call('GET', '?status=Completed&limit=1')).headers['x-pagination-total']).toBe(rows[0].total);
    const days = await call('GET', `/${first}/runs?limit=1&offset=1`);
    expect(days).toMatchObject({ body: [], headers: { 'x-pagination-total': '1' } });
  });

  it('are refused with 422 naming the field', async () => {
    const session_id = await createProject();
    const destination = await createDestination();
    const body = {
      bulk_export_destination_id: destination.id,
      session_id,
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-02T00:00:00Z',
    };
    const wrong: [Json, string][] = [
      [{ end_time: undefined }, 'end_time'],
      [{ end_time: body.start_time }, 'end_time'],
      [{ interval_hours: 1 }, 'end_time'],
      [{ end_time: undefined, interval_hours: 0 }, 'interval_hours'],
      [{ end_time: undefined, interval_hours: 169 }, 'interval_hours'],
      [{ end_time: undefined, interval_hours: 1.5 }, 'interval_hours'],
      [{ start_time: 'yesterday' }, 'start_time'],
      [{ start_time: '2026-02-30T00:00:00Z' }, 'start_time'],
      [{ format_version: 'v3' }, 'format_version'],
      [{ compression: 'lzo' }, 'compression'],
      [{ export_fields: ['id', 'colour'] }, 'export_fields.1'],
      [{ export_fields: [] }, 'export_fields'],
      [{ session_id: 'x' }, 'session_id'],
      [{ session_id: uuidv7() }, 'session_id'],
      [{ session_id: null }, 'session_id'],
      [{ all_experiments: true }, 'session_id'],
      [{ bulk_export_destination_id: uuidv7() }, 'bulk_export_destination_id'],
      [{ end_time: '2126-01-01T00:00:00Z' }, 'end_time'],
      [{ filter: 'and(eq(name, "x")' }, 'filter'],
      [{ filter: 'eq(colour, "red")' }, 'filter'],
    ];
    for (const [change, path] of wrong) {
      const { status, body: answer } = await call('POST', '', { ...body, ...change });
      expect([change, status, answer.errors?.[0]?.path]).toEqual([change, 422, path]);
    }
  });

  it('answer 404 for what does not exist', async () => {
    expect(await call('GET', `/${uuidv7()}`)).toMatchObject({ status: 404, body: { detail: expect.any(String) } });
    expect((await call('GET', `/${uuidv7()}/runs`)).status).toBe(404);
    expect((await call('PATCH', `/${uuidv7()}`, { status: 'Cancelled' })).status).toBe(404);
    expect((await call('GET', `/destinations/${uuidv7()}`)).status).toBe(404);
  });
});

describe('cancelling', () => {
  it('answers 409 for an export that has ended, and accepts no other status', async () => {
    const created = await call('POST', '', {
      bulk_export_destination_id: (await createDestination()).id,
      session_id: await createProject(),
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-02T00:00:00Z',
    });
    await ended(created.body.id);
    expect(await call('PATCH', `/${created.body.id}`, { status: 'Cancelled' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('Completed') },
    });
    expect((await call('PATCH', `/${created.body.id}`, { status: 'Running' })).status).toBe(422);
  });

  it('stops a running export permanently, without _SUCCESS, and answers 200 when repeated', async () => {
    const project = await createProject();
    await createRuns(project, '2026-10-01', 20_000);
    const destination = await createDestination();
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-10-02T00:00:00Z',
    });
    const { id } = created.body;
    await waitFor('its first rows', async () => (await call('GET', `/${id}`)).body.progress.rows_written > 0);
    expect(await call('PATCH', `/${id}`, { status: 'Cancelled' })).toMatchObject({
      status: 200,
      body: { status: 'Cancelled' },
    });
    expect((await call('PATCH', `/${id}`, { status: 'Cancelled' })).status).toBe(200);
    const runs = await waitFor('its run to be cancelled', async () => {
      const all = (await call('GET', `/${id}/runs`)).body as unknown as Json[];
      return all.every(({ status }) => status === 'Cancelled') && all;
    });
    expect(runs).toHaveLength(1);
    expect(runs[0].rows_written).toBeLessThan(20_000);
    const before = await bucket.keys(`${destination.config.prefix}/export_id=${id}`);
    expect(before).not.toContain(`${destination.config.prefix}/export_id=${id}/_SUCCESS`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await bucket.keys(`${destination.config.prefix}/export_id=${id}`)).toEqual(before);
    expect((await call('GET', `/${id}`)).body.status).toBe('Cancelled');
  });
});

describe('tenants', () => {
  it('need both headers where keys are required, and see only their own exports', async () => {
    const guarded = await startTestApi(
      {
        TEMPORAL_NAMESPACE: api.config.temporal.namespace,
        GANTRY_AUTH: 'on',
        GANTRY_API_KEY: 'key-of-the-first-tenant',
      },
      api.database,
    );
    const other = uuidv7();
    try {
      await database.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'other')`, [other]);
      await guarded.app.get(ApiKeysService).register(other as TenantId, 'other', 'key-of-the-other-tenant');
      const ask = async (path: string, headers: Record<string, string>): Promise<number> =>
        (await guarded.app.inject({ url: `/api/v1/bulk-exports${path}`, headers })).statusCode;
      const mine = { 'x-api-key': 'key-of-the-first-tenant', 'x-tenant-id': TENANT };
      const theirs = { 'x-api-key': 'key-of-the-other-tenant', 'x-tenant-id': other };
      const destination = await createDestination();
      const created = await call('POST', '', {
        bulk_export_destination_id: destination.id,
        session_id: await createProject(),
        start_time: '2026-01-01T00:00:00Z',
        end_time: '2026-01-02T00:00:00Z',
      });
      for (const path of ['', '/destinations', `/${created.body.id}`, `/${created.body.id}/runs`]) {
        expect([path, await ask(path, {})]).toEqual([path, 401]);
        expect([path, await ask(path, { 'x-api-key': mine['x-api-key'] })]).toEqual([path, 401]);
        expect([path, await ask(path, { ...mine, 'x-tenant-id': other })]).toEqual([path, 403]);
        expect([path, await ask(path, mine)]).toEqual([path, 200]);
      }
      for (const path of [`/${created.body.id}`, `/${created.body.id}/runs`, `/destinations/${destination.id}`]) {
        expect([path, await ask(path, theirs)]).toEqual([path, 404]);
      }
      const listed = await guarded.app.inject({ url: '/api/v1/bulk-exports', headers: theirs });
      expect(listed.json()).toEqual([]);
      // A destination of another tenant gets the same answer as one that doesn't exist.
      const foreign = await guarded.app.inject({
        method: 'POST',
        url: '/api/v1/bulk-exports',
        headers: theirs,
        payload: {
          bulk_export_destination_id: destination.id,
          session_id: created.body.session_id,
          start_time: '2026-01-01',
          end_time: '2026-01-02',
        },
      });
      expect(foreign.statusCode).toBe(422);
    } finally {
      await guarded.close();
    }
  });
});

describe('failures', () => {
  it('end an export at once when the user has to fix them, with the reason in the errors of the partition', async () => {
    const project = await createProject();
    await createRuns(project, '2026-11-20', 3);
    const name = `gone-${uuidv7()}`;
    await bucket.createBucket(name);
    const destination = await createDestination({ config: { bucket_name: name } });
    await bucket.deleteBucket(name);
    const created = await call('POST', '', {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: '2026-11-20T00:00:00Z',
      end_time: '2026-11-21T00:00:00Z',
    });
    expect(await ended(created.body.id)).toMatchObject({ status: 'Failed' });
    const runs = (await call('GET', `/${created.body.id}/runs`)).body as unknown as Json[];
    expect(runs).toMatchObject([{ status: 'Failed', retry_number: 1, rows_written: 0 }]);
    expect(runs[0].errors).toEqual({ retry_0: expect.stringMatching(/^Bucket is not valid/) });
    expect(await call('PATCH', `/${created.body.id}`, { status: 'Cancelled' })).toMatchObject({ status: 409 });
  });

  it('of time end an export as TimedOut, with the written files listed', async () => {
    const namespace = await registerNamespace();
    const short = await startTestApi(
      { TEMPORAL_NAMESPACE: namespace, GANTRY_EXPORT_PART_ROWS: '5', GANTRY_EXPORT_TIMEOUT_SECONDS: '20' },
      api.database,
    );
    const shortWorker = await startExportWorker(short.config);
    try {
      const project = await createProject();
      await createRuns(project, '2026-10-03', 20_000);
      const answer = await short.app.inject({
        method: 'POST',
        url: '/api/v1/bulk-exports',
        payload: {
          bulk_export_destination_id: (await createDestination()).id,
          session_id: project,
          start_time: '2026-10-03T00:00:00Z',
          end_time: '2026-10-04T00:00:00Z',
        },
      });
      const { id } = answer.json<Json>();
      expect(await ended(id)).toMatchObject({ status: 'TimedOut' });
      const [run] = (await call('GET', `/${id}/runs`)).body as unknown as Json[];
      expect(run).toMatchObject({ status: 'TimedOut' });
      expect(run.metadata.result.exported_files.length).toBeGreaterThan(0);
      expect(run.rows_written).toBeLessThan(20_000);
    } finally {
      await shortWorker.stop();
      await short.close();
    }
  });
});

describe('the turn of an export', () => {
  it('comes in the order of creation, limited per tenant, and never for an export that was cancelled meanwhile', async () => {
    const project = await createProject();
    await createRuns(project, '2026-10-02', 6_000);
    const body = {
      bulk_export_destination_id: (await createDestination()).id,
      session_id: project,
      start_time: '2026-10-02T00:00:00Z',
      end_time: '2026-10-03T00:00:00Z',
    };
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await call('POST', '', body)).body.id as string);
    const { id: cancelled } = (await call('POST', '', body)).body;
    expect(await call('PATCH', `/${cancelled}`, { status: 'Cancelled' })).toMatchObject({
      status: 200,
      body: { status: 'Cancelled' },
    });
    const seen = new Set<string>();
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const listed = ((await call('GET', '?limit=6')).body as unknown as Json[]).reverse();
      expect(listed.pop()).toMatchObject({ id: cancelled, status: 'Cancelled' });
      expect(listed.map(({ id }) => id)).toEqual(ids);
      const statuses = listed.map(({ status }) => status as string);
      seen.add(statuses.join());
      // Each export of the three that waited takes its own place: none overtakes one that began before it.
      const begun = statuses.findLastIndex((status) => status !== 'Created');
      expect(statuses.slice(0, begun + 1).filter((status) => status !== 'Completed').length).toBeLessThanOrEqual(3);
      if (statuses.every((status) => status === 'Completed')) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect([...seen].at(-1)).toBe('Completed,Completed,Completed,Completed,Completed');
    expect([...seen].some((statuses) => statuses.includes('Running,Created'))).toBe(true);
    expect((await call('GET', `/${cancelled}/runs`)).body).toEqual([]);
  });
});

describe('scheduled exports', () => {
  it('catch up in order with adjacent windows, and leave spawned exports running when cancelled', async () => {
    const project = await createProject();
    const hour = 3_600_000;
    const start = new Date(Math.floor(Date.now() / hour) * hour - 5 * hour);
    const created = await call('POST', '', {
      bulk_export_destination_id: (await createDestination()).id,
      session_id: project,
      start_time: start.toISOString(),
      interval_hours: 1,
      export_fields: ['id', 'start_time'],
      compression: 'snappy',
    });
    expect(created.body).toMatchObject({ status: 'IntervalScheduled', end_time: null, interval_hours: 1 });
    const { id } = created.body;
    const due = Math.floor((Date.now() - 600_000 - start.getTime()) / hour);
    const spawned = await waitFor('its exports', async () => {
      const exports = (await call('GET', `?source_bulk_export_id=${id}`)).body as unknown as Json[];
      return exports.length === due && exports.every(({ status }) => status === 'Completed') && exports;
    });
    expect(spawned.reverse().map((one) => [one.start_time, one.end_time])).toEqual(
      Array.from({ length: due }, (_, n) =>
        [n, n + 1].map((k) => new Date(start.getTime() + k * hour).toISOString().replace('Z', '000+00:00')),
      ),
    );
    for (const one of spawned) {
      expect(one).toMatchObject({
        status: 'Completed',
        source_bulk_export_id: id,
        interval_hours: null,
        export_fields: ['id', 'start_time'],
        compression: 'snappy',
      });
    }
    const runs = (await call('GET', `/runs?source_bulk_export_id=${id}`)).body as unknown as Json[];
    expect(runs.length).toBeGreaterThanOrEqual(due);
    expect(await call('PATCH', `/${id}`, { status: 'Cancelled' })).toMatchObject({
      status: 200,
      body: { status: 'Cancelled' },
    });
    const after = (await call('GET', `?source_bulk_export_id=${id}`)).body as unknown as Json[];
    expect(after.map(({ status }) => status)).toEqual(spawned.map(() => 'Completed'));
  });
});
