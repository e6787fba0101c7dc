import { setTimeout as sleep } from 'node:timers/promises';
import { findS3Gateway, findTemporal } from './binaries.mjs';
import { answers } from './ports.mjs';
import { postgresPart } from './postgres.mjs';
import { say } from './progress.mjs';
import { s3Part } from './s3.mjs';
import { temporalPart } from './temporal.mjs';

/**
 * @typedef {{ home: string, supervisor: import('./supervisor.mjs').Supervisor, installed: Promise<void>,
 *   signal: AbortSignal }} Context
 * `installed` settles when node_modules is complete: finding programs can begin before that.
 */

const REACHABLE_MS = 15_000;

/**
 * @param {Context} context
 * @param {{ port: number, password: string, disposable?: boolean }} options
 * @returns {Promise<string>} URL of Gantry's database
 */
export async function startPostgres({ home, supervisor, installed }, options) {
  await installed;
  const { part, url } = await postgresPart({ home, ...options });
  await supervisor.start(part);
  say('postgres', `serves on 127.0.0.1:${options.port}`);
  return url;
}

/**
 * @param {Context} context
 * @param {{ port: number, uiPort: number | null, namespace: string, disposable?: boolean }} options
 * @returns {Promise<{ address: string, uiUrl: string | null }>}
 */
export async function startTemporal({ home, supervisor, installed, signal }, options) {
  await installed; // the download goes through an npm package
  const binary = await findTemporal(signal);
  const { part, address, uiUrl } = temporalPart({ home, binary, ...options });
  await supervisor.start(part);
  say('temporal', `serves on ${address}`);
  return { address, uiUrl };
}

/**
 * @param {Context} context
 * @param {{ port: number, bucket: string, region: string, accessKeyId: string, secretAccessKey: string }} options
 * @returns {Promise<import('./s3.mjs').S3Endpoint>}
 */
export async function startS3({ home, supervisor, signal }, options) {
  const binary = await findS3Gateway(signal);
  const { part, s3 } = s3Part({ home, binary, ...options });
  await supervisor.start(part);
  say('s3', `serves bucket ${s3.bucket} on ${s3.endpoint}`);
  return s3;
}

/**
 * A service of the user's own is not started, only looked for: a wrong address is reported here, in one line, instead of
 * by each process that needs it. One that is starting up gets a moment.
 * @param {{ setting: string, host: string, port: number, signal: AbortSignal }} options
 */
export async function untilReachable({ setting, host, port, signal }) {
  const deadline = Date.now() + REACHABLE_MS;
  const bare = host.replace(/^\[|\]$/g, ''); // an IPv6 address in a URL is in brackets
  while (!(await answers(port, bare, 3_000))) {
    if (Date.now() > deadline) {
      throw new Error(`Nothing answers at ${host}:${port}, which ${setting} names. Start it, or correct ${setting}.`);
    }
    await sleep(500, undefined, { signal });
  }
}
