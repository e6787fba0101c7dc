import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STARTUP_MS = 30_000;

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
  mkdirSync(directory, { recursive: true, mode: 0o700 });
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
        '--virtual-domain=localhost', // a bucket is also at <bucket>.localhost
        ...['--keep-alive', '--quiet', 'posix', directory],
      ],
      marker: directory,
      // In the environment, not among the arguments, which every user of the machine can read.
      env: { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      ready: (child) => untilBucketServed(s3, child),
    },
  };
}

/**
 * @param {S3Endpoint} s3
 * @param {import('./process.mjs').RunningPart} child
 */
async function untilBucketServed(s3, child) {
  // Hides a warning about future Node versions, which the user of this command can't act on.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const { CreateBucketCommand, HeadBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    endpoint: s3.endpoint,
    region: s3.region,
    credentials: { accessKeyId: s3.access_key_id ?? '', secretAccessKey: s3.secret_access_key ?? '' },
    forcePathStyle: true,
    maxAttempts: 1,
  });
  const deadline = Date.now() + STARTUP_MS;
  try {
    while (!child.exit) {
      try {
        await client.send(new HeadBucketCommand({ Bucket: s3.bucket }));
        return;
      } catch (error) {
        const isServed = error.$metadata?.httpStatusCode !== undefined;
        if (error.$metadata?.httpStatusCode === 404) {
          await client.send(new CreateBucketCommand({ Bucket: s3.bucket }));
          return;
        }
        if (isServed || Date.now() > deadline) {
          throw new Error(`does not serve bucket ${s3.bucket} (${error.name}: ${error.message})`, { cause: error });
        }
        await sleep(50);
      }
    }
  } finally {
    client.destroy();
  }
}
