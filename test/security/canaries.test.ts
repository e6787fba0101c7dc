import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { ExportBucket } from '../support/export-bucket';
import { destinationBody, testStore } from '../support/exports';
import { type Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { memoryOf } from '../support/process-memory';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const canary = (): string => `canary-${randomBytes(12).toString('hex')}`;

/** A secret in each place that may hold one. */
const SECRETS = {
  adminKey: canary(),
  apiKey: canary(),
  internalKey: canary(),
  metricsToken: canary(),
  secretKey: randomBytes(32).toString('base64'),
  webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
  webhookHeader: canary(),
  databasePassword: canary(),
  unknownKey: canary(),
  userHeader: canary(),
  webhookPath: canary(),
  webhookToken: canary(),
  refusedWebhook: canary(),
  assistantKey: canary(),
  assistantContext: canary(),
  runToken: canary(),
  nestedKey: canary(),
  contextPassword: canary(),
  cronKey: canary(),
  failingRunKey: canary(),
  pushToken: canary(),
  pushCredentials: canary(),
  objectStoreSecret: testStore().secret_access_key,
};

/** Encodings in which a secret may be stored, sent or logged. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const spellings = [secret, bytes.toString('hex'), bytes.toString('base64'), encodeURIComponent(secret)];
  const decoded = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return decoded.length === 32 ? [...spellings, decoded.toString('hex'), decoded.toString('base64')] : spellings;
}

function found(text: string): string[] {
  return Object.entries(SECRETS)
    .filter(([, secret]) => spellingsOf(secret).some((spelling) => text.includes(spelling)))
    .map(([name]) => name);
}

/** Text of a Temporal history, with the bytes of its payloads as text. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .flatMap(([k, v]) => [k, textOf(v)])
      .join('\n');
  return String(value);
}

describe('secrets', () => {
  let gantry: Gantry;
  let database: TestDatabase;
  let config: TemporaryConfig;
  let receiver: WebhookReceiver;
  const bucket = new ExportBucket();
  const role = `canary_${randomBytes(6).toString('hex')}`;
  /** Answers by request. */
  const answers: [request: string, text: string][] = [];

  async function asRoot(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: process.env.GANTRY_TEST_DATABASE_URL });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    config = temporaryConfig({
      http: { configurable_headers: { includes: ['x-user-token'] } },
      webhooks: { headers: { 'x-hook': 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}' } },
    });
    database = await createTestDatabase();
    await asRoot(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD '${SECRETS.databasePassword}'`);
    const url = new URL(database.url);
    [url.username, url.password] = [role, SECRETS.databasePassword];
    gantry = await startGantry({
      graphProcesses: 1,
      graphs: config.path,
      database: { ...database, url: url.href },
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_TRACING: 'on',
        // Each run has a history to look into.
        GANTRY_WORKFLOW_AFTER_SECONDS: '0',
        GANTRY_LOG_LEVEL: 'trace',
        GANTRY_ADMIN_KEY: SECRETS.adminKey,
        GANTRY_API_KEY: SECRETS.apiKey,
        GANTRY_INTERNAL_KEY: SECRETS.internalKey,
        GANTRY_METRICS_TOKEN: SECRETS.metricsToken,
        GANTRY_SECRET_KEY: SECRETS.secretKey,
        GANTRY_WEBHOOK_SECRETS: SECRETS.webhookSecret,
        LG_WEBHOOK_TOKEN: SECRETS.webhookHeader,
        GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
        // Graphs of tests get it, and none of these writes there.
        GANTRY_TEST_LEDGER_URL: database.url,
      },
    });
  });

  afterAll(async () => {
    await gantry?.stop();
    await database?.drop();
    await asRoot(`DROP ROLE IF EXISTS ${role}`);
    await receiver?.stop();
    config?.remove();
  });

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(gantry.url + path, {
      method,
      headers: {
        'x-api-key': SECRETS.apiKey,
        'x-tenant-id': '00000000-0000-0000-0000-000000000000',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    answers.push([`${method} ${path}`, text + JSON.stringify([...response.headers])]);
    return { status: response.status, text };
  }
  async function json<T>(...request: Parameters<typeof send>): Promise<T> {
    const { status, text } = await send(...request);
    if (status >= 300) throw new Error(`${request[0]} ${request[1]}: ${status} ${text}\n${gantry.logs()}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  it('reach the places that need them', async () => {
    const webhook = receiver.url(`/services/${SECRETS.webhookPath}?token=${SECRETS.webhookToken}`);
    interface Assistant {
      assistant_id: string;
      config: { configurable: Record<string, string> };
    }
    const made = await json<Assistant>('POST', '/assistants', {
      graph_id: 'headers',
      config: { configurable: { 'x-model-api-key': SECRETS.assistantKey, 'x-model': 'small' } },
    });
    const { assistant_id } = made;
    expect(made.config.configurable).toEqual({ 'x-model-api-key': '***', 'x-model': 'small' });
    // Update as a form sends it: masked values come back unchanged.
    await json('PATCH', `/assistants/${assistant_id}`, { name: 'again', config: made.config });
    await json('POST', '/assistants', { graph_id: 'headers', context: { 'x-model-token': SECRETS.assistantContext } });

    const { thread_id } = await json<{ thread_id: string }>('POST', '/threads', {});
    const run = {
      assistant_id,
      input: {},
      webhook,
      config: {
        configurable: { 'x-run-token': SECRETS.runToken, 'x-providers': { openai: { apiKey: SECRETS.nestedKey } } },
      },
    };
    const { seen } = await json<{ seen: Record<string, number> }>('POST', `/threads/${thread_id}/runs/wait`, run, {
      'x-user-token': SECRETS.userHeader,
    });
    expect(seen).toMatchObject({
      'x-model-api-key': SECRETS.assistantKey.length,
      'x-run-token': SECRETS.runToken.length,
      'x-user-token': SECRETS.userHeader.length,
      'x-model': 'small'.length,
    });
    const inContext = { assistant_id: 'headers', input: {}, context: { 'x-db-password': SECRETS.contextPassword } };
    const streamed = await send('POST', '/runs/stream', { ...inContext, stream_mode: ['values', 'updates'] });
    expect(streamed.text).toContain(`"x-db-password":${SECRETS.contextPassword.length}`);
    const failing = { assistant_id: 'fail', input: {}, config: { configurable: { api_key: SECRETS.failingRunKey } } };
    await send('POST', '/runs/wait', failing);

    const cron = { assistant_id: 'headers', schedule: '0 0 1 1 *', webhook, input: {}, on_run_completed: 'keep' };
    const { cron_id } = await json<{ cron_id: string }>('POST', '/runs/crons', {
      ...cron,
      config: { configurable: { 'x-cron-api-key': SECRETS.cronKey } },
    });
    await json('PATCH', `/runs/crons/${cron_id}`, {
      metadata: { topic: 'news' },
      config: { configurable: { 'x-cron-api-key': '***' } },
    });
    const fired = await json<{ thread_id: string; run_id: string }>('POST', `/runs/crons/${cron_id}/trigger`);
    await waitFor('the run of the cron', async () => {
      const [thread] = await json<{ values: { seen?: Record<string, number> } | null }[]>('POST', '/threads/search', {
        metadata: { cron_id },
      });
      const values =
        thread?.values ??
        (await json<{ values: { seen?: Record<string, number> } }>('GET', `/threads/${fired.thread_id}/state`)).values;
      return values?.seen?.['x-cron-api-key'] === SECRETS.cronKey.length;
    });
    await waitFor('the webhooks', () => receiver.received.length >= 2);
    for (const { path, headers, body } of receiver.received) {
      expect(path).toContain(`${SECRETS.webhookPath}?token=${SECRETS.webhookToken}`);
      expect(headers['x-hook']).toBe(`Bearer ${SECRETS.webhookHeader}`);
      expect(found(body)).toEqual([]);
    }

    const rpc = <T>(method: string, params: object): Promise<{ result: T }> =>
      json('POST', '/a2a/desk', { jsonrpc: '2.0', id: 1, method, params }, { 'a2a-version': '1.0' });
    const say = (text: string, taskId?: string) =>
      rpc<{ task: { id: string } }>('SendMessage', {
        message: { messageId: text, role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) },
      });
    const taskId = (await say('Refund')).result.task.id;
    await rpc('CreateTaskPushNotificationConfig', {
      ...{ taskId, id: 'mine', url: receiver.url('/pushed'), token: SECRETS.pushToken },
      authentication: { scheme: 'Bearer', credentials: SECRETS.pushCredentials },
    });
    await rpc('GetTaskPushNotificationConfig', { taskId, id: 'mine' });
    await rpc('ListTaskPushNotificationConfigs', { taskId });
    await say('yes', taskId);
    const pushed = await waitFor('the notification', () => receiver.received.find(({ path }) => path === '/pushed'));
    expect(pushed.headers).toMatchObject({
      authorization: `Bearer ${SECRETS.pushCredentials}`,
      'x-a2a-notification-token': SECRETS.pushToken,
    });

    // Requests that show runs, threads, assistants, crons and deliveries.
    const runs = await json<{ run_id: string }[]>('GET', `/threads/${thread_id}/runs`);
    await json('GET', `/threads/${thread_id}/runs/${runs[0].run_id}`);
    await json('GET', `/threads/${thread_id}/runs/${runs[0].run_id}/join`);
    for (const path of ['', '/state', '/history']) await json('GET', `/threads/${thread_id}${path}`);
    await json('POST', '/threads/search', {});
    const extract = { key: 'config.configurable.x-model-api-key', model: 'config.configurable.x-model' };
    expect(await json('POST', '/threads/search', { ids: [thread_id], extract })).toMatchObject([
      { extracted: { key: '***', model: 'small' } },
    ]);
    await json('POST', '/assistants/search', {});
    await json('POST', `/assistants/${assistant_id}/versions`, {});
    await json('POST', '/runs/crons/search', {});
    const deliveries = await json<{ delivery_id: string }[]>('GET', '/webhooks/deliveries?limit=10');
    for (const { delivery_id } of deliveries) await json('GET', `/webhooks/deliveries/${delivery_id}`);
    // Requests that are refused, and those that report the state of the server.
    await send('POST', '/runs', { assistant_id, webhook: `http://169.254.169.254/${SECRETS.refusedWebhook}` });
    await send('POST', '/threads/search', {}, { 'x-api-key': SECRETS.unknownKey });
    await send('GET', '/metrics', undefined, { authorization: `Bearer ${SECRETS.metricsToken}` });
    await send('GET', '/info');
    await send('GET', '/openapi.json');
    const asOperator = { 'x-api-key': SECRETS.adminKey };
    for (const path of ['/admin/keys', '/admin/tenants', '/admin/audit?limit=1000']) {
      await json('GET', path, undefined, asOperator);
    }
  });

  it('are not in the traces, nor in exports of them', async () => {
    const project = await waitFor('the traces', async () => {
      const [session] = await json<{ id: string }[]>('GET', '/api/v1/sessions?name=headers');
      const rows = session && (await gantry.sql.query(`SELECT FROM trace_runs WHERE end_time IS NOT NULL`));
      return rows && rows.rows.length >= 5 && session.id;
    });
    const body = destinationBody();
    const destination = await json<{ id: string }>('POST', '/api/v1/bulk-exports/destinations', body);
    await json('GET', `/api/v1/bulk-exports/destinations/${destination.id}`);
    const { id } = await json<{ id: string }>('POST', '/api/v1/bulk-exports', {
      bulk_export_destination_id: destination.id,
      session_id: project,
      start_time: new Date(Date.now() - 86_400_000).toISOString(),
      end_time: new Date(Date.now() + 86_400_000).toISOString(),
    });
    await waitFor('the export', async () => {
      const { status } = await json<{ status: string }>('GET', `/api/v1/bulk-exports/${id}`);
      return status === 'Completed';
    });
    await json('GET', `/api/v1/bulk-exports/${id}/runs`);
    const { prefix } = body.config as { prefix: string };
    const keys = await bucket.keys(prefix);
    let rows = 0;
    for (const key of keys) {
      const bytes = await bucket.read(key);
      expect([key, found(bytes.toString('latin1'))]).toEqual([key, []]);
      if (!key.endsWith('.parquet')) continue;
      const file = new Uint8Array(bytes).buffer;
      const objects = await parquetReadObjects({ file, compressors });
      rows += objects.length;
      const text = JSON.stringify(objects, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
      expect([key, found(text)]).toEqual([key, []]);
    }
    expect(rows).toBeGreaterThan(0);
  });

  it('are in no answer and no stream', () => {
    expect(answers.length).toBeGreaterThan(30);
    const faults = answers.map(([request, text]) => [request, found(text)]).filter(([, names]) => names.length > 0);
    expect(faults).toEqual([]);
  });

  it('are in no table', async () => {
    const { rows: tables } = await gantry.sql.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(30);
    const faults: [string, string[]][] = [];
    let filled = 0;
    for (const { name } of tables) {
      const { rows } = await gantry.sql.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      if (rows.length > 0) filled += 1;
      const names = found(rows.map(({ row }) => row).join('\n'));
      if (names.length > 0) faults.push([name, names]);
    }
    expect(faults).toEqual([]);
    expect(filled).toBeGreaterThan(15);
  });

  it('are in no history, memo or search attribute of Temporal', async () => {
    let workflows = 0;
    for await (const each of gantry.temporal.workflow.list()) {
      workflows += 1;
      const history = await gantry.temporal.workflow.getHandle(each.workflowId, each.runId).fetchHistory();
      expect([each.workflowId, found(textOf(history) + textOf(each.raw))]).toEqual([each.workflowId, []]);
    }
    for await (const schedule of gantry.temporal.schedule.list()) {
      const description = await gantry.temporal.schedule.getHandle(schedule.scheduleId).describe();
      expect([schedule.scheduleId, found(textOf(description.raw))]).toEqual([schedule.scheduleId, []]);
    }
    expect(workflows).toBeGreaterThan(5);
  });

  it('are in no command line, and nowhere in the memory of a graph process', () => {
    const graphs = graphProcessesOf(gantry.worker.pid);
    expect(graphs.length).toBeGreaterThan(0);
    const lines = [gantry.worker.pid, ...graphs].map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    expect(found(lines.join('\n'))).toEqual([]);
    // Values that the graph gets and may keep.
    const given = new Set([
      ...['assistantKey', 'assistantContext', 'runToken', 'nestedKey', 'contextPassword', 'cronKey'],
      ...['userHeader', 'failingRunKey'],
    ]);
    const hidden = Object.entries(SECRETS).filter(([name]) => !given.has(name));
    const needles = hidden.flatMap(([name, secret]) =>
      [Buffer.from(secret), Buffer.from(secret, 'utf16le'), Buffer.from(secret.replace('whsec_', ''), 'base64')]
        .filter((bytes) => bytes.length >= 16)
        .map((bytes) => ({ name, bytes })),
    );
    for (const pid of graphs) {
      const names = new Set<string>();
      let hasPath = false;
      for (const block of memoryOf(pid)) {
        hasPath ||= block.includes(`PATH=${process.env.PATH}`);
        for (const { name, bytes } of needles) if (block.includes(bytes)) names.add(name);
      }
      expect([hasPath, [...names]]).toEqual([true, []]);
    }
  });

  it('are in no line of a log', () => {
    const logs = gantry.logs(10_000);
    expect(logs.split('\n').length).toBeGreaterThan(20);
    const faults = logs.split('\n').flatMap((line) => {
      const names = found(line);
      return names.length > 0 ? [[names, line.slice(0, 300)]] : [];
    });
    expect(faults).toEqual([]);
  });
});
