import { Client, Connection } from '@temporalio/client';
import { Patience } from '../../src/storage/patience';
import { exportWorkflowId } from '../../workflows/contracts/export.contract';
import { WebhookReceiver } from '../support/webhook-receiver';
import { gantryCli, type Said } from '../support/cli';
import { ExportHarness, Json } from '../support/export-harness';
import { testStore } from '../support/exports';
import { waitFor } from '../support/wait-for';

const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'];
const WINDOW = { start_time: '2026-11-18T00:00:00Z', end_time: '2026-11-21T00:00:00Z' };

let harness: ExportHarness;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await new WebhookReceiver().start();
  harness = await ExportHarness.start({
    GANTRY_EXPORT_PART_ROWS: '20',
    GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  });
});

afterEach(() => {
  harness.proxy.fault = () => undefined;
});

afterAll(async () => {
  await harness?.stop();
  await receiver?.stop();
});

async function prepare(rows = 30): Promise<{ prefix: string; body: Json; destination: Json }> {
  const project = await harness.createProject();
  for (const day of DAYS) await harness.createRuns(project, day, rows);
  const destination = await harness.createDestination();
  const { prefix } = destination.config as { prefix: string };
  return {
    prefix,
    destination,
    body: { bulk_export_destination_id: destination.id, session_id: project, ...WINDOW },
  };
}

/** Fails the uploads of a day until it is turned off. */
function failDay(day: string, fault: 'deny' | 'hang' = 'deny'): void {
  harness.proxy.fault = ({ method, url }) => (method === 'PUT' && url?.includes(`${day}-part`) ? fault : undefined);
}

describe('progress', () => {
  it('is streamed as server-sent events until the end', async () => {
    const { body } = await prepare();
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    harness.proxy.fault = async ({ url }) => {
      if (url?.includes(`${DAYS[2]}-part-00001`)) await gate;
      return undefined;
    };
    const { id } = await harness.createExport(body);
    const answer = await fetch(`${harness.api.url}/api/v1/bulk-exports/${id}/progress`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    let text = '';
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes('"rows_written":80')) letGo();
    }
    const frames = [...text.matchAll(/event: (\w+)\ndata: (.*)\nid: (\d+)\n\n/g)].map(([, event, data, n]) => ({
      event,
      data: JSON.parse(data) as Json,
      n: Number(n),
    }));
    expect(frames.map(({ n }) => n)).toEqual(frames.map((_, index) => index + 1));
    expect(frames.slice(0, -1).every(({ event }) => event === 'progress')).toBe(true);
    const moving = frames.find(({ data }) => data.progress.rows_written === 80)!;
    expect(moving.data).toMatchObject({ id, status: 'Running', progress: { rows_total: 90, is_stalled: false } });
    expect(moving.data.progress.rows_per_second).toBeGreaterThan(0);
    expect(moving.data.progress.seconds_left).toBeGreaterThanOrEqual(0);
    expect(frames.at(-1)).toMatchObject({
      event: 'end',
      data: { status: 'Completed', progress: { rows_written: 90 } },
    });
    expect(
      (await fetch(`${harness.api.url}/api/v1/bulk-exports/${id}/progress`).then((one) => one.text())).trim(),
    ).toMatch(/^event: end/);
  });

  it('shows a partition whose heartbeat is stale as stalled', async () => {
    const { body } = await prepare();
    failDay(DAYS[0], 'hang');
    const { id } = await harness.createExport(body);
    await waitFor('the partition', async () => (await harness.runs(id))[0]?.status === 'Running');
    expect((await harness.runs(id))[0].is_stalled).toBe(false);
    await waitFor('the others', async () => (await harness.get(id)).progress.partitions_done === 2, 60_000);
    // The row as it is a while after its worker and all others have died.
    await harness.database.query(
      `UPDATE bulk_export_runs SET updated_at = now() - interval '2 minutes', heartbeat_at = NULL
       WHERE export_id = $1 AND status = 'Running'`,
      [id],
    );
    expect((await harness.runs(id))[0]).toMatchObject({ status: 'Running', is_stalled: true });
    expect((await harness.get(id)).progress).toMatchObject({ partitions_stalled: 1, is_stalled: true });
    await harness.call('PATCH', `/${id}`, { status: 'Cancelled' });
    await waitFor('the end', async () => (await harness.runs(id)).every(({ status }) => status !== 'Running'), 30_000);
  });
});

describe('failures', () => {
  it('are a sentence, a code and a hint, on the partition and on the export', async () => {
    const { body } = await prepare();
    failDay(DAYS[1]);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({
      status: 'Failed',
      error: expect.stringMatching(/^2026-11-19: Access denied: .* \(AccessDenied\)\. Grant s3:PutObject/),
      error_code: 'AccessDenied',
      error_hint: expect.stringMatching(/^Grant s3:PutObject/),
    });
    const run = (await harness.runs(id)).find(({ status }) => status === 'Failed')!;
    expect(run).toMatchObject({ error_code: 'AccessDenied', error_hint: expect.any(String) });
    expect(run.errors.retry_0).toMatch(/^Access denied: .* \(AccessDenied\)\. Grant/);
  });

  it('of one partition can be retried alone, without writing the others again', async () => {
    const { prefix, body } = await prepare();
    failDay(DAYS[2]);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed', progress: { partitions_done: 2 } });
    harness.proxy.fault = () => undefined;
    const before = harness.proxy.seen.length;
    const failed = (await harness.runs(id)).find(({ status }) => status === 'Failed')!;
    const retried = await harness.call('POST', `/${id}/runs/${failed.id}/retry`);
    expect(retried).toMatchObject({ status: 200, body: { id: failed.id } });
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', error: null, error_code: null });
    expect(await harness.manifest(prefix, id)).toMatchObject({ rows: 90 });
    const written = harness.proxy.seen.slice(before).filter(({ method }) => method === 'PUT');
    expect(written.filter(({ url }) => url.includes('.parquet')).every(({ url }) => url.includes(DAYS[2]))).toBe(true);
    expect((await harness.runs(id)).map(({ status }) => status)).toEqual(['Completed', 'Completed', 'Completed']);
    expect((await harness.call('POST', `/${id}/runs/${failed.id}/retry`)).status).toBe(409);
    expect((await harness.call('POST', `/${id}/retry`)).status).toBe(409);
  });

  it('of several partitions: a retry of one leaves the others failed, a retry of all completes', async () => {
    const { body } = await prepare();
    harness.proxy.fault = ({ method, url }) => (method === 'PUT' && url?.includes('-part') ? 'deny' : undefined);
    const { id } = await harness.createExport(body);
    await harness.ended(id);
    harness.proxy.fault = () => undefined;
    const [first] = await harness.runs(id);
    await harness.call('POST', `/${id}/runs/${first.id}/retry`);
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed', error_code: 'PartitionsIncomplete' });
    expect((await harness.runs(id))[0]).toMatchObject({ status: 'Completed' });
    expect((await harness.call('POST', `/${id}/retry`)).status).toBe(200);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 90 } });
  });

  it('are retried when the workflow that recorded them has closed, since it may record them again', async () => {
    const { body } = await prepare();
    failDay(DAYS[2]);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed' });
    harness.proxy.fault = () => undefined;
    const { address, namespace } = harness.api.config.temporal;
    const connection = await Connection.connect({ address });
    try {
      const { workflow } = new Client({ connection, namespace });
      const workflowId = exportWorkflowId(id as string);
      await workflow.getHandle(workflowId).result();
      // As if the worker had recorded the end and died before it could report so: no worker continues this one.
      const open = await workflow.start('exportWorkflow', { workflowId, taskQueue: 'without-workers' });
      const refused = await harness.call('POST', `/${id}/retry`);
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
        409,
        'export_still_ending',
        expect.stringMatching(/^\d+$/),
      ]);
      expect((await harness.get(id)).status).toBe('Failed');
      await open.terminate();
    } finally {
      await connection.close();
    }
    expect((await harness.call('POST', `/${id}/retry`)).status).toBe(200);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', error: null });
  });

  it('after the last partition can be retried, without writing a partition again', async () => {
    const { prefix, body } = await prepare();
    harness.proxy.fault = ({ method, url }) =>
      method === 'PUT' && url?.includes('_manifest.json') ? 'expired' : undefined;
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({
      status: 'Failed',
      error_code: 'ExpiredToken',
      progress: { partitions_done: 3 },
    });
    harness.proxy.fault = () => undefined;
    const before = harness.proxy.seen.length;
    const [run] = await harness.runs(id);
    expect((await harness.call('POST', `/${id}/runs/${run.id}/retry`)).status).toBe(409);
    expect((await harness.call('POST', `/${id}/retry`)).status).toBe(200);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', error: null, error_code: null });
    const written = harness.proxy.seen.slice(before).filter(({ method }) => method === 'PUT');
    expect(written.filter(({ url }) => url.includes('.parquet'))).toEqual([]);
    expect(await harness.bucket.keys(`${prefix}/export_id=${id}`)).toContain(`${prefix}/export_id=${id}/_SUCCESS`);
  });

  it('that passed leave no code on a complete export', async () => {
    const { body } = await prepare(1);
    let refusals = 0;
    harness.proxy.fault = ({ method, url }) =>
      method === 'PUT' && url?.includes('_manifest.json') && (refusals += 1) <= Patience.work.maxAttempts
        ? 'slow down'
        : undefined;
    const { id } = await harness.createExport(body);
    await waitFor('the failure', async () => (await harness.get(id)).error_code === 'SlowDown');
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', error_code: null, error_hint: null });
  });

  it('end a cancelled export permanently', async () => {
    const { body } = await prepare();
    failDay(DAYS[0], 'hang');
    const { id } = await harness.createExport(body);
    await harness.call('PATCH', `/${id}`, { status: 'Cancelled' });
    expect((await harness.call('POST', `/${id}/retry`)).status).toBe(409);
    expect((await harness.get(id)).status).toBe('Cancelled');
  });
});

/** `npm run gantry -- exports verify` */
function verifyInTerminal(id: string, ...options: string[]): Promise<Said> {
  return gantryCli(['exports', 'verify', id, ...options], {
    DATABASE_URL: harness.api.database.url,
    GANTRY_SECRET_KEY: harness.api.config.secrets.key.toString('base64'),
    GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8',
  });
}

describe('verification', () => {
  it('finds what is missing, changed or unreadable in the bucket', async () => {
    const { prefix, body } = await prepare();
    const { id } = await harness.createExport(body);
    const verify = async (options?: Json): Promise<Json> => (await harness.call('POST', `/${id}/verify`, options)).body;
    expect((await harness.call('POST', `/${id}/verify`, {})).status).toBe(409);
    await harness.ended(id);
    expect(await verify()).toEqual({
      export_id: id,
      verified: true,
      checksums: false,
      files: 6,
      rows: 90,
      bytes: expect.any(Number),
      problems: [],
    });
    expect(await verify({ checksums: true })).toMatchObject({ verified: true, checksums: true });
    expect(await verifyInTerminal(id)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Verified: 6 files, 90 rows, \d+ bytes\.\n$/),
    });
    expect((await harness.get(id)).verified_at).toEqual(expect.any(String));

    const folder = `${prefix}/export_id=${id}`;
    const keys = (await harness.bucket.keys(folder)).filter((key) => key.endsWith('.parquet'));
    const whole = await harness.bucket.read(keys[1]);
    await harness.bucket.delete(keys[0]);
    await harness.bucket.write(keys[1], Buffer.concat([whole.subarray(0, 200), Buffer.alloc(8), whole.subarray(208)]));
    await harness.bucket.write(keys[2], Buffer.from('not a Parquet file'));
    await harness.bucket.delete(`${folder}/_SUCCESS`);
    const path = (key: string): string => `${testStore().bucket}/${key}`;
    const { problems } = await verify({ checksums: true });
    expect(problems).toEqual(
      expect.arrayContaining([
        { path: path(keys[0]), problem: 'is not in the bucket' },
        { path: path(keys[1]), problem: expect.stringContaining('MD5') },
        { path: path(keys[2]), problem: expect.stringMatching(/^has 18 bytes instead of/) },
        { path: path(`${folder}/_SUCCESS`), problem: 'is not in the bucket' },
      ]),
    );
    expect(problems).toHaveLength(4);
    const inTerminal = await verifyInTerminal(id, '--checksums');
    expect(inTerminal.code).toBe(1);
    expect(inTerminal.out.trim().split('\n')).toEqual([
      ...problems.map((each: Json) => `${each.path} ${each.problem}`),
      expect.stringMatching(/^NOT as it was written \(4 problems\)/),
    ]);
    await harness.bucket.write(`${folder}/_manifest.json`, Buffer.from('{"partitions": []}'));
    expect((await verify()).problems[0]).toMatchObject({ problem: expect.stringMatching(/^does not list/) });
    harness.proxy.fault = ({ method }) => (method === 'GET' ? 'deny' : undefined);
    expect(await verify()).toMatchObject({
      verified: false,
      problems: [{ problem: expect.stringContaining('s3:GetObject') }],
    });
    harness.proxy.fault = ({ method }) => (method === 'GET' ? 'unknown' : undefined);
    expect((await harness.call('POST', `/${id}/verify`, { checksums: 'yes' })).status).toBe(422);
  });

  it('finds what is missing in a bucket that answers for it as for what may not be read', async () => {
    const { prefix, body } = await prepare();
    const { id } = await harness.createExport(body);
    await harness.ended(id);
    const folder = `${prefix}/export_id=${id}`;
    const keys = (await harness.bucket.keys(folder)).filter((key) => key.endsWith('.parquet'));
    const gone = [`${folder}/_manifest.json`, keys[0]];
    for (const key of gone) await harness.bucket.delete(key);
    harness.proxy.fault = ({ url = '' }) =>
      gone.some((key) => decodeURIComponent(url).includes(key)) ? 'deny' : undefined;
    const { body: answer } = await harness.call('POST', `/${id}/verify`, {});
    expect(answer.problems).toEqual(
      gone.map((key) => ({
        path: `${testStore().bucket}/${key}`,
        problem: 'is not in the bucket, or may not be read',
      })),
    );
  });

  it('finds only what is missing in such a bucket, although that is all of what it reads first', async () => {
    const { prefix, body } = await prepare(120);
    const { id } = await harness.createExport(body);
    await harness.ended(id);
    const keys = (await harness.bucket.keys(`${prefix}/export_id=${id}`)).filter((key) => key.endsWith('.parquet'));
    expect(keys).toHaveLength(18);
    const gone = keys.slice(0, 16);
    harness.proxy.fault = ({ url = '' }) =>
      gone.some((key) => decodeURIComponent(url).includes(key)) ? 'deny' : undefined;
    const { body: answer } = await harness.call('POST', `/${id}/verify`, {});
    expect(answer.problems).toEqual(
      gone.map((key) => ({
        path: `${testStore().bucket}/${key}`,
        problem: 'is not in the bucket, or may not be read',
      })),
    );
  });
});

describe('a preview', () => {
  it('shows the schema and the first rows of a file of any compression', async () => {
    const { body } = await prepare();
    const compressions = ['zstandard', 'gzip', 'snappy', 'none'];
    const exports = await Promise.all(
      compressions.map((compression) => harness.createExport({ ...body, compression, cost_type: 'decimal' })),
    );
    for (const { id } of exports) {
      await harness.ended(id);
      const [{ id: run, metadata }] = await harness.runs(id);
      const files: string[] = metadata.result.exported_files;
      const show = async (query: string): Promise<Json> =>
        (await harness.call('GET', `/${id}/runs/${run}/preview${query}`)).body;
      const preview = await show(`?rows=3&file=${encodeURIComponent(files[1])}`);
      expect(preview).toMatchObject({ file: files[1], rows_total: 10, row_groups: 1, columns_left_out: [] });
      expect(preview.columns).toHaveLength(29);
      expect(preview.columns).toEqual(
        expect.arrayContaining([
          { name: 'start_time', type: 'TIMESTAMP(MICROS, UTC)', nullable: true },
          { name: 'total_cost', type: 'DECIMAL(38, 12)', nullable: true },
          { name: 'inputs', type: 'STRING', nullable: true },
        ]),
      );
      expect(preview.rows.map(({ name, inputs, error, is_root }: Json) => [name, inputs, error, is_root])).toEqual(
        [20, 21, 22].map((n) => [`run ${n}`, `{"n": ${n}}`, null, true]),
      );
      expect(preview.rows[0]).toMatchObject({
        start_time: expect.stringMatching(/T00:00:24\.691340Z$/),
        total_tokens: 20,
        total_cost: expect.closeTo(20e-12, 14),
      });
      expect((await show('')).rows).toHaveLength(10);
    }
  });

  it('reads no file that is changed, forbidden, or not one of the run', async () => {
    const { body } = await prepare();
    const { id } = await harness.createExport(body);
    await harness.ended(id);
    const [{ id: run, metadata }, { id: other }] = await harness.runs(id);
    const [first, second]: string[] = metadata.result.exported_files;
    const show = async (file: string, of = run): Promise<[number, string]> => {
      const path = `/${id}/runs/${of}/preview?file=${encodeURIComponent(file)}`;
      const { status, body: answer } = await harness.call('GET', path);
      return [status, answer.code ?? answer.detail];
    };
    expect(await show(first, other)).toEqual([404, 'export_file_not_found']);
    expect(await show(`${testStore().bucket}/elsewhere.parquet`)).toEqual([404, 'export_file_not_found']);
    expect((await harness.call('GET', `/${id}/runs/${run}/preview?rows=51`)).status).toBe(422);
    const keyOf = (file: string): string => file.slice(testStore().bucket.length + 1);
    const whole = await harness.bucket.read(keyOf(first));
    await harness.bucket.write(
      keyOf(first),
      Buffer.concat([whole.subarray(0, 200), Buffer.alloc(8), whole.subarray(208)]),
    );
    expect(await show(first)).toEqual([409, 'export_file_changed']);
    await harness.bucket.write(keyOf(first), Buffer.concat([whole, Buffer.alloc(8)]));
    expect(await show(first)).toEqual([409, 'export_file_changed']);
    await harness.bucket.delete(keyOf(first));
    expect(await show(first)).toEqual([409, 'export_file_changed']);
    harness.proxy.fault = ({ method }) => (method === 'GET' ? 'deny' : undefined);
    expect(await show(second)).toEqual([400, 'store_failed']);
    harness.proxy.fault = () => undefined;
    await harness.database.query(`UPDATE bulk_export_files SET bytes = 100000000 WHERE export_run_id = $1`, [run]);
    expect(await show(second)).toEqual([409, 'export_file_too_large']);
  });
});

describe('an Idempotency-Key', () => {
  it('creates one export, however often it is sent', async () => {
    const { body } = await prepare(1);
    const key = { 'idempotency-key': `key-${Date.now()}` };
    const answers = await Promise.all(Array.from({ length: 10 }, () => harness.call('POST', '', body, key)));
    expect(new Set(answers.map((one) => one.body.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(9);
    const other = await harness.call('POST', '', { ...body, compression: 'gzip' }, key);
    expect(other.status).toBe(409);
    expect((await harness.createExport(body)).id).not.toBe(answers[0].body.id);
  });
});

describe('a webhook', () => {
  async function deliveries(id: string): Promise<Json[]> {
    const answer = await harness.api.app.inject({ url: `/webhooks/deliveries?export_id=${id}` });
    return answer.json<Json[]>();
  }

  async function payload(deliveryId: string): Promise<Json> {
    const { rows } = await harness.database.query<{ payload: string }>(
      `SELECT payload FROM webhook_deliveries WHERE delivery_id = $1`,
      [deliveryId],
    );
    return JSON.parse(rows[0].payload) as Json;
  }

  it('is called when the export ends, once, whatever the ending', async () => {
    const { body } = await prepare(1);
    const webhook = `${receiver.url()}?token=secret`;
    const done = await harness.createExport({ ...body, webhook });
    await harness.ended(done.id);
    const [delivery, ...more] = await deliveries(done.id);
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({ kind: 'export', export_id: done.id, run_id: null });
    expect(await payload(delivery.delivery_id)).toMatchObject({
      event: 'bulk_export.ended',
      id: done.id,
      status: 'Completed',
      progress: { rows_written: 3 },
    });
    failDay(DAYS[0]);
    const failed = await harness.createExport({ ...body, webhook });
    await harness.ended(failed.id);
    expect(await payload((await deliveries(failed.id))[0].delivery_id)).toMatchObject({
      status: 'Failed',
      error_code: 'AccessDenied',
    });
    failDay(DAYS[0], 'hang');
    const cancelled = await harness.createExport({ ...body, webhook });
    await harness.call('PATCH', `/${cancelled.id}`, { status: 'Cancelled' });
    await harness.call('PATCH', `/${cancelled.id}`, { status: 'Cancelled' });
    const ended = await deliveries(cancelled.id);
    expect(ended).toHaveLength(1);
    expect(await payload(ended[0].delivery_id)).toMatchObject({ status: 'Cancelled' });
    const { rows } = await harness.database.query(`SELECT webhook FROM bulk_exports WHERE export_id = $1`, [done.id]);
    expect(rows[0].webhook).toMatch(/^v1\./);
  });

  it('of a schedule is called for each of its windows', async () => {
    const { body } = await prepare(1);
    const hour = 3_600_000;
    const start = new Date(Math.floor(Date.now() / hour) * hour - 2 * hour).toISOString();
    const schedule = await harness.createExport({
      ...body,
      start_time: start,
      end_time: undefined,
      interval_hours: 1,
      webhook: receiver.url(),
    });
    const spawned = await waitFor('the first window', async () => {
      const { body: rows } = await harness.call('GET', `?source_bulk_export_id=${schedule.id}&status=Completed`);
      return (rows as Json[])[0];
    });
    expect((await deliveries(spawned.id))[0]).toMatchObject({ kind: 'export' });
    await harness.call('PATCH', `/${schedule.id}`, { status: 'Cancelled' });
  });

  it('obeys the policy for webhooks of runs', async () => {
    const { body } = await prepare(0);
    for (const webhook of ['http://169.254.169.254/', 'ftp://x', 'http://10.0.0.1/']) {
      const { status, body: answer } = await harness.call('POST', '', { ...body, webhook });
      expect([webhook, status, answer.errors?.[0]?.path]).toEqual([webhook, 422, 'webhook']);
    }
  });
});
