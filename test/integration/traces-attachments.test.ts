import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { createDataSource } from '../../src/database/data-source';
import { AttachmentStore } from '../../src/traces/attachments/attachment-store';
import { AttachmentSweep } from '../../src/traces/attachments/attachment-sweep';
import { AttachmentsRepository } from '../../src/traces/attachments/attachments.repository';
import { TracePartitionSweep } from '../../src/traces/trace-partition-sweep';
import { TracePartitions } from '../../src/traces/trace-partitions';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { testConfig } from '../support/config';
import { ExportBucket } from '../support/export-bucket';
import { testStore } from '../support/exports';
import { S3Proxy } from '../support/s3-proxy';

const DAY_MS = 86_400_000;

/** Attachments in a real S3 store, behind a proxy that can fail. */
describe('attachments in the object store', () => {
  const proxy = new S3Proxy();
  const bucket = new ExportBucket();
  const tenantId = randomUUID();
  let api: ApiProcess;
  let worker: DataSource;
  let settings: Record<string, string>;

  beforeAll(async () => {
    await proxy.start();
    const store = testStore();
    settings = {
      GANTRY_TENANT_ID: tenantId,
      GANTRY_S3_ENDPOINT: proxy.url,
      GANTRY_S3_BUCKET: store.bucket,
      GANTRY_S3_REGION: store.region,
      GANTRY_S3_ACCESS_KEY_ID: store.access_key_id,
      GANTRY_S3_SECRET_ACCESS_KEY: store.secret_access_key,
    };
    api = await startApiProcess(settings);
    worker = await createDataSource(api.database.url).initialize();
  });
  afterAll(async () => {
    await worker.destroy();
    await api.close();
    for (const key of await keys()) await bucket.delete(key);
    await bucket.close();
    proxy.stop();
  });
  afterEach(() => {
    proxy.fault = () => undefined;
  });

  const keys = (runId = ''): Promise<string[]> => bucket.keys(`attachments/${tenantId}/${runId}`);

  async function sweep(): Promise<void> {
    const store = new AttachmentStore(testConfig(api.database.url, settings));
    try {
      await new AttachmentSweep(store, new AttachmentsRepository(worker)).sweep();
    } finally {
      store.onApplicationShutdown();
    }
  }
  /** Moves the deadline of attachments that no upload referred to, so that they are due now. */
  const oneDayLater = (): Promise<unknown> =>
    worker.query(`UPDATE trace_attachment_discards SET discard_after = discard_after - interval '1 day'`);

  function run(start = new Date()) {
    const id = uuidv7();
    return { id, trace_id: id, name: 'run', run_type: 'chain', start_time: start.toISOString(), session_name: 'files' };
  }

  async function upload(traced: { id: string }, attachments: Record<string, Buffer>): Promise<Response> {
    const form = new FormData();
    form.append(`post.${traced.id}`, new Blob([JSON.stringify(traced)], { type: 'application/json' }));
    for (const [name, bytes] of Object.entries(attachments)) {
      form.append(`attachment.${traced.id}.${name}`, new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
    }
    return fetch(`${api.url}/runs/multipart`, { method: 'POST', body: form });
  }

  async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(api.url + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return (await response.json()) as T;
  }
  interface Run {
    session_id: string;
    s3_urls: Record<string, { presigned_url: string; mime_type: string }> | null;
  }
  const read = (id: string): Promise<Run> => request('GET', `/api/v1/runs/${id}`);
  async function download(id: string, name: string): Promise<Response> {
    const { s3_urls: urls } = await read(id);
    return fetch(urls?.[`attachment.${name}`].presigned_url ?? '');
  }
  const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

  it('are written before the answer, outside of Postgres, and read back by the same links', async () => {
    const traced = run();
    const [image, empty] = [Buffer.alloc(3_000_000, 'pixels'), Buffer.alloc(0)];
    expect((await upload(traced, { image, empty })).status).toBe(202);
    const stored = await keys(traced.id);
    expect(stored).toHaveLength(2);
    expect(stored.every((key) => /\/[0-9a-f]{64}$/.test(key))).toBe(true);
    const response = await download(traced.id, 'image');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '3000000',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
    expect((await bytesOf(response)).equals(image)).toBe(true);
    expect(await bytesOf(await download(traced.id, 'empty'))).toHaveLength(0);
    const [row] = await worker.query<[{ inline: number; size: string }]>(
      `SELECT count(data)::int AS inline, sum(size) AS size FROM trace_attachments WHERE run_id = $1`,
      [traced.id],
    );
    expect(row).toEqual({ inline: 0, size: '3000000' });
  });

  it.each([
    ['text/html', 'text/html'],
    ['', 'application/octet-stream'],
    ['text/Ж', 'application/octet-stream'],
    ['text/plain\u007f', 'application/octet-stream'],
    [`text/${'x'.repeat(5_000)}`, 'application/octet-stream'],
  ])('are sent as data, whatever type they declare: %j', async (type, expected) => {
    const traced = run();
    const part = (name: string, content: string, body: string): string =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${content}\r\n\r\n${body}\r\n`;
    const body =
      part(`post.${traced.id}`, 'application/json', JSON.stringify(traced)) +
      part(`attachment.${traced.id}.odd`, type, 'bytes');
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const uploaded = await fetch(`${api.url}/runs/multipart`, { method: 'POST', headers, body: `${body}--b--\r\n` });
    expect([uploaded.status, await uploaded.text()]).toEqual([202, expect.anything()]);
    const response = await download(traced.id, 'odd');
    expect([response.status, await response.text()]).toEqual([200, 'bytes']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expected,
      'content-disposition': 'attachment',
    });
  });

  it('are the same after a replay; of two contents with one name the first stays, and the other is deleted', async () => {
    const traced = run();
    for (const content of ['first', 'first', 'second']) {
      expect((await upload(traced, { note: Buffer.from(content) })).status).toBe(202);
    }
    expect(await keys(traced.id)).toHaveLength(2);
    await oneDayLater();
    await sweep();
    expect(await keys(traced.id)).toHaveLength(1);
    expect(await (await download(traced.id, 'note')).text()).toBe('first');
  });

  it('cost an upload a 503 while the store is away, with nothing stored; its repetition is complete', async () => {
    const traced = run();
    const content = { image: Buffer.from('bytes') };
    for (const fault of ['error', 'reset', 'deny'] as const) {
      proxy.fault = () => fault;
      const refused = await upload(traced, content);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('object store') });
    }
    expect((await fetch(`${api.url}/api/v1/runs/${traced.id}`)).status).toBe(404);
    // Runs without attachments need no store.
    expect((await upload(run(), {})).status).toBe(202);
    let failures = 0;
    proxy.fault = () => ((failures += 1) === 1 ? 'reset halfway' : undefined);
    expect((await upload(traced, content)).status).toBe(202);
    expect(await (await download(traced.id, 'image')).text()).toBe('bytes');
    proxy.fault = () => 'error';
    expect((await download(traced.id, 'image')).status).toBe(503);
  });

  it('lead to an answer when the store does not answer', async () => {
    proxy.fault = () => 'hang';
    expect((await upload(run(), { image: Buffer.from('bytes') })).status).toBe(503);
    // The deadline of a put is eight seconds, since clients give up after ten; without one, a hanging store takes minutes.
  });

  it('of a refused upload are deleted a day later', async () => {
    const traced = { ...run(), start_time: '9999-01-01T00:00:00Z' };
    expect((await upload(traced, { image: Buffer.from('bytes') })).status).toBe(422);
    await sweep();
    expect(await keys(traced.id)).toHaveLength(1);
    await oneDayLater();
    await sweep();
    expect(await keys(traced.id)).toEqual([]);
  });

  it('are deleted with their trace, project and day; when the store is away, later', async () => {
    const [ofTrace, ofProject, ofDay, kept] = [run(), run(), run(new Date(Date.now() - 10 * DAY_MS)), run()];
    for (const traced of [ofTrace, { ...ofProject, session_name: 'files to go' }, ofDay, kept]) {
      expect((await upload(traced, { image: Buffer.from(traced.id) })).status).toBe(202);
    }
    const left = async (): Promise<number[]> =>
      Promise.all([ofTrace, ofProject, ofDay, kept].map(async ({ id }) => (await keys(id)).length));
    const { session_id: project } = await read(ofTrace.id);
    await request('POST', '/runs/delete', { session_id: project, trace_ids: [ofTrace.id] });
    await request('DELETE', `/sessions/${(await read(ofProject.id)).session_id}`);
    const partitions = new TracePartitions(worker);
    await new TracePartitionSweep(
      testConfig(api.database.url, { GANTRY_TRACE_RETENTION_DAYS: '5' }),
      partitions,
    ).sweep();
    proxy.fault = () => 'error';
    await expect(sweep()).rejects.toThrow();
    expect(await left()).toEqual([1, 1, 1, 1]);
    proxy.fault = () => undefined;
    await sweep();
    expect(await left()).toEqual([0, 0, 0, 1]);
    expect(await worker.query(`SELECT FROM trace_attachment_discards WHERE discard_after <= now()`)).toEqual([]);
  });

  it('stay when they are uploaded again while they wait for their deletion', async () => {
    const traced = run();
    const content = { image: Buffer.from('bytes') };
    await upload(traced, content);
    await request('POST', '/runs/delete', { session_id: (await read(traced.id)).session_id, trace_ids: [traced.id] });
    await upload(traced, content);
    await oneDayLater();
    await sweep();
    expect(await (await download(traced.id, 'image')).text()).toBe('bytes');
  });

  it('that are in Postgres from before are read there, and moved', async () => {
    const traced = run();
    await upload(traced, {});
    for (const name of ['a', 'b']) {
      await worker.query(
        `INSERT INTO trace_attachments (tenant_id, run_id, name, mime_type, data) VALUES ($1, $2, $3, 'text/plain', $4)`,
        [tenantId, traced.id, name, Buffer.from(`content of ${name}`)],
      );
    }
    const contents = async (): Promise<string[]> =>
      Promise.all(['a', 'b'].map(async (name) => (await download(traced.id, name)).text()));
    expect(await contents()).toEqual(['content of a', 'content of b']);
    expect(await keys(traced.id)).toEqual([]);
    proxy.fault = () => 'error';
    await expect(sweep()).rejects.toThrow();
    proxy.fault = () => undefined;
    expect(await contents()).toEqual(['content of a', 'content of b']);
    await sweep();
    expect(await keys(traced.id)).toHaveLength(2);
    expect(await contents()).toEqual(['content of a', 'content of b']);
    expect(await worker.query(`SELECT FROM trace_attachments WHERE data IS NOT NULL`)).toEqual([]);
  });

  it('that are missing from the store are a 404', async () => {
    const traced = run();
    await upload(traced, { image: Buffer.from('bytes') });
    for (const key of await keys(traced.id)) await bucket.delete(key);
    expect((await download(traced.id, 'image')).status).toBe(404);
  });
});
