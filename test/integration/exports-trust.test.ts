import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../src/auth/tenant';
import { ExportsRepository } from '../../src/exports/exports.repository';
import { PartitionsRepository } from '../../src/exports/partitions/partitions.repository';
import { SchedulesRepository } from '../../src/exports/schedule/schedules.repository';
import { Patience } from '../../src/storage/patience';
import { ExportOrchestrator } from '../../src/temporal/export-orchestrator';
import { ExportHarness, Json, TENANT } from '../support/export-harness';
import { testStore } from '../support/exports';
import { waitFor } from '../support/wait-for';

const DAY = '2026-11-20';
const WINDOW = { start_time: `${DAY}T00:00:00Z`, end_time: '2026-11-21T00:00:00Z' };

let harness: ExportHarness;

beforeAll(async () => {
  harness = await ExportHarness.start({ GANTRY_EXPORT_PART_ROWS: '40', GANTRY_EXPORT_LATE_PASS_HOURS: '0.0008' });
});

afterEach(() => {
  harness.proxy.fault = () => undefined;
});

afterAll(async () => {
  await harness?.stop();
});

async function prepare(rows: number): Promise<{ project: string; destination: Json; prefix: string; body: Json }> {
  const project = await harness.createProject();
  await harness.createRuns(project, DAY, rows);
  const destination = await harness.createDestination();
  const { prefix } = destination.config as { prefix: string };
  return {
    project,
    destination,
    prefix,
    body: { bulk_export_destination_id: destination.id, session_id: project, ...WINDOW },
  };
}

/** Holds the uploads of an object back until the returned function is called. */
function hold(name: string): { reached: Promise<void>; letGo: () => void } {
  let letGo = (): void => undefined;
  let reach = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  harness.proxy.fault = async ({ method, url }) => {
    if (method === 'PUT' && url?.includes(name)) {
      reach();
      await gate;
    }
    return undefined;
  };
  return { reached, letGo };
}

const holdUpload = (part: number) => hold(`part-${String(part).padStart(5, '0')}`);

/** Inserts an export of which `_SUCCESS` may be in the bucket, without a workflow. */
async function insertPublishing(status: 'Created' | 'Running'): Promise<string> {
  const { project, destination } = await prepare(0);
  const id = uuidv7();
  await harness.database.query(
    `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, end_time, format_version,
       compression, status, workflow_seen_at, publishing_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'v2_beta', 'none', $7, now(), now())`,
    [TENANT, id, destination.id, project, WINDOW.start_time, WINDOW.end_time, status],
  );
  return id;
}

/** Starts an export that the test has inserted. */
async function start(exportId: string): Promise<void> {
  await harness.api.app.get(ExportOrchestrator).startExport({ exportId, tenantId: TENANT, isSchedule: false });
}

const COUNT = 'SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids FROM FILES';

describe('an export is verified', () => {
  it('against the footers of its files, and reports so', async () => {
    const { prefix, body } = await prepare(90);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed' });
    const manifest = await harness.manifest(prefix, id);
    expect(manifest).toMatchObject({ sizes_verified: true, row_counts_verified: true, not_verified: [] });
    expect(manifest.partitions).toMatchObject([{ rows: 90, rows_in_source: 90, verified: true }]);
    expect((await harness.runs(id))[0].metadata.result).toMatchObject({ verified: true, rows_written: 90 });
    const ranges = harness.proxy.seen.filter(({ method, headers }) => method === 'GET' && headers.range);
    expect(ranges.length).toBeGreaterThanOrEqual(3);
  });

  it('and a file that the store lost after it had acknowledged it is written again', async () => {
    const { prefix, body } = await prepare(90);
    let lost = 0;
    harness.proxy.fault = ({ method, url }) =>
      method === 'PUT' && url?.includes('part-00001') && (lost += 1) === 1 ? 'lose' : undefined;
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 90 } });
    const [run] = await harness.runs(id);
    expect(run.errors.retry_0).toMatch(/part-00001\.parquet is not in the bucket; it is written again/);
    expect(await harness.read(`${prefix}/export_id=${id}`, COUNT)).toEqual([{ rows: 90, ids: 90 }]);
  });

  it('and a lost file is written again although the store answers for it as for one that may not be read', async () => {
    const { prefix, body } = await prepare(90);
    let writes = 0;
    // AWS without s3:ListBucket.
    harness.proxy.fault = ({ method, url }) => {
      if (!url?.includes('part-00001')) return undefined;
      if (method === 'PUT') return (writes += 1) === 1 ? 'lose' : undefined;
      return writes === 1 ? 'deny' : undefined;
    };
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 90 } });
    expect((await harness.runs(id))[0].errors.retry_0).toMatch(/part-00001\.parquet is not in the bucket, or may not/);
    expect(await harness.read(`${prefix}/export_id=${id}`, COUNT)).toEqual([{ rows: 90, ids: 90 }]);
    expect(await harness.manifest(prefix, id)).toMatchObject({ sizes_verified: true });
  });

  it.each([
    ['a verified file', 90, 'part-00001'],
    ['the only file', 30, 'part-00000'],
  ])('and fails when %s can not be read any more at the end', async (_, rows, part) => {
    const { prefix, body } = await prepare(rows);
    harness.proxy.fault = ({ method, url }) => (method === 'HEAD' && url?.includes(part) ? 'deny' : undefined);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed', error_code: 'FileNotAsWritten' });
    expect(await harness.bucket.keys(`${prefix}/export_id=${id}`)).not.toContain(`${prefix}/export_id=${id}/_SUCCESS`);
  });

  it('and fails for the reason that its credentials have, when they are refused at the end', async () => {
    const { body } = await prepare(90);
    harness.proxy.fault = ({ method, url }) => {
      if (method === 'HEAD') return 'deny';
      return method === 'PUT' && url?.includes('_manifest.json') ? 'expired' : undefined;
    };
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed', error_code: 'ExpiredToken' });
  });

  it('and completes when its credentials are refused at the end, but have been replaced', async () => {
    const { destination, body } = await prepare(90);
    const { reached, letGo } = hold('_manifest.json');
    const heldBack = harness.proxy.fault;
    let isReplaced = false;
    harness.proxy.fault = async (request) => {
      if (isReplaced) return undefined;
      if (request.method === 'HEAD') return 'deny';
      await heldBack(request);
      return request.method === 'PUT' && request.url?.includes('_manifest.json') ? 'expired' : undefined;
    };
    const { id } = await harness.createExport(body);
    await reached;
    const { access_key_id, secret_access_key } = testStore();
    const credentials = { access_key_id, secret_access_key };
    expect((await harness.call('PATCH', `/destinations/${destination.id}`, { credentials })).status).toBe(200);
    isReplaced = true;
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', error_code: null });
  });

  it('and completes although its files can not be read any more at the end', async () => {
    const { body } = await prepare(90);
    harness.proxy.fault = ({ method }) => (method === 'HEAD' ? 'deny' : undefined);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed' });
  });

  it('and rows that are committed after the reader has passed their place are not left out', async () => {
    const { project, prefix, body } = await prepare(90);
    const { reached, letGo } = holdUpload(2);
    const { id } = await harness.createExport(body);
    await reached;
    // Rows of a transaction that began before the watermark and commits much later.
    await harness.createRuns(project, DAY, 1, -0);
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 91 } });
    const [run] = await harness.runs(id);
    expect(run.errors.retry_0).toMatch(/^90 rows were written of 91/);
    expect(await harness.read(`${prefix}/export_id=${id}`, COUNT)).toEqual([{ rows: 91, ids: 91 }]);
    expect((await harness.manifest(prefix, id)).partitions).toMatchObject([{ rows: 91, rows_in_source: 91 }]);
  });

  it('and rows of an upload that has begun when it is planned are waited for', async () => {
    const { project, body } = await prepare(0);
    const upload = new Client({ connectionString: harness.api.database.url });
    await upload.connect();
    try {
      // Before its first row, as it waits for the locks of its traces.
      await upload.query('BEGIN');
      await upload.query(
        `INSERT INTO trace_run_keys (tenant_id, run_id) SELECT $1::uuid, gen_random_uuid() WHERE false`,
        [TENANT],
      );
      const { id } = await harness.createExport(body);
      await waitFor('its turn', async () => (await harness.get(id)).status === 'Running');
      await sleep(500);
      expect((await harness.get(id)).progress.partitions_total).toBe(0);
      await upload.query(
        `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status)
         VALUES ($1, $2, $3, gen_random_uuid(), gen_random_uuid(), 'o', 'uploaded', 'chain', 'success')`,
        [TENANT, project, WINDOW.start_time],
      );
      await upload.query('COMMIT');
      expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 1 } });
    } finally {
      await upload.end();
    }
  });

  it('and fails when the source loses rows during the export, instead of becoming smaller', async () => {
    const { project, prefix, body } = await prepare(90);
    const { reached, letGo } = holdUpload(0);
    const { id } = await harness.createExport(body);
    await reached;
    await harness.database.query(`DELETE FROM trace_runs WHERE project_id = $1 AND name IN ('run 50', 'run 89')`, [
      project,
    ]);
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed' });
    const [run] = await harness.runs(id);
    expect(Object.values(run.errors as Json).at(-1)).toMatch(/rows are gone \(SourceShrank\)/);
    expect(await harness.bucket.keys(`${prefix}/export_id=${id}`)).not.toContain(`${prefix}/export_id=${id}/_SUCCESS`);
  });

  it('and rows that leave the filter as they change are not reported as lost', async () => {
    const { project, body } = await prepare(90);
    const { reached, letGo } = holdUpload(0);
    const { id } = await harness.createExport({ ...body, filter: 'eq(run_type, "chain")' });
    await reached;
    await harness.database.query(`UPDATE trace_runs SET run_type = 'tool' WHERE project_id = $1 AND name = 'run 89'`, [
      project,
    ]);
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed' });
  });

  it('and fails when a filter hides that the source has lost rows', async () => {
    const { project, body } = await prepare(90);
    const { reached, letGo } = holdUpload(0);
    const { id } = await harness.createExport({ ...body, filter: 'eq(run_type, "chain")' });
    await reached;
    await harness.database.query(`DELETE FROM trace_runs WHERE project_id = $1`, [project]);
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Failed', error_code: 'SourceShrank' });
  });

  it('and rows that match the filter and become visible late are not left out', async () => {
    const { project, prefix, body } = await prepare(90);
    const { reached, letGo } = holdUpload(2);
    const { id } = await harness.createExport({ ...body, filter: 'eq(run_type, "chain")' });
    await reached;
    await harness.createRuns(project, DAY, 1, -0);
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 91 } });
    const [run] = await harness.runs(id);
    expect(run.errors.retry_0).toMatch(/^1 rows became visible/);
    expect(await harness.read(`${prefix}/export_id=${id}`, COUNT)).toEqual([{ rows: 91, ids: 91 }]);
  });

  it.each<[string, 'deny' | 'slow down' | undefined]>([
    ['is deleted', undefined],
    ['is deleted, if the store can not do so at first, by a later attempt', 'slow down'],
    ['is listed in the manifest where deleting is not permitted', 'deny'],
  ])('and what an earlier attempt has written beyond it %s', async (_, refusal) => {
    const isKept = refusal === 'deny';
    const { project, prefix, body } = await prepare(90);
    const { reached, letGo } = holdUpload(2);
    const heldBack = harness.proxy.fault;
    let writes = 0;
    let deletions = 0;
    harness.proxy.fault = (request) => {
      // More than the client repeats by itself.
      if (request.method === 'DELETE')
        return isKept || (deletions += 1) <= Patience.work.maxAttempts ? refusal : undefined;
      const isFirst = request.method === 'PUT' && request.url?.includes('part-00000');
      return isFirst && (writes += 1) === 1 ? 'lose' : heldBack(request);
    };
    const { id } = await harness.createExport({ ...body, filter: 'eq(run_type, "chain")' });
    await reached;
    await harness.database.query(
      `UPDATE trace_runs SET run_type = 'tool' WHERE project_id = $1 AND total_tokens < 20`,
      [project],
    );
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 70 } });
    const folder = `${prefix}/export_id=${id}`;
    const leftovers = isKept ? [expect.stringMatching(/part-00002\.parquet$/)] : [];
    expect((await harness.manifest(prefix, id)).leftover_files).toEqual(leftovers);
    expect((await harness.call('GET', `/${id}/manifest`)).body.leftover_files).toEqual(leftovers);
    const files = (await harness.bucket.keys(folder)).filter((key) => key.endsWith('.parquet'));
    expect(files).toHaveLength(isKept ? 3 : 2);
    if (!isKept) expect(await harness.read(folder, COUNT)).toEqual([{ rows: 70, ids: 70 }]);
  });

  it('and an attempt that has lost its day sends no part again', async () => {
    const { prefix, body } = await prepare(90);
    let uploads = 0;
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    harness.proxy.fault = ({ method, url }) => {
      if (method !== 'PUT' || !url?.includes('part-00001')) return undefined;
      reach();
      return (uploads += 1) === 1 ? 'hang' : undefined;
    };
    const patience = jest.replaceProperty(Patience, 'work', { ...Patience.work, answerTimeout: 2_000 });
    try {
      const { id } = await harness.createExport(body);
      await reached;
      // As another attempt takes it, when the worker of this one was silent for too long.
      await harness.database.query('UPDATE bulk_export_runs SET attempt = attempt + 1 WHERE export_id = $1', [id]);
      expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 90 } });
      // That of the first attempt, and that of the one after it.
      expect(uploads).toBe(2);
      expect(await harness.read(`${prefix}/export_id=${id}`, COUNT)).toEqual([{ rows: 90, ids: 90 }]);
      expect((await harness.runs(id))[0]).toMatchObject({ retry_number: 0 });
    } finally {
      patience.restore();
    }
  });

  it('and failures of a day count from its last new file on, but not from one that is written again', async () => {
    const { project, destination } = await prepare(0);
    const tenantId = TENANT as TenantId;
    const [exportId, partitionId] = [uuidv7(), uuidv7()];
    await harness.database.query(
      `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, end_time, format_version,
         compression, status, workflow_seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'v2_beta', 'none', 'Running', now())`,
      [TENANT, exportId, destination.id, project, WINDOW.start_time, WINDOW.end_time],
    );
    await harness.database.query(
      `INSERT INTO bulk_export_runs (tenant_id, export_run_id, export_id, day, start_time, end_time, status, rows_planned)
       VALUES ($1, $2, $3, $4, $5, $6, 'Created', 1)`,
      [TENANT, partitionId, exportId, DAY, WINDOW.start_time, WINDOW.end_time],
    );
    const days = new PartitionsRepository(harness.api.app.get(DataSource));
    const { attempt } = (await days.beginPartition(tenantId, partitionId))!;
    const key = { startTime: WINDOW.start_time, runId: uuidv7() };
    const write = (part: number): Promise<boolean> => {
      const file = {
        partitionId,
        part,
        objectKey: `part ${part}`,
        rows: 1,
        bytes: 1,
        md5: 'm',
        firstKey: key,
        lastKey: key,
      };
      return days.addFile(tenantId, attempt, file);
    };
    const fail = (): Promise<number> => days.addError(tenantId, partitionId, 'It failed', { code: 'c', hint: 'h' });
    expect([await fail(), await fail()]).toEqual([1, 2]);
    expect(await write(0)).toBe(true);
    expect([await fail(), await fail()]).toEqual([1, 2]);
    await days.dropFiles(tenantId, partitionId, attempt, 0);
    expect(await write(0)).toBe(true);
    expect(await fail()).toBe(3);
    expect(await write(1)).toBe(true);
    expect(await fail()).toBe(1);
    await harness.call('PATCH', `/${exportId}`, { status: 'Cancelled' });
  });
});

describe('the end of an export', () => {
  it('can be a cancellation while the store makes the manifest wait, and then nothing says that it is complete', async () => {
    const { prefix, body } = await prepare(1);
    const { reached, letGo } = hold('_manifest.json');
    const { id } = await harness.createExport(body);
    await reached;
    expect((await harness.call('PATCH', `/${id}`, { status: 'Cancelled' })).status).toBe(200);
    letGo();
    const workflows = harness.api.app.get(ExportOrchestrator);
    await waitFor('the workflow to close', async () => !(await workflows.isOpen(id as string, 5_000)), 30_000);
    expect((await harness.get(id)).status).toBe('Cancelled');
    expect(await harness.bucket.keys(`${prefix}/export_id=${id}`)).not.toContain(`${prefix}/export_id=${id}/_SUCCESS`);
  });

  it('is neither a cancellation nor the time limit once `_SUCCESS` may be in the bucket', async () => {
    const { prefix, body } = await prepare(1);
    const { reached, letGo } = hold('_SUCCESS');
    const { id } = await harness.createExport(body);
    await reached;
    const { status, body: answer } = await harness.call('PATCH', `/${id}`, { status: 'Cancelled' });
    expect([status, answer.code]).toEqual([409, 'export_is_completing']);
    // As processes of the release before do, beside those of this one.
    const ended = harness.database.query(
      `UPDATE bulk_exports SET status = 'Cancelled', finished_at = now(), updated_at = now()
       WHERE tenant_id = $1 AND export_id = $2 AND status IN ('Created', 'IntervalScheduled', 'Running')`,
      [TENANT, id],
    );
    await expect(ended).rejects.toMatchObject({ constraint: 'bulk_exports_publishing' });
    const rows = harness.api.app.get(ExportsRepository);
    await rows.endExport(TENANT as TenantId, id as string, 'TimedOut', undefined, async () => undefined);
    expect(await rows.takeTurn(TENANT as TenantId, id as string, 1)).toEqual({ status: 'Running', elapsedMs: 0 });
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed' });
    expect(await harness.bucket.keys(`${prefix}/export_id=${id}`)).toContain(`${prefix}/export_id=${id}/_SUCCESS`);
  });

  it('is uncertain when `_SUCCESS` could not be written: the export fails, says so, and can be retried', async () => {
    const { body } = await prepare(1);
    harness.proxy.fault = ({ method, url }) => (method === 'PUT' && url?.includes('_SUCCESS') ? 'expired' : undefined);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({
      status: 'Failed',
      error: expect.stringContaining('_SUCCESS may be in the bucket already'),
      error_code: 'ExpiredToken',
    });
    harness.proxy.fault = () => undefined;
    expect((await harness.call('POST', `/${id}/retry`)).status).toBe(200);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', error: null });
  });

  it.each([
    ['activity StartToClose timeout', 'activity StartToClose timeout; _SUCCESS may be in the bucket already'],
    ['Gone; _SUCCESS may be in the bucket already', 'Gone; _SUCCESS may be in the bucket already'],
  ])('is uncertain whatever the export failed with: "%s"', async (message, shown) => {
    const id = await insertPublishing('Running');
    const rows = harness.api.app.get(ExportsRepository);
    await rows.endExport(TENANT as TenantId, id, 'Failed', message, async () => undefined);
    expect(await harness.get(id)).toMatchObject({ status: 'Failed', error: shown });
  });

  it('waits for no other export when it is retried, since it can not be cancelled any more', async () => {
    const other = await insertPublishing('Running');
    const retried = await insertPublishing('Created');
    try {
      const rows = harness.api.app.get(ExportsRepository);
      expect(await rows.takeTurn(TENANT as TenantId, retried, 1)).toEqual({ status: 'Running', elapsedMs: 0 });
    } finally {
      await harness.database.query(`DELETE FROM bulk_exports WHERE export_id = ANY ($1::uuid[])`, [[other, retried]]);
    }
  });
});

describe('permissions', () => {
  it.each<[string, (request: { method?: string; url?: string }) => boolean, boolean]>([
    ['read', ({ method }) => method === 'GET' || method === 'HEAD', false],
    ['delete', ({ method, url }) => method === 'DELETE' && !url?.includes('uploadId'), true],
    ['abort uploads', ({ method, url }) => method === 'DELETE' && !!url?.includes('uploadId'), true],
    ['do anything but write', ({ method }) => method !== 'PUT', false],
  ])('to %s may be missing', async (_, isDenied, isVerified) => {
    harness.proxy.fault = (request) => (isDenied(request) ? 'deny' : undefined);
    const { prefix, body } = await prepare(50);
    const { id } = await harness.createExport(body);
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 50 } });
    const manifest = await harness.manifest(prefix, id);
    expect(manifest).toMatchObject({ sizes_verified: isVerified, row_counts_verified: isVerified, rows: 50 });
    expect(manifest.not_verified).toHaveLength(isVerified ? 0 : 1);
  });
});

describe('the test of a destination', () => {
  const named = { permission: expect.any(String), consequence: expect.any(String), error_hint: expect.any(String) };

  it.each<[string, (request: { method?: string }) => boolean, Json]>([
    ['nothing', () => false, { usable: true, complete: true }],
    [
      'to read',
      ({ method }) => method === 'GET' || method === 'HEAD',
      { usable: true, complete: false, failed: { operation: 'read', ...named, permission: 's3:GetObject' } },
    ],
    [
      'to delete',
      ({ method }) => method === 'DELETE',
      { usable: true, complete: false, failed: { operation: 'delete', ...named, permission: 's3:DeleteObject' } },
    ],
    [
      'to write',
      ({ method }) => method === 'PUT',
      { usable: false, complete: false, failed: { operation: 'write', ...named, permission: 's3:PutObject' } },
    ],
  ])('reports that %s is missing', async (_, isDenied, { failed, ...outcome }) => {
    const { id, config } = await harness.createDestination();
    harness.proxy.fault = (request) => (isDenied(request) ? 'deny' : undefined);
    const { status, body } = await harness.call('POST', `/destinations/${id}/test`);
    expect({ status, ...body }).toMatchObject({ status: 200, destination_id: id, ...outcome });
    const failures = body.checks.filter(({ state }: Json) => state === 'failed');
    expect(failures).toEqual(failed ? [expect.objectContaining(failed)] : []);
    const isKept = failed?.operation === 'delete';
    expect(await harness.bucket.keys(config.prefix)).toHaveLength(isKept ? 1 : 0);
  });
});

it('creates a destination whose test object can not be deleted at the moment', async () => {
  harness.proxy.fault = ({ method }) => (method === 'DELETE' ? 'slow down' : undefined);
  expect(await harness.createDestination()).toMatchObject({ destination_type: 's3' });
});

describe('the layout', () => {
  it('of v1 is that of v2_beta: the same paths, columns and types', async () => {
    const { prefix, body } = await prepare(3);
    const schema = 'SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM FILES)';
    const seen: unknown[] = [];
    for (const format_version of ['v1', 'v2_beta']) {
      const { id } = await harness.createExport({ ...body, format_version });
      expect(await harness.ended(id)).toMatchObject({ status: 'Completed', format_version });
      const folder = `${prefix}/export_id=${id}`;
      const keys = (await harness.bucket.keys(folder)).map((key) => key.slice(folder.length));
      seen.push([keys, await harness.read(folder, schema)]);
    }
    expect(seen[0]).toEqual(seen[1]);
  });

  it('has a folder `resource=runs` where the destination wants one', async () => {
    const project = await harness.createProject();
    await harness.createRuns(project, DAY, 1);
    const destination = await harness.createDestination({ config: { runs_folder: 'resource=runs' } });
    const body = { bulk_export_destination_id: destination.id, session_id: project, ...WINDOW };
    const { id } = await harness.createExport(body);
    await harness.ended(id);
    const [run] = await harness.runs(id);
    expect(run.metadata.result.export_path).toBe(
      `${testStore().bucket}/${destination.config.prefix}/export_id=${id}/tenant_id=${TENANT}/session_id=${project}/resource=runs/year=2026/month=11/day=20`,
    );
    expect(await harness.bucket.keys(destination.config.prefix)).toContain(
      `${run.metadata.result.exported_files[0]}`.slice(testStore().bucket.length + 1),
    );
  });

  it('separates windows that end within the same second, and rows that begin in the same microsecond', async () => {
    const { project, prefix, body } = await prepare(0);
    await harness.createRuns(project, DAY, 1);
    await harness.database.query(
      `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status)
       SELECT $1, $2, $3::timestamptz + (n / 60) * interval '1 microsecond', gen_random_uuid(), gen_random_uuid(), 'o',
         'same', 'chain', 'success' FROM generate_series(0, 119) n`,
      [TENANT, project, `${DAY} 10:00:00.000001+00`],
    );
    const first = await harness.createExport({ ...body, end_time: `${DAY}T10:00:00.000002Z` });
    const second = await harness.createExport({ ...body, start_time: `${DAY}T10:00:00.000002Z` });
    expect(await harness.ended(first.id)).toMatchObject({ progress: { rows_written: 61 } });
    expect(await harness.ended(second.id)).toMatchObject({ progress: { rows_written: 60 } });
    expect(await harness.read(prefix, COUNT)).toEqual([{ rows: 121, ids: 121 }]);
  });

  it('writes costs as decimals on request', async () => {
    const { prefix, body } = await prepare(3);
    const { id } = await harness.createExport({ ...body, cost_type: 'decimal', export_fields: ['id', 'total_cost'] });
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', cost_type: 'decimal' });
    expect(
      await harness.read(
        `${prefix}/export_id=${id}`,
        'SELECT typeof(total_cost) AS t, total_cost AS c FROM FILES ORDER BY c',
      ),
    ).toEqual([
      { t: 'DECIMAL(38,12)', c: '0.000000000000' },
      { t: 'DECIMAL(38,12)', c: '0.000000000001' },
      { t: 'DECIMAL(38,12)', c: '0.000000000002' },
    ]);
    expect((await harness.manifest(prefix, id)).schema).toContainEqual({ name: 'total_cost', type: 'decimal' });
    const wrong = await harness.call('POST', '', { ...body, cost_type: 'float' });
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([422, 'cost_type']);
  });
});

describe('late data', () => {
  it('is exported in a later pass: what arrived or changed, in separate files', async () => {
    const { project, prefix, destination } = await prepare(0);
    const hour = 3_600_000;
    const start = new Date(Math.floor(Date.now() / hour) * hour - 2 * hour);
    const day = start.toISOString().slice(0, 10);
    await harness.createRuns(project, day, 3, Math.ceil((start.getTime() - Date.parse(day)) / 1_234.567) + 1);
    const schedule = await harness.createExport({
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: start.toISOString(),
      interval_hours: 1,
      late_data: 'reexport',
    });
    const spawned = async (): Promise<Json[]> =>
      (await harness.call('GET', `?source_bulk_export_id=${schedule.id}`)).body as Json[];
    const at = (rows: Json[], late: boolean): Json | undefined =>
      rows.find((row) => Date.parse(row.start_time as string) === start.getTime() && !!row.late_pass_of === late);
    await waitFor('the first pass', async () => at(await spawned(), false)?.status === 'Completed', 60_000);
    const first = at(await spawned(), false)!;
    expect(first).toMatchObject({ late_pass_of: null, progress: { rows_written: 3 } });
    await harness.createRuns(project, day, 2, Math.ceil((start.getTime() - Date.parse(day)) / 1_234.567) + 100);
    await harness.database.query(
      `UPDATE trace_runs SET received_at = now(), updated_at = now() WHERE project_id = $1 AND received_at > $2
         OR (project_id = $1 AND name NOT IN (SELECT name FROM trace_runs WHERE project_id = $1 ORDER BY start_time LIMIT 3))`,
      [project, first.finished_at],
    );
    await harness.database.query(
      `UPDATE trace_runs SET outputs = '{"changed": true}', updated_at = now() WHERE project_id = $1
         AND run_id = (SELECT run_id FROM trace_runs WHERE project_id = $1 ORDER BY start_time LIMIT 1)`,
      [project],
    );
    await waitFor('the later pass', async () => at(await spawned(), true)?.status === 'Completed', 60_000);
    const later = at(await spawned(), true)!;
    expect(later).toMatchObject({ late_pass_of: first.id, source_bulk_export_id: schedule.id });
    expect(later.progress.rows_written).toBe(3);
    expect(await harness.manifest(prefix, later.id)).toMatchObject({ late_pass: { of: first.id }, rows: 3 });
    expect((await harness.manifest(prefix, first.id)).late_pass).toBeNull();
    const [read] = await harness.read(
      `${prefix}/export_id=${later.id}`,
      `SELECT count(*)::int AS rows, count(*) FILTER (WHERE outputs = '{"changed": true}')::int AS changed FROM FILES`,
    );
    expect(read).toEqual({ rows: 3, changed: 1 });
    await harness.call('PATCH', `/${schedule.id}`, { status: 'Cancelled' });
  });

  it('is complete without rows that change for the first time after their place was read', async () => {
    const { project, destination } = await prepare(90);
    await harness.database.query(
      `UPDATE trace_runs SET updated_at = now() - interval '2 hours' WHERE project_id = $1 AND name = 'run 0'`,
      [project],
    );
    const { reached, letGo } = holdUpload(2);
    const id = uuidv7();
    await harness.database.query(
      `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, end_time, format_version,
         compression, status, changed_after)
       VALUES ($1, $2, $3, $4, $5, $6, 'v2_beta', 'none', 'Created', now() - interval '1 hour')`,
      [TENANT, id, destination.id, project, WINDOW.start_time, WINDOW.end_time],
    );
    await start(id);
    await reached;
    await harness.database.query(`UPDATE trace_runs SET updated_at = now() WHERE project_id = $1 AND name = 'run 0'`, [
      project,
    ]);
    letGo();
    expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 89 } });
    expect(await harness.runs(id)).toMatchObject([{ status: 'Completed', retry_number: 0 }]);
  });

  it('is all of the window when the first pass has not seen the end of all uploads', async () => {
    const { project, destination } = await prepare(1);
    const [schedule, first, later] = [uuidv7(), uuidv7(), uuidv7()];
    const insert = (id: string, columns: string, values: string): Promise<unknown> =>
      harness.database.query(
        `INSERT INTO bulk_exports (tenant_id, export_id, destination_id, session_id, start_time, format_version, compression, ${columns})
         VALUES ($1, $2, $3, $4, $5, 'v2_beta', 'none', ${values})`,
        [TENANT, id, destination.id, project, WINDOW.start_time],
      );
    await insert(schedule, 'status, interval_hours', `'IntervalScheduled', 1`);
    await insert(
      first,
      'status, end_time, source_bulk_export_id, planned_at, finished_at, has_unseen_writers',
      `'Completed', '${DAY}T01:00:00Z', '${schedule}', now(), now(), true`,
    );
    const schedules = new SchedulesRepository(harness.api.app.get(DataSource));
    expect(await schedules.spawnLatePass(TENANT as TenantId, schedule, first, later, 0)).toBe(later);
    await start(later);
    expect(await harness.ended(later)).toMatchObject({ status: 'Completed', progress: { rows_written: 1 } });
  });

  it('is for scheduled exports only', async () => {
    const { body } = await prepare(0);
    const { status, body: answer } = await harness.call('POST', '', { ...body, late_data: 'reexport' });
    expect([status, answer.errors[0].path]).toEqual([422, 'late_data']);
    expect((await harness.call('GET', `/${uuidv7()}`)).status).toBe(404);
  });
});
