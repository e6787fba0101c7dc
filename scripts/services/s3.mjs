import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STARTUP_MS = 30_000;
/** No bucket can have this name. */
const HEALTH = '/-/health';

/**
 * @typedef {{ endpoint: string, bucket: string, region: string, access_key_id: string | null,
 *   secret_access_key: string | null }} S3Endpoint
 */

/**
 * An S3 gateway over a directory: buckets are directories, objects are files that can be looked at.
 * @param {{ home: string, binary: string, port: number, bucket: string, region: string, accessKeyId: string,
 *   secretAccessKey: string }} options
 * @returns {{ part: import('./process.mjs').Part, s3: S3Endpoint }}
 */
export function s3Part({ home, binary, port, bucket, region, accessKeyId, secretAccessKey }) {
  const directory = join(home, 's3');
  mkdirSync(join(directory, bucket), { recursive: true, mode: 0o700 });
  const s3 = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    region,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  };
  return {
    s3,
    part: {
      name: 's3',
      command: binary,
      args: [
        `--port=127.0.0.1:${port}`,
        `--region=${region}`,
        `--health=${HEALTH}`,
        '--virtual-domain=localhost', // a bucket is also at <bucket>.localhost
        ...['--keep-alive', '--quiet', 'posix', directory],
      ],
      marker: directory,
      // In the environment, not among the arguments, which every user of the machine can read.
      env: { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      ready: (child) => untilHealthy(s3.endpoint, child),
    },
  };
}

/**
 * Asks without credentials, and without the library for S3, which would stay in the memory of the supervisor.
 * @param {string} endpoint
 * @param {import('./process.mjs').RunningPart} child
 */
async function untilHealthy(endpoint, child) {
  const deadline = Date.now() + STARTUP_MS;
  while (!child.exit) {
    const status = await fetch(`${endpoint}${HEALTH}`).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 200) return;
    if (status !== undefined || Date.now() > deadline) throw new Error(`is not healthy: ${status ?? 'no answer'}`);
    await sleep(50);
  }
}
