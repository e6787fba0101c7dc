import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const WORKER_BACK_MS = 45_000;

/**
 * @typedef {{ api: string, temporal_ui: string | null, api_key: string, tenant_id: string, pids: Record<string, number>,
 *   s3: { endpoint: string, bucket: string, region: string, access_key_id: string | null,
 *     secret_access_key: string | null } }} Endpoints
 */

/** The Gantry that runs on this machine, as its endpoints.json describes it. */
export class RunningGantry {
  /** @param {string} path of endpoints.json */
  constructor(path) {
    this.path = path;
    this.endpoints = this.read();
  }

  /** @returns {Endpoints} */
  read() {
    return JSON.parse(readFileSync(this.path, 'utf8'));
  }

  /** Needed with GANTRY_AUTH=on, ignored otherwise. */
  get headers() {
    return { 'x-api-key': this.endpoints.api_key, 'x-tenant-id': this.endpoints.tenant_id };
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<any>}
   */
  async request(method, path, body) {
    const response = await fetch(`${this.endpoints.api}${path}`, {
      method,
      headers: { ...this.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The client of the LangGraph SDK, pointed at Gantry. */
  async client() {
    const { Client } = await import('@langchain/langgraph-sdk');
    const { api, api_key: apiKey, tenant_id: tenantId } = this.endpoints;
    return new Client({ apiUrl: api, apiKey, defaultHeaders: { 'x-tenant-id': tenantId } });
  }

  /** Kills the worker as the kernel would: no signal handler runs. @returns {number} the process that is no more */
  killWorker() {
    const { worker } = this.read().pids;
    process.kill(worker, 'SIGKILL');
    return worker;
  }

  /**
   * Resolves when the supervisor has brought a worker up in place of `killed`.
   * @param {number} killed
   * @returns {Promise<number>}
   */
  async workerAfter(killed) {
    const deadline = Date.now() + WORKER_BACK_MS;
    for (;;) {
      const { worker } = this.read().pids;
      if (worker !== killed) return worker;
      if (Date.now() > deadline) throw new Error(`no worker has been started again for ${WORKER_BACK_MS / 1000} s`);
      await sleep(100);
    }
  }
}

/** @returns {Promise<RunningGantry>} */
export async function connectGantry() {
  const home = resolve(process.env.GANTRY_HOME || '.gantry');
  const hint = 'Start one with "npm start" in another terminal, or set GANTRY_HOME to the one that is meant.';
  let gantry;
  try {
    gantry = new RunningGantry(join(home, 'endpoints.json'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    throw new Error(`No Gantry runs with its data in ${home}. ${hint}`, { cause: error });
  }
  const { api } = gantry.endpoints;
  try {
    await gantry.request('GET', '/ok?check_db=1');
  } catch (error) {
    throw new Error(`The Gantry of ${home} does not answer at ${api}: ${error.message}. ${hint}`, { cause: error });
  }
  return gantry;
}
