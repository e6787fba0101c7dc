import type { ChildProcess } from 'node:child_process';
import { v7 as uuidv7 } from 'uuid';
import { CloudStore, CloudStores, startCloudStores } from '../support/cloud-stores';
import { ExportHarness, Json, readParquet } from '../support/export-harness';
import { endProcess, startExportWorkerProcess } from '../support/export-worker-process';
import { waitFor } from '../support/wait-for';

const DAY = '2026-11-20';
const WINDOW = { start_time: '2026-11-20T00:00:00Z', end_time: '2026-11-21T00:00:00Z' };
const ROWS = 120;
const PART_ROWS = 20;
/** The emulator of Azure calls a wrong signature an authorization failure; Azure itself, an authentication failure. */
const NOT_ACCEPTED = /Credentials are not valid|Access denied: the credentials may not write to this container/;
const SETTINGS = {
  GANTRY_EXPORT_PART_ROWS: String(PART_ROWS),
  GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8',
  GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '6',
};

let stores: CloudStores;
let harness: ExportHarness;
let worker: ChildProcess;
let startWorker: () => Promise<ChildProcess>;

beforeAll(async () => {
  // The first start builds and installs the emulators.
  stores = await startCloudStores();
  harness = await ExportHarness.start(SETTINGS, async (api) => {
    startWorker = () =>
      startExportWorkerProcess(api, {
        ...SETTINGS,
        TEMPORAL_NAMESPACE: api.config.temporal.namespace,
        GANTRY_SWEEP_INTERVAL_SECONDS: '1',
        GANTRY_SHUTDOWN_GRACE_SECONDS: '5',
      });
    worker = await startWorker();
    return { stop: () => endProcess(worker, 'SIGTERM') };
  });
}, 900_000);

afterAll(async () => {
  await harness?.stop();
  await stores?.stop();
});

describe.each(['gcs', 'azure_blob'] as const)('a destination of type %s', (type) => {
  let store: CloudStore;
  let project: string;

  beforeAll(async () => {
    store = stores[type];
    project = await harness.createProject();
    await harness.createRuns(project, DAY, ROWS);
  });
  afterEach(() => {
    store.proxy.fault = () => undefined;
  });

  const bodyOf = (config: Json = {}, credentials: Json | undefined = store.credentials): Json => ({
    destination_type: type,
    display_name: 'Cloud',
    config: { ...store.config, prefix: `it/${uuidv7()}`, ...config },
    credentials,
  });

  async function create(config?: Json): Promise<{ id: string; prefix: string; body: Json }> {
    const { status, body } = await harness.call('POST', '/destinations', bodyOf(config));
    expect([status, body]).toEqual([200, expect.objectContaining({ destination_type: type })]);
    return { id: body.id as string, prefix: body.config.prefix as string, body };
  }

  async function begin(destination: string): Promise<string> {
    const { id } = await harness.createExport({
      bulk_export_destination_id: destination,
      session_id: project,
      ...WINDOW,
    });
    return id as string;
  }

  async function expectWhole(prefix: string, id: string): Promise<void> {
    const folder = `${prefix}/export_id=${id}`;
    const keys = await store.keys(folder);
    const parts = keys.filter((key) => key.endsWith('.parquet'));
    expect(keys).toEqual([...parts, `${folder}/_SUCCESS`, `${folder}/_manifest.json`].sort());
    expect(parts).toHaveLength(ROWS / PART_ROWS);
    const root = await stores.download(store, folder);
    expect(await readParquet(root, 'SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids FROM FILES')).toEqual([
      { n: ROWS, ids: ROWS },
    ]);
    const { rows } = await harness.database.query(
      `SELECT md5(string_agg(run_id::text || name, ',' ORDER BY run_id::text COLLATE "C")) AS sum
       FROM trace_runs WHERE project_id = $1`,
      [project],
    );
    expect(await readParquet(root, `SELECT md5(string_agg(id || name, ',' ORDER BY id)) AS sum FROM FILES`)).toEqual(
      rows,
    );
  }

  it('is written to, verified and read back; its credentials are never shown', async () => {
    const destination = await create();
    expect(await store.keys(destination.prefix)).toEqual([]);
    expect(destination.body.credentials_keys).toEqual(Object.keys(store.credentials));
    const { body: tested } = await harness.call('POST', `/destinations/${destination.id}/test`);
    expect(tested).toMatchObject({ usable: true, complete: true, checks: Array(3).fill({ state: 'passed' }) });
    expect(JSON.stringify([destination.body, tested])).not.toMatch(/PRIVATE KEY|account_key":/);
    const id = await begin(destination.id);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
    await expectWhole(destination.prefix, id);
    const folder = `${destination.prefix}/export_id=${id}`;
    const manifest = JSON.parse((await store.read(`${folder}/_manifest.json`)).toString()) as Json;
    expect(manifest).toMatchObject({ sizes_verified: true, row_counts_verified: true, not_verified: [], rows: ROWS });
    const [run] = await harness.runs(id);
    const bucket = (store.config.bucket_name ?? store.config.container_name) as string;
    const { exported_files: files, export_url: url } = run.metadata.result as Json;
    expect(files[0]).toMatch(new RegExp(`^${bucket}/${destination.prefix}/export_id=`));
    expect(url).toMatch(new RegExp(`^${store.config.endpoint_url}/${bucket}/${destination.prefix}/export_id=`));

    const preview = await harness.call('GET', `/${id}/runs/${run.id}/preview?rows=2`);
    expect(preview.body).toMatchObject({ file: files[0], rows: [{ name: 'run 0' }, { name: 'run 1' }] });
    const verify = () => harness.call('POST', `/${id}/verify`, { checksums: true });
    expect((await verify()).body).toMatchObject({ verified: true, checksums: true, problems: [] });
    const [path] = (await store.keys(folder)).filter((key) => key.endsWith('.parquet'));
    const bytes = await store.read(path);
    bytes[100] ^= 1;
    await store.write(path, bytes);
    expect((await verify()).body).toMatchObject({
      verified: false,
      problems: [{ path: `${bucket}/${path}`, problem: expect.stringContaining('other bytes') }],
    });
  });

  it('resumes after the last recorded part when its worker is killed', async () => {
    const destination = await create();
    let writes = 0;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    // The fourth part hangs in the store until the worker is dead.
    store.proxy.fault = async ({ method }) => {
      if (method === 'GET' || method === 'HEAD' || (writes += 1) <= 3) return undefined;
      await held;
      return undefined;
    };
    const id = await begin(destination.id);
    await waitFor(
      'three parts to be recorded',
      async () => (await harness.get(id)).progress.rows_written >= 3 * PART_ROWS && writes > 3,
    );
    await endProcess(worker, 'SIGKILL');
    release();
    worker = await startWorker();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
    await expectWhole(destination.prefix, id);
    // Three parts, the one of the killed worker, three more, manifest and _SUCCESS: none of the first three again.
    expect(writes).toBe(3 + 1 + 3 + 2);
  });

  it('loses nothing when the store fails, slows down and breaks connections', async () => {
    const destination = await create();
    let requests = 0;
    const faults = [undefined, { status: 503 }, undefined, { status: 429 }, 'reset', undefined] as const;
    store.proxy.fault = () => faults[(requests += 1) % faults.length];
    const id = await begin(destination.id);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: ROWS } });
    store.proxy.fault = () => undefined;
    await expectWhole(destination.prefix, id);
  });

  it('accepts new credentials, of its own kind only', async () => {
    const destination = await create();
    const rotate = (body: Json) => harness.call('PATCH', `/destinations/${destination.id}`, body);
    expect((await rotate({ credentials: store.credentials })).status).toBe(200);
    expect((await rotate({ credentials: store.wrongCredentials })).body.detail).toMatch(NOT_ACCEPTED);
    const other = await rotate({ credentials: { access_key_id: 'a', secret_access_key: 'b' } });
    expect([other.status, other.body.detail]).toEqual([422, expect.stringContaining('credentials')]);
    expect(await rotate({ aws_role_arn: 'arn:aws:iam::123456789012:role/x' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'aws_role_arn' }] },
    });
  });

  it.each<[string, () => Json, RegExp]>([
    ['credentials that are wrong', () => bodyOf({}, store.wrongCredentials), NOT_ACCEPTED],
    [
      'a bucket that does not exist',
      () => bodyOf(type === 'gcs' ? { bucket_name: 'no-such-bucket' } : { container_name: 'no-such-container' }),
      /is not valid: it does not exist/,
    ],
    [
      'an endpoint that the policy refuses',
      () => bodyOf({ endpoint_url: 'http://169.254.169.254' }),
      /Invalid endpoint: this server does not connect to it/,
    ],
    ['an endpoint that does not listen', () => bodyOf({ endpoint_url: 'http://127.0.0.1:9' }), /Invalid endpoint/],
    [
      'an endpoint that is not a store',
      () => bodyOf({ endpoint_url: harness.proxy.url }),
      /Invalid endpoint|Access denied/,
    ],
  ])('refuses %s, with the reason and without a secret', async (_, make, sentence) => {
    const { status, body } = await harness.call('POST', '/destinations', make());
    expect([status, body.detail]).toEqual([
      400,
      expect.stringMatching(type === 'gcs' ? /^Failed to validate GCS dest/ : /^Failed to validate Azure Blob dest/),
    ]);
    expect(body.detail).toMatch(sentence);
    expect(body.detail).toMatch(/\([\w. ]+\)\. [A-Z].*\.$/);
    expect(JSON.stringify(body)).not.toMatch(/PRIVATE KEY|sig=/);
  });
});

describe('the body of a destination', () => {
  it.each<[string, Json, string]>([
    ['an unknown type', { destination_type: 'ftp' }, 'destination_type'],
    ['a key that is not JSON', { credentials: { service_account_key: '{' } }, 'credentials.service_account_key'],
    [
      'credentials of another kind than a service account',
      { credentials: { service_account_key: { type: 'external_account', token_url: 'http://10.0.0.1' } } },
      'credentials.service_account_key.type',
    ],
    [
      'an invalid private key',
      { credentials: { service_account_key: { type: 'service_account', client_email: 'a@b', private_key: 'x' } } },
      'credentials.service_account_key.private_key',
    ],
    ['a field of S3', { config: { bucket_name: 'bucket', prefix: '', region: 'eu' } }, 'config'],
    ['no container', { destination_type: 'azure_blob', config: { account_name: 'abc' } }, 'config.container_name'],
    [
      'two credentials',
      { destination_type: 'azure_blob', credentials: { account_key: 'YQ==', sas_token: 'sig=a' } },
      'credentials.account_key',
    ],
    [
      'an invalid SAS token',
      { destination_type: 'azure_blob', credentials: { sas_token: 'secret' } },
      'credentials.sas_token',
    ],
  ])('is refused with %s, and the answer names the field', async (_, change, path) => {
    const body = {
      destination_type: 'gcs',
      display_name: 'x',
      config: { bucket_name: 'bucket', prefix: '' },
      ...change,
    };
    const answer = await harness.call('POST', '/destinations', body);
    expect([answer.status, (answer.body.errors as Json[]).map((error) => error.path)]).toEqual([
      422,
      expect.arrayContaining([path]),
    ]);
  });

  it('requires credentials for a bucket of Google that the operator does not list', async () => {
    const body = { destination_type: 'gcs', display_name: 'x', config: { bucket_name: 'bucket', prefix: '' } };
    const { status, body: answer } = await harness.call('POST', '/destinations', body);
    expect([status, answer.detail]).toEqual([400, expect.stringContaining('GANTRY_EXPORT_AMBIENT_BUCKETS')]);
  });
});
