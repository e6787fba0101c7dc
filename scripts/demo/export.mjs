import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { RUNS_OF_A_DAY, TRACES_OF_A_DAY, dayOfTraces } from './traces.mjs';

export const title = 'A bulk export, killed in the middle: rows in = rows out';

const DAYS = 8;
const UPLOADS_AT_ONCE = 4;
const LONGEST_MS = 90_000;
const DAY_MS = 86_400_000;

/**
 * @typedef {import('./gantry.mjs').RunningGantry} RunningGantry
 * @typedef {import('./report.mjs').Report} Report
 * @typedef {{ key: string, writtenAt: number }} StoredFile
 */

/** @param {{ gantry: RunningGantry, report: Report, keep: boolean }} demo */
export async function run({ gantry, report, keep }) {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-demo-'));
  const bucket = await Bucket.open(gantry);
  const prefix = `demo/${randomUUID().slice(0, 8)}`;
  let projectId = '';
  try {
    report.ask('POST /api/v1/sessions');
    const project = await gantry.request('POST', '/api/v1/sessions', { name: `demo ${prefix}` });
    projectId = project.id;
    report.answer(`project "${project.name}", ${projectId}`);

    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const start = today - DAYS * DAY_MS;
    const sent = await sendTraces(gantry, report, projectId, start, join(directory, 'sent.ndjson'));

    const exported = await startExport(gantry, report, bucket, { projectId, prefix, start, end: today });
    const { before, killed } = await killInTheMiddle(gantry, report, exported.id, bucket, prefix);
    const ended = await untilEnded(gantry, report, exported.id);
    report.ask('GET /api/v1/bulk-exports/{export_id}');
    const { progress } = ended;
    report.answer(`${ended.status}: ${progress.rows_written} rows, ${progress.bytes_written} bytes, ${DAYS} days`);
    if (ended.status !== 'Completed') return { faults: [`the export is ${ended.status}: ${ended.error}`], text: '' };

    const files = await bucket.list(`${prefix}/export_id=${exported.id}/`);
    const parquet = files.filter(({ key }) => key.endsWith('.parquet'));
    report.ask(`S3 ListObjects, GetObject × ${parquet.length + 1}`);
    await bucket.download(parquet, directory);
    const manifest = JSON.parse((await bucket.read(`${prefix}/export_id=${exported.id}/_manifest.json`)).toString());
    report.answer(`${parquet.length} Parquet files, _manifest.json (${manifest.rows} rows) and _SUCCESS`);
    const read = await readBack(directory);
    report.table(read.table);

    await gantry.workerAfter(killed);
    const rewritten = before.filter(
      ({ key, writtenAt }) => files.find((file) => file.key === key)?.writtenAt !== writtenAt,
    );
    const faults = [
      ...(read.rows === sent ? [] : [`${sent} rows were sent, ${read.rows} are in the files`]),
      ...(read.missing === 0 ? [] : [`${read.missing} rows are missing`]),
      ...(read.different === 0 ? [] : [`${read.different} rows are not as they were sent`]),
      ...(read.twice === 0 ? [] : [`${read.twice} rows are there twice`]),
      ...(manifest.rows === read.rows ? [] : [`the manifest says ${manifest.rows} rows`]),
      ...(files.some(({ key }) => key.endsWith('/_SUCCESS')) ? [] : ['_SUCCESS is not there']),
      ...checksumFaults(manifest, parquet, directory),
      ...(before.length > 0 ? [] : ['no file was finished before the kill']),
      ...(rewritten.length === 0
        ? []
        : [`${rewritten.length} files that were finished before the kill were written again`]),
    ];
    return {
      faults,
      text:
        `${sent} rows in = ${read.rows} rows out, ${read.missing} missing, ${read.twice} twice, ${read.different} different; ` +
        `${parquet.length} files, ${before.length} of them before the kill and not written again`,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    if (keep) {
      report.note(`kept: project ${projectId}, s3://${bucket.name}/${prefix}/`);
    } else {
      await bucket.remove(await bucket.list(`${prefix}/`));
      if (projectId) await gantry.request('DELETE', `/api/v1/sessions/${projectId}`);
    }
    bucket.close();
  }
}

/**
 * Sends runs, and writes a copy of everything to `copy` for the comparison with the export.
 * @param {RunningGantry} gantry
 * @param {Report} report
 * @param {string} projectId
 * @param {number} start
 * @param {string} copy
 */
async function sendTraces(gantry, report, projectId, start, copy) {
  const since = Date.now();
  const file = createWriteStream(copy);
  let sent = 0;
  const days = Array.from({ length: DAYS }, (_, day) => start + day * DAY_MS);
  report.ask(`POST /api/v1/runs/batch  {"post": [${RUNS_OF_A_DAY} runs]}, ${DAYS} times`);
  await pLimit(UPLOADS_AT_ONCE).map(days, async (midnight) => {
    const runs = dayOfTraces(midnight, projectId);
    await gantry.request('POST', '/api/v1/runs/batch', { post: runs });
    file.write(runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
    sent += runs.length;
  });
  await new Promise((resolve) => file.end(resolve));
  const seconds = (Date.now() - since) / 1000;
  report.answer(
    `202 each: ${sent} runs of ${DAYS * TRACES_OF_A_DAY} traces stored in ${seconds.toFixed(1)} s (${Math.round(sent / seconds)} a second)`,
  );
  return sent;
}

/**
 * @param {RunningGantry} gantry
 * @param {Report} report
 * @param {Bucket} bucket
 * @param {{ projectId: string, prefix: string, start: number, end: number }} range
 */
async function startExport(gantry, report, bucket, { projectId, prefix, start, end }) {
  report.ask(`POST /api/v1/bulk-exports/destinations  s3://${bucket.name}/${prefix}`);
  const destination = await gantry.request('POST', '/api/v1/bulk-exports/destinations', {
    destination_type: 's3',
    display_name: 'Demo',
    config: { bucket_name: bucket.name, prefix, region: bucket.region, endpoint_url: bucket.endpoint },
    credentials: bucket.credentials,
  });
  report.answer(`destination ${destination.id}: a test file could be written`);
  report.ask('POST /api/v1/bulk-exports');
  const created = await gantry.request('POST', '/api/v1/bulk-exports', {
    bulk_export_destination_id: destination.id,
    session_id: projectId,
    start_time: new Date(start).toISOString(),
    end_time: new Date(end).toISOString(),
  });
  report.answer(`export ${created.id}: ${created.status}`);
  return created;
}

/**
 * Kills the worker when a few days are done and most are not.
 * @param {RunningGantry} gantry
 * @param {Report} report
 * @param {string} exportId
 * @param {Bucket} bucket
 * @param {string} prefix
 */
async function killInTheMiddle(gantry, report, exportId, bucket, prefix) {
  const deadline = Date.now() + LONGEST_MS;
  for (;;) {
    const { status, progress, error } = await gantry.request('GET', `/api/v1/bulk-exports/${exportId}`);
    if (progress.partitions_done >= 3) {
      const killed = gantry.killWorker();
      if (status !== 'Running') throw new Error(`the export was ${status} before its worker could be killed`);
      // A file that was uploaded but not yet committed may be written again under the same name: only committed files count.
      const days = await gantry.request('GET', `/api/v1/bulk-exports/${exportId}/runs`);
      const done = days.filter((day) => day.status === 'Completed');
      const names = new Set(done.flatMap((day) => day.metadata.result.exported_files));
      const files = await bucket.list(`${prefix}/export_id=${exportId}/`);
      report.note(
        `worker ${killed} is killed: ${done.length} of ${progress.partitions_total} days were done, ` +
          `${files.length} files are in the bucket`,
      );
      return { before: files.filter(({ key }) => names.has(`${bucket.name}/${key}`)), killed };
    }
    if (status === 'Failed' || Date.now() > deadline) throw new Error(`the export is ${status}: ${error}`);
    await sleep(10);
  }
}

/**
 * @param {RunningGantry} gantry
 * @param {Report} report
 * @param {string} exportId
 */
async function untilEnded(gantry, report, exportId) {
  const deadline = Date.now() + LONGEST_MS;
  report.note('the partition that it was writing resumes once its heartbeat has been missing for 10 s');
  let reported = -1;
  for (;;) {
    const current = await gantry.request('GET', `/api/v1/bulk-exports/${exportId}`);
    if (!['Created', 'Running'].includes(current.status)) return current;
    if (Date.now() > deadline) throw new Error(`the export is still ${current.status} after ${LONGEST_MS / 1000} s`);
    const { partitions_done: done, partitions_total: total } = current.progress;
    if (reported >= 0 && done > reported) report.note(`${done} of ${total} days done`);
    reported = done;
    await sleep(500);
  }
}

/** Reads the files as a user would, with another reader than the writer's code, and compares them with what was sent. */
async function readBack(directory) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  /** @param {string} sql @returns {Promise<Record<string, unknown>[]>} */
  const rowsOf = async (sql) => {
    const rows = (await connection.runAndReadAll(sql)).getRowObjects();
    const plain = (value) => (typeof value === 'bigint' ? Number(value) : value);
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
  };
  try {
    await connection.run(
      `CREATE VIEW exported AS SELECT * FROM read_parquet('${directory}/**/*.parquet', hive_partitioning = true)`,
    );
    await connection.run(
      `CREATE VIEW sent AS SELECT * FROM read_ndjson('${directory}/sent.ndjson',
         columns = {id: 'VARCHAR', name: 'VARCHAR', run_type: 'VARCHAR', dotted_order: 'VARCHAR', inputs: 'JSON',
           outputs: 'JSON'}, ignore_errors = false)`,
    );
    const [counts] = await rowsOf(`SELECT count(*) AS found, count(*) - count(DISTINCT id) AS twice FROM exported`);
    const [compared] = await rowsOf(
      `SELECT count(*) FILTER (e.id IS NULL) AS missing,
         count(*) FILTER (e.id IS NOT NULL AND (e.name, e.run_type, e.dotted_order, e.inputs, e.outputs)
           IS DISTINCT FROM (s.name, s.run_type, s.dotted_order, s.inputs::VARCHAR, s.outputs::VARCHAR)) AS different
       FROM sent s LEFT JOIN exported e ON e.id = s.id`,
    );
    const table = await rowsOf(
      `SELECT run_type, name, count(*) AS runs, min(start_time)::DATE::VARCHAR AS first_day, max(start_time)::DATE::VARCHAR AS last_day,
         round(avg(epoch_ms(end_time) - epoch_ms(start_time))) AS avg_ms, sum(total_tokens)::BIGINT AS tokens
       FROM exported GROUP BY ALL ORDER BY runs DESC, name`,
    );
    return {
      rows: Number(counts.found),
      twice: Number(counts.twice),
      missing: Number(compared.missing),
      different: Number(compared.different),
      table,
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/**
 * Compares the manifest's checksums with the downloaded bytes.
 * @param {any} manifest
 * @param {StoredFile[]} files
 * @param {string} directory
 */
function checksumFaults(manifest, files, directory) {
  const listed = manifest.partitions.flatMap((partition) => partition.files);
  const sums = new Map(
    files.map(({ key }) => [
      key,
      createHash('md5')
        .update(readFileSync(join(directory, key)))
        .digest('hex'),
    ]),
  );
  const wrong = listed.filter(({ path, md5 }) => sums.get(path.slice(path.indexOf('/') + 1)) !== md5);
  return [
    ...(listed.length === files.length ? [] : [`the manifest lists ${listed.length} of ${files.length} files`]),
    ...(wrong.length === 0 ? [] : [`${wrong.length} files have another checksum than the manifest says`]),
  ];
}

/** Access to Gantry's bucket through the AWS SDK. */
class Bucket {
  /**
   * @param {import('@aws-sdk/client-s3')} sdk
   * @param {import('./gantry.mjs').Endpoints['s3']} s3
   */
  constructor(sdk, s3) {
    this.sdk = sdk;
    this.name = s3.bucket;
    this.region = s3.region;
    this.endpoint = s3.endpoint;
    this.credentials = { access_key_id: s3.access_key_id, secret_access_key: s3.secret_access_key };
    this.client = new sdk.S3Client({
      endpoint: s3.endpoint,
      region: s3.region,
      credentials: { accessKeyId: s3.access_key_id ?? '', secretAccessKey: s3.secret_access_key ?? '' },
      forcePathStyle: true,
    });
  }

  /** @param {RunningGantry} gantry */
  static async open(gantry) {
    if (!gantry.endpoints.s3) throw new Error('This Gantry has no S3 service: set GANTRY_S3_ENDPOINT to one of yours.');
    // Hides a warning about future Node versions, which a newcomer can't act on.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    return new Bucket(await import('@aws-sdk/client-s3'), gantry.endpoints.s3);
  }

  /** @param {string} prefix @returns {Promise<StoredFile[]>} */
  async list(prefix) {
    const { Contents = [] } = await this.client.send(
      new this.sdk.ListObjectsV2Command({ Bucket: this.name, Prefix: prefix }),
    );
    return Contents.map(({ Key = '', LastModified }) => ({ key: Key, writtenAt: LastModified?.getTime() ?? 0 }));
  }

  /** @param {string} key */
  async read(key) {
    const { Body } = await this.client.send(new this.sdk.GetObjectCommand({ Bucket: this.name, Key: key }));
    return Buffer.from(await Body.transformToByteArray());
  }

  /** @param {StoredFile[]} files @param {string} directory */
  async download(files, directory) {
    for (const { key } of files) {
      const path = join(directory, key);
      await mkdir(dirname(path), { recursive: true });
      const { Body } = await this.client.send(new this.sdk.GetObjectCommand({ Bucket: this.name, Key: key }));
      await pipeline(Body, createWriteStream(path));
    }
  }

  /** @param {StoredFile[]} files */
  async remove(files) {
    for (const { key } of files) {
      await this.client.send(new this.sdk.DeleteObjectCommand({ Bucket: this.name, Key: key }));
    }
  }

  close() {
    this.client.destroy();
  }
}
