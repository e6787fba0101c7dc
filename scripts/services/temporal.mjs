import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STARTUP_MS = 60_000;

/**
 * The development server's defaults serve a demo: it looks for work 20 times a second, so that a workflow with one
 * activity takes 150 ms. With these it takes about 20 ms, and one task-queue partition is enough for one machine.
 * A worker that has a slot free gets the activity with the answer to the workflow task that scheduled it. What a workflow
 * writes into the list of workflows waits for a second: of a run that is over by then only the last record is written.
 * The last setting keeps the server from asking its makers for newer versions.
 */
const DYNAMIC_CONFIG = {
  'history.transferProcessorMaxPollRPS': 1000,
  'history.transferProcessorMaxPollHostRPS': 5000,
  'history.timerProcessorMaxPollRPS': 1000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  'history.visibilityProcessorMaxPollRPS': 1,
  'frontend.enableServerVersionCheck': false,
};

/**
 * Indexes of the list of workflows that are used: the list in its order, a workflow by its id, those that run, Schedules and what
 * they started, and the workflows of a version. The server's 39 others, on columns that anyone might search by, cost more to
 * write for each run than the rest of the list. A search by such a column still works, and reads the whole list.
 */
const USED_INDEXES = [
  'default_idx',
  'by_workflow_id',
  'by_status',
  'by_temporal_namespace_division',
  'by_temporal_scheduled_by_id',
  'by_temporal_worker_deployment_version',
];
/** Time in milliseconds for which the server may write before the indexes are dropped. */
const DATABASE_BUSY_MS = 10_000;

/**
 * @param {{ home: string, binary: string, port: number, uiPort: number | null, namespace: string, disposable?: boolean }} options
 *   `uiPort`: null for no web pages; `disposable`: what is stored outlives the process and not the machine
 * @returns {{ part: import('./process.mjs').Part, address: string, uiUrl: string | null }}
 */
export function temporalPart({ home, binary, port, uiPort, namespace, disposable = false }) {
  const directory = join(home, 'temporal');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const database = join(directory, 'temporal.db');
  const address = `127.0.0.1:${port}`;
  return {
    address,
    uiUrl: uiPort === null ? null : `http://127.0.0.1:${uiPort}`,
    part: {
      name: 'temporal',
      command: binary,
      args: [
        'server',
        'start-dev',
        '--ip=127.0.0.1',
        `--port=${port}`,
        // Its pages ask for no key and check no Host: a web page whose name leads here could do all that they can.
        uiPort === null ? '--headless' : `--ui-port=${uiPort}`,
        `--namespace=${namespace}`,
        `--db-filename=${database}`,
        '--sqlite-pragma=journal_mode=WAL',
        ...(disposable ? ['--sqlite-pragma=synchronous=OFF'] : []),
        '--log-level=warn',
        // Its HTTP API can't be switched off, asks for no key, and would obey any web page: it answers to no name that a
        // page could give it. SDKs and the web UI use gRPC, which pages can't speak.
        `--dynamic-config-value=frontend.httpAllowedHosts=${JSON.stringify([`${randomUUID()}.invalid`])}`,
        ...Object.entries(DYNAMIC_CONFIG).map(([key, value]) => `--dynamic-config-value=${key}=${value}`),
      ],
      marker: database,
      stopSignal: 'SIGTERM',
      stopGraceMs: 15_000,
      ready: async (child) => {
        await untilNamespaceServed(address, namespace, child);
        await dropUnusedIndexes(database);
      },
    },
  };
}

/**
 * The server makes its tables when it first starts on a file, and reads them again after this change.
 * @param {string} database
 */
async function dropUnusedIndexes(database) {
  const { DatabaseSync } = await import('node:sqlite');
  const connection = new DatabaseSync(database, { timeout: DATABASE_BUSY_MS });
  try {
    const unused = connection
      .prepare(
        `SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL
           AND name NOT IN (${USED_INDEXES.map(() => '?').join(', ')})`,
      )
      .all(...USED_INDEXES);
    for (const { name } of unused) connection.exec(`DROP INDEX IF EXISTS "${name}"`);
  } finally {
    connection.close();
  }
}

/**
 * @param {string} address
 * @param {string} namespace
 * @param {import('./process.mjs').RunningPart} child
 */
async function untilNamespaceServed(address, namespace, child) {
  const deadline = Date.now() + STARTUP_MS;
  while (!child.exit) {
    const problem = await describeNamespace(address, namespace).then(
      (status) => (status === '0' ? undefined : `status ${status}`),
      (error) => error.message,
    );
    if (!problem) return;
    if (Date.now() > deadline) throw new Error(`does not serve namespace ${namespace} after 60 s (${problem})`);
    await sleep(50);
  }
}

/**
 * One gRPC call by hand: the SDK's client takes half a second to load, which every start would pay.
 * @param {string} address
 * @param {string} namespace
 * @returns {Promise<string>} the gRPC status, '0' for success
 */
function describeNamespace(address, namespace) {
  const name = Buffer.from(namespace);
  const fieldOneString = 0x0a;
  const message = Buffer.concat([Buffer.from([fieldOneString, name.length]), name]);
  const prefix = Buffer.alloc(5); // one byte "not compressed", then the length
  prefix.writeUInt32BE(message.length, 1);

  return new Promise((resolve, reject) => {
    const session = connect(`http://${address}`);
    const fail = (/** @type {Error} */ error) => {
      session.destroy();
      reject(error);
    };
    session.once('error', fail);
    const call = session.request({
      ':method': 'POST',
      ':path': '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.setTimeout(2_000, () => fail(new Error('no answer')));
    call.once('error', fail);
    let status = '';
    // An error without a body has its status in the headers.
    call.on('response', (headers) => (status ||= String(headers['grpc-status'] ?? '')));
    call.on('trailers', (headers) => (status = String(headers['grpc-status'])));
    call.on('data', () => {});
    call.once('end', () => {
      session.close();
      resolve(status);
    });
    call.end(Buffer.concat([prefix, message]));
  });
}
