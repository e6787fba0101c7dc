import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Finding, TIMEOUT_MS } from './finding.mjs';

/**
 * @param {string} address
 * @param {string} namespace
 */
export async function checkTemporal(address, namespace) {
  const { Connection } = await import('@temporalio/client');
  const { TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS: tls } = process.env;
  const read = (/** @type {string} */ name) => (process.env[name] ? readFileSync(process.env[name] ?? '') : undefined);
  const [serverRootCACertificate, crt, key] = ['CA', 'CERT', 'KEY'].map((part) => read(`TEMPORAL_TLS_${part}_PATH`));
  const isTls = apiKey || serverRootCACertificate || crt || ['on', 'true', '1'].includes(tls ?? '');
  let connection;
  try {
    connection = await Connection.connect({
      address,
      apiKey,
      connectTimeout: TIMEOUT_MS,
      tls: isTls ? { serverRootCACertificate, clientCertPair: crt && key ? { crt, key } : undefined } : undefined,
    });
  } catch (error) {
    throw new Finding(`no connection to ${address} (${error.message})`, 'check TEMPORAL_ADDRESS and TEMPORAL_TLS');
  }
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    await connection.workflowService.describeNamespace({ namespace });
    return `server ${serverVersion} at ${address}, namespace ${namespace}`;
  } catch (error) {
    const text = `namespace ${namespace} at ${address}: ${error.details || error.message}`;
    throw new Finding(text, 'make the namespace, or set TEMPORAL_NAMESPACE to one that exists');
  } finally {
    await connection.close();
  }
}

/** @param {import('../services/s3.mjs').S3Endpoint} s3 */
export async function checkS3(s3) {
  const { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = s3;
  const client = new S3Client({
    endpoint: s3.endpoint,
    region: s3.region,
    forcePathStyle: true,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, throwOnRequestTimeout: true },
    ...(accessKeyId && secretAccessKey && { credentials: { accessKeyId, secretAccessKey } }),
  });
  const target = { Bucket: s3.bucket, Key: `tmp/gantry-doctor-${randomUUID()}` };
  const written = 'written by npm run doctor';
  /** @type {[call: string, run: () => Promise<unknown>][]} */
  const calls = [
    ['PutObject', () => client.send(new PutObjectCommand({ ...target, Body: written }))],
    [
      'GetObject',
      async () => {
        const { Body } = await client.send(new GetObjectCommand(target));
        if ((await Body?.transformToString()) !== written) throw new Error('what was read is not what was written');
      },
    ],
    ['DeleteObject', () => client.send(new DeleteObjectCommand(target))],
  ];
  try {
    for (const [call, run] of calls) {
      try {
        await run();
      } catch (error) {
        const code = error.Code ?? error.code ?? error.name;
        const status = error.$metadata?.httpStatusCode ? `, HTTP ${error.$metadata.httpStatusCode}` : '';
        throw new Finding(
          `${call} on ${s3.endpoint}, bucket ${s3.bucket}: ${code}${status} (${error.message})`,
          `check GANTRY_S3_ENDPOINT, the bucket, and that the key is allowed to do s3:${call}`,
        );
      }
    }
  } finally {
    client.destroy();
  }
  return `wrote, read and deleted an object in bucket ${s3.bucket} on ${s3.endpoint}`;
}
