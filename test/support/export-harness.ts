import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { startTestApi, TestApi } from './api';
import { ExportBucket } from './export-bucket';
import { destinationBody, DestinationChange, exportEnded, Json, startExportWorker, TestExportWorker } from './exports';
import { S3Proxy } from './s3-proxy';
import { registerNamespace } from './temporal';

export type { Json } from './exports';

export const TENANT = '00000000-0000-0000-0000-000000000000';

/** An api and a worker for exports, a bucket with a proxy in front, and steps that several tests share. */
export class ExportHarness {
  private constructor(
    readonly api: TestApi,
    private readonly worker: Pick<TestExportWorker, 'stop'>,
    readonly database: Client,
    readonly bucket: ExportBucket,
    readonly proxy: S3Proxy,
  ) {}

  /** @param startWorker another worker than the one in the test's process */
  static async start(
    settings: Record<string, string> = {},
    startWorker: (api: TestApi) => Promise<Pick<TestExportWorker, 'stop'>> = ({ config }) => startExportWorker(config),
  ): Promise<ExportHarness> {
    const proxy = await new S3Proxy().start();
    const api = await startTestApi({
      TEMPORAL_NAMESPACE: await registerNamespace(),
      GANTRY_SWEEP_INTERVAL_SECONDS: '1',
      GANTRY_S3_ENDPOINT: proxy.url,
      ...settings,
    });
    const database = new Client({ connectionString: api.database.url });
    await database.connect();
    return new ExportHarness(api, await startWorker(api), database, new ExportBucket(), proxy);
  }

  async stop(): Promise<void> {
    this.proxy.fault = () => undefined;
    await this.worker.stop();
    await this.database.end();
    await this.bucket.close();
    this.proxy.stop();
    await this.api.close();
  }

  async call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    payload?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Json; headers: Json }> {
    const answer = await this.api.app.inject({
      method,
      url: `/api/v1/bulk-exports${path}`,
      headers,
      ...(payload !== undefined && { payload: payload as Json }),
    });
    return {
      status: answer.statusCode,
      body: answer.body ? answer.json<Json>() : {},
      headers: answer.headers,
    };
  }

  /** A destination behind the proxy. */
  destinationBody({ config, credentials }: DestinationChange = {}): Json {
    return destinationBody({ config: { endpoint_url: this.proxy.url, ...config }, credentials });
  }

  async createDestination(change?: DestinationChange): Promise<Json> {
    const { status, body } = await this.call('POST', '/destinations', this.destinationBody(change));
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  }

  async createProject(): Promise<string> {
    const id = uuidv7();
    await this.database.query(`INSERT INTO trace_projects (tenant_id, project_id, name) VALUES ($1, $2, $3)`, [
      TENANT,
      id,
      `project ${id}`,
    ]);
    return id;
  }

  /** Runs `n` of `from` to `from + count - 1`, at n × 1.234567 s of the day. */
  async createRuns(project: string, day: string, count: number, from = 0): Promise<void> {
    await this.database.query(
      `CREATE TABLE IF NOT EXISTS trace_runs_${day.replaceAll('-', '')} PARTITION OF trace_runs
       FOR VALUES FROM ('${day} 00:00:00+00') TO (timestamptz '${day} 00:00:00+00' + interval '24 hours')`,
    );
    await this.database.query(
      `INSERT INTO trace_runs (tenant_id, project_id, start_time, run_id, trace_id, dotted_order, name, run_type, status,
         inputs, outputs, total_tokens, total_cost, received_at, updated_at)
       SELECT $1, $2, $3::timestamptz + n * interval '1234567 microseconds', id, id, n::text, 'run ' || n, 'chain',
         'success', '{"n": ' || n || '}', '{}', n, n * 0.000000000001, now() - interval '1 minute', now() - interval '1 minute'
       FROM (SELECT n, gen_random_uuid() AS id FROM generate_series($5::int, $5::int + $4::int - 1) n) AS generated`,
      [TENANT, project, `${day} 00:00:00+00`, count, from],
    );
  }

  async createExport(body: Json, headers: Record<string, string> = {}): Promise<Json> {
    const created = await this.call('POST', '', body, headers);
    if (created.status !== 200) throw new Error(JSON.stringify(created.body));
    return created.body;
  }

  async get(id: string): Promise<Json> {
    return (await this.call('GET', `/${id}`)).body;
  }

  async runs(id: string): Promise<Json[]> {
    return (await this.call('GET', `/${id}/runs`)).body as Json[];
  }

  async ended(id: string, timeoutMs = 120_000): Promise<Json> {
    return exportEnded((method, path) => this.call(method, path), id, timeoutMs);
  }

  async manifest(prefix: string, id: string): Promise<Json> {
    return JSON.parse((await this.bucket.read(`${prefix}/export_id=${id}/_manifest.json`)).toString()) as Json;
  }

  /** Rows of a query over the files under a prefix; FILES stands for them. */
  async read(prefix: string, sql: string): Promise<Json[]> {
    return readParquet(await this.bucket.download(prefix), sql);
  }
}

/** Rows of a query over the Parquet files in a directory; FILES stands for them. */
export async function readParquet(root: string, sql: string): Promise<Json[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const result = await connection.runAndReadAll(
      sql
        .replace('HIVE_FILES', `read_parquet('${root}/**/*.parquet', hive_partitioning = true)`)
        .replace('FILES', `read_parquet('${root}/**/*.parquet', hive_partitioning = false)`),
    );
    return result.getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
