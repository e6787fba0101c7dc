// Rows per second from a tracing project to Parquet files in a bucket.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const BATCH = 500;

/**
 * @param {{ api: string, api_key: string, tenant_id: string, s3: Record<string, string> }} endpoints
 * @param {number} rows
 * @returns {AsyncGenerator<[string, string]>}
 */
export async function* benchExport(endpoints, rows) {
  const call = async (/** @type {string} */ method, /** @type {string} */ path, /** @type {unknown} */ body) => {
    const response = await fetch(`${endpoints.api}/api/v1${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'x-api-key': endpoints.api_key,
        'x-tenant-id': endpoints.tenant_id,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${response.status} from ${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  const project = await call('POST', '/sessions', { name: `bench-${randomUUID()}` });
  const day = new Date();
  day.setUTCHours(0, 0, 0, 0);
  const text = 'All work and no play makes a dull trace. '.repeat(25);

  const begun = performance.now();
  for (let sent = 0; sent < rows; sent += BATCH) {
    const post = Array.from({ length: Math.min(BATCH, rows - sent) }, (_, index) => {
      const id = randomUUID();
      const start = new Date(day.getTime() + sent + index);
      const stamp = start.toISOString().replace(/[-:.]/g, '').replace('Z', '000Z');
      return {
        id,
        trace_id: id,
        dotted_order: `${stamp}${id}`,
        name: 'bench',
        run_type: 'chain',
        session_id: project.id,
        start_time: start.toISOString(),
        end_time: start.toISOString(),
        inputs: { text },
        outputs: { index: sent + index },
      };
    });
    await call('POST', '/runs/batch', { post, patch: [] });
  }
  yield [
    `traces ingested (batches of ${BATCH}, 1 KB)`,
    `${Math.round(rows / ((performance.now() - begun) / 1000))} rows/s`,
  ];

  const { bucket, region, endpoint, access_key_id, secret_access_key } = endpoints.s3;
  const destination = await call('POST', '/bulk-exports/destinations', {
    destination_type: 's3',
    display_name: 'bench',
    config: { bucket_name: bucket, prefix: `bench/${project.id}`, region, endpoint_url: endpoint },
    credentials: { access_key_id, secret_access_key },
  });
  const start = performance.now();
  const { id } = await call('POST', '/bulk-exports', {
    bulk_export_destination_id: destination.id,
    session_id: project.id,
    start_time: day.toISOString(),
    end_time: new Date(day.getTime() + 86_400_000).toISOString(),
  });
  let status = 'Created';
  while (status === 'Created' || status === 'Running') {
    await sleep(50);
    ({ status } = await call('GET', `/bulk-exports/${id}`));
  }
  if (status !== 'Completed') throw new Error(`The export ended as ${status}`);
  yield [`export of ${rows} rows`, `${Math.round(rows / ((performance.now() - start) / 1000))} rows/s`];
}
