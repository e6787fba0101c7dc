import { createServer, IncomingMessage, request, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { Patience } from '../../src/storage/patience';
import { startTestApi, TestApi } from '../support/api';
import { ExportBucket } from '../support/export-bucket';
import { exportEnded, Json, startExportWorker, TestExportWorker, testStore } from '../support/exports';
import { registerNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const TENANT = '00000000-0000-0000-0000-000000000000';
const DAY = '2026-09-10';
const ROWS = 400;
/** The page of a proxy in front of a store that is away: it is no XML. */
const BAD_GATEWAY = '<html><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>';

/** Treatment of a request instead of passing it to the store; undefined lets it through. */
type Fault = (
  request: IncomingMessage,
) =>
  | 'deny'
  | 'unknown key'
  | 'error'
  | 'slow down'
  | 'bad gateway'
  | 'reset'
  | 'reset halfway'
  | 'hang'
  | 'hang halfway'
  | undefined;

let api: TestApi;
let worker: TestExportWorker;
let bucket: ExportBucket;
let proxy: Server;
let project: string;
let fault: Fault = () => undefined;

beforeAll(async () => {
  api = await startTestApi({ TEMPORAL_NAMESPACE: await registerNamespace(), GANTRY_EXPORT_PART_ROWS: '50' });
  worker = await startExportWorker(api.config);
  bucket = new ExportBucket();
  proxy = createServer(forward);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  project = await createRows();
});

afterAll(async () => {
  await worker?.stop();
  proxy?.close();
  proxy?.closeAllConnections();
  await bucket?.close();
  await api?.close();
});

/** A proxy in front of the gateway. It keeps the client's Host header, which is signed. */
function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const happening = fault(incoming);
  if (happening === 'reset') return void incoming.socket.destroy();
  if (happening === 'reset halfway') {
    return void incoming.once('data', () => incoming.socket.destroy()).once('end', () => incoming.socket.destroy());
  }
  if (happening === 'hang') return void incoming.resume();
  if (happening === 'bad gateway') {
    return void incoming
      .resume()
      .once('end', () => outgoing.writeHead(502, { 'content-type': 'text/html' }).end(BAD_GATEWAY));
  }
  if (happening && happening !== 'hang halfway') {
    const [status, code] = {
      deny: [403, 'AccessDenied'],
      'unknown key': [403, 'InvalidAccessKeyId'],
      error: [500, 'InternalError'],
      'slow down': [503, 'SlowDown'],
    }[happening] as [number, string];
    incoming.resume().once('end', () => {
      outgoing.writeHead(status, { 'content-type': 'application/xml' });
      outgoing.end(
        `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
      );
    });
    return;
  }
  const target = new URL(testStore().endpoint);
  const passed = request(
    {
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (happening === 'hang halfway') {
        return void answer
          .once('data', (piece: Buffer) => outgoing.write(piece.subarray(0, piece.length / 2)))
          .resume();
      }
      answer.pipe(outgoing);
    },
  );
  passed.on('error', () => incoming.socket.destroy());
  // A client that gives up is gone for the gateway too.
  outgoing.once('close', () => passed.destroy());
  incoming.pipe(passed);
}

async function createRows(): Promise<string> {
  const id = uuidv7();
  const database = new Client({ connectionString: api.database.url });
  await database.connect();
  try {
    await database.query(`INSERT INTO trace_projects (tenant_id, project_id, name) VALUES ($1, $2, 'faults')`, [
      TENANT,
      id,
    ]);
    await database.query(
      `CREATE TABLE trace_runs_faults PARTITION OF trace_runs
       FOR VALUES FROM ('${DAY} 00:00:00+00') TO (timestamptz '${DAY} 00:00:00+00' + interval '24 hours')`,
    );
    await database.query(
      `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status, inputs)
       SELECT $1, $2, $3::timestamptz + (n / 3) * interval '1 second', gen_random_uuid(), gen_random_uuid(), n::text, 'run',
         'chain', 'success', (SELECT string_agg(md5(n::text || m), '') FROM generate_series(1, 100) m)
       FROM generate_series(1, $4::int) n`,
      [TENANT, id, `${DAY} 00:00:00+00`, ROWS],
    );
  } finally {
    await database.end();
  }
  return id;
}

async function call(
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  payload?: Json,
): Promise<{ status: number; body: Json }> {
  const answer = await api.app.inject({ method, url: `/api/v1/bulk-exports${path}`, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json<Json>() };
}

async function createDestination(): Promise<{ status: number; body: Json }> {
  const store = testStore();
  return call('POST', '/destinations', {
    destination_type: 's3',
    display_name: 'Fault test',
    config: {
      bucket_name: store.bucket,
      prefix: `faults/${uuidv7()}`,
      region: store.region,
      endpoint_url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    },
    credentials: { access_key_id: store.access_key_id, secret_access_key: store.secret_access_key },
  });
}

/** Creates an export of half a day; resolves to its id. */
async function beginExport(destination: Json): Promise<string> {
  const created = await call('POST', '', {
    bulk_export_destination_id: destination.id,
    session_id: project,
    start_time: `${DAY}T00:00:00Z`,
    end_time: `${DAY}T12:00:00Z`,
  });
  expect(created.status).toBe(200);
  return created.body.id as string;
}

async function ended(id: string): Promise<Json> {
  return exportEnded(call, id, 120_000);
}

async function exportAll(destination: Json): Promise<Json> {
  return ended(await beginExport(destination));
}

/** The only partition of the export. */
async function runOf(id: string): Promise<Json | undefined> {
  const [run] = (await call('GET', `/${id}/runs`)).body as unknown as Json[];
  return run;
}

async function countRows(prefix: string): Promise<{ rows: number; ids: number }> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const root = await bucket.download(prefix);
    const read = await connection.runAndReadAll(
      `SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids
       FROM read_parquet('${root}/**/*.parquet', hive_partitioning = false)`,
    );
    return read.getRowObjects()[0] as { rows: number; ids: number };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

it('completes an export with write permission only, and reports what it could not verify', async () => {
  fault = ({ method }) => (method === 'PUT' ? undefined : 'deny');
  const { body: destination } = await createDestination();
  const row = await exportAll(destination);
  expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
  const { prefix } = destination.config;
  const keys = await bucket.keys(prefix);
  expect(keys.filter((key) => key.startsWith(`${prefix}/tmp/`))).toHaveLength(1);
  const manifest = JSON.parse((await bucket.read(`${prefix}/export_id=${row.id}/_manifest.json`)).toString()) as Json;
  expect(manifest).toMatchObject({ sizes_verified: false, rows: ROWS });
});

it('refuses a destination that is not writable', async () => {
  fault = ({ method }) => (method === 'PUT' ? 'deny' : undefined);
  expect(await createDestination()).toMatchObject({
    status: 400,
    body: { detail: expect.stringMatching(/^Failed to validate S3 destination: Access denied/) },
  });
});

it('loses nothing when a store fails, slows down and breaks connections', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  let requests = 0;
  const faults = [undefined, 'error', 'slow down', 'reset', undefined, 'reset halfway', undefined] as const;
  // Each three times: with more, the number of attempts that meet a fault, and so the wait, would depend on chance.
  fault = () => ((requests += 1) < 3 * faults.length ? faults[requests % faults.length] : undefined);
  const row = await exportAll(destination);
  expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
  fault = () => undefined;
  expect(await countRows(`${destination.config.prefix}/export_id=${row.id}`)).toEqual({ rows: ROWS, ids: ROWS });
});

it('retries when the store was away, and shows what failed', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  fault = () => 'error';
  const id = await beginExport(destination);
  await waitFor('the first try to fail', async () => (await runOf(id))?.errors ?? undefined);
  fault = () => undefined;
  expect((await ended(id)).status).toBe('Completed');
  const run = await runOf(id);
  expect(run?.errors.retry_0).toContain('InternalError');
  expect(run?.retry_number).toBeGreaterThanOrEqual(1);
  expect(await countRows(`${destination.config.prefix}/export_id=${id}`)).toEqual({ rows: ROWS, ids: ROWS });
});

it('continues when the proxy in front of a store answers with its own page for a while', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  let answers = 0;
  // More than the client repeats by itself.
  fault = ({ method }) =>
    method === 'PUT' && (answers += 1) <= 2 * Patience.work.maxAttempts ? 'bad gateway' : undefined;
  const row = await exportAll(destination);
  expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
  expect((await runOf(row.id as string))?.errors.retry_0).toMatch(/^The store answered 502/);
});

it('continues after connections that hang: before an answer, and in the middle of one', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  const hung: string[] = [];
  fault = ({ method = '' }) => {
    if (hung.filter((one) => one === method).length === 2) return undefined;
    hung.push(method);
    return method === 'GET' ? 'hang halfway' : 'hang';
  };
  const patience = jest.replaceProperty(Patience, 'work', { ...Patience.work, answerTimeout: 2_000 });
  try {
    const row = await exportAll(destination);
    expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
    expect(hung.filter((one) => one === 'PUT')).toHaveLength(2);
    expect(hung.filter((one) => one === 'GET')).toHaveLength(2);
    fault = () => undefined;
    expect(await countRows(`${destination.config.prefix}/export_id=${row.id}`)).toEqual({ rows: ROWS, ids: ROWS });
  } finally {
    patience.restore();
  }
});

it('fails at once when the credentials expire during the export', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  let puts = 0;
  fault = ({ method }) => (method === 'PUT' && (puts += 1) > 3 ? 'deny' : undefined);
  const row = await exportAll(destination);
  expect(row.status).toBe('Failed');
  const run = await runOf(row.id as string);
  expect(run).toMatchObject({ status: 'Failed', rows_written: 150 });
  expect(run?.errors).toEqual({ retry_0: expect.stringMatching(/^Access denied/) });
  expect(run?.metadata.result.exported_files).toHaveLength(3);
});

it('fails at once, with the reason, when the key is revoked during the export, and resumes with a new key when it is retried', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  let puts = 0;
  fault = ({ method }) => (method === 'PUT' && (puts += 1) > 3 ? 'unknown key' : undefined);
  const row = await exportAll(destination);
  expect(row).toMatchObject({ status: 'Failed', error_code: 'InvalidAccessKeyId' });
  fault = () => undefined;
  expect((await call('POST', `/${row.id}/retry`, {})).status).toBe(200);
  expect((await ended(row.id as string)).status).toBe('Completed');
  expect(await countRows(`${destination.config.prefix}/export_id=${row.id}`)).toEqual({ rows: ROWS, ids: ROWS });
});

it('continues with credentials that were replaced before the old ones expired', async () => {
  fault = () => undefined;
  const { body: destination } = await createDestination();
  let puts = 0;
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  // The second part is left without an answer until the credentials have been replaced, and the repetition is refused.
  fault = ({ method, url }) => {
    if (method !== 'PUT' || !url?.includes('.parquet')) return undefined;
    puts += 1;
    if (puts === 2) reach();
    return puts === 2 ? 'hang' : puts === 3 ? 'deny' : undefined;
  };
  const patience = jest.replaceProperty(Patience, 'work', { ...Patience.work, answerTimeout: 5_000 });
  try {
    const id = await beginExport(destination);
    await reached;
    const { access_key_id, secret_access_key } = testStore();
    const credentials = { access_key_id, secret_access_key };
    expect((await call('PATCH', `/destinations/${destination.id}`, { credentials })).status).toBe(200);
    expect((await ended(id)).status).toBe('Completed');
    expect((await runOf(id))?.errors.retry_0).toMatch(/^Access denied.*have been replaced since/);
  } finally {
    patience.restore();
  }
});
