import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type TestApi, startTestApi } from '../support/api';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { testStore } from '../support/exports';
import { startGantry } from '../support/gantry';
import { temporaryConfig } from '../support/langgraph-json';
import { freePort } from '../support/ports';
import { PostgresProxy } from '../support/postgres-proxy';
import { S3Proxy } from '../support/s3-proxy';

interface Finding {
  name: string;
  state: string;
  detail: string;
  remedy: string | null;
}

const API_KEY = `gtry_${'k'.repeat(43)}`;
const ADMIN_KEY = 'admin-key-of-the-findings-0123456789';
const TOKEN = 'token-of-the-metrics-0123456789';
/** A check that hangs ends long before that. */
const ANSWER_MS = 60_000;

/** Settings of the deployment's own bucket: that of the test run. */
function bucket(endpoint = testStore().endpoint): Record<string, string> {
  const store = testStore();
  return {
    GANTRY_S3_ENDPOINT: endpoint,
    GANTRY_S3_BUCKET: store.bucket,
    GANTRY_S3_REGION: store.region,
    GANTRY_S3_ACCESS_KEY_ID: store.access_key_id,
    GANTRY_S3_SECRET_ACCESS_KEY: store.secret_access_key,
  };
}

/** An api that reaches itself at its address, as one does that was started by `npm start`. */
async function startApi(env: Record<string, string> = {}, database?: TestDatabase): Promise<TestApi> {
  const port = String(await freePort());
  const own = { GANTRY_PORT: port, GANTRY_API_URL: `http://127.0.0.1:${port}`, ...bucket() };
  return startTestApi({ ...own, ...env }, database);
}

interface Findings {
  ok: boolean;
  byName: Record<string, Finding>;
  text: string;
}

async function findingsOf(api: { url: string }): Promise<Findings> {
  const response = await fetch(`${api.url}/system/findings`, { signal: AbortSignal.timeout(ANSWER_MS) });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  const { ok, findings } = JSON.parse(text) as { ok: boolean; findings: Finding[] };
  return { ok, byName: Object.fromEntries(findings.map((each) => [each.name, each])), text };
}

/** The findings, once all checks but these succeed: on a busy machine, others may be late at first. */
async function findingsBut(wrong: string[], api: { url: string }): Promise<Findings> {
  let found = await findingsOf(api);
  const isWrong = ({ name, state }: Finding): boolean => state !== 'ok' && !wrong.includes(name);
  // After the time, the assertion on what was found shows the difference.
  for (let tries = 0; tries < 10 && Object.values(found.byName).some(isWrong); tries += 1) {
    await sleep(2_000);
    found = await findingsOf(api);
  }
  return found;
}

describe('GET /system/findings', () => {
  const opened: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function api(...options: Parameters<typeof startApi>): Promise<TestApi> {
    const started = await startApi(...options);
    opened.push(() => started.close());
    return started;
  }

  it('says what is right with real services, and that no worker is there', async () => {
    const config = temporaryConfig({});
    opened.push(() => config.remove());
    const running = await api({ GANTRY_CONFIG: config.path });
    const { ok, byName, text } = await findingsBut(['workers'], running);
    const failed = Object.values(byName).filter(({ state }) => state !== 'ok');
    expect(failed).toEqual([
      { name: 'workers', state: 'failure', detail: 'none is polling', remedy: 'Start one: runs wait until then.' },
    ]);
    expect(ok).toBe(false);
    expect(byName).toMatchObject({
      config: { detail: expect.stringContaining(config.path) as string },
      ports: { detail: expect.stringMatching(/127\.0\.0\.1:\d+, for this machine only/) as string },
      database: { detail: expect.stringMatching(/^Postgres \d+/) as string },
      'database migrations': { detail: expect.stringMatching(/^all \d+ are applied$/) as string },
      temporal: { detail: expect.stringMatching(/^server \d.* namespace /) as string },
      s3: { detail: expect.stringContaining(`bucket ${testStore().bucket}`) as string },
      cors: { detail: 'pages of any origin can use the API' },
      auth: { detail: 'off: for this machine only' },
    });
    for (const secret of [testStore().secret_access_key, new URL(running.database.url).password]) {
      if (secret) expect(text).not.toContain(secret);
    }
  });

  it('fails the bucket alone when its gateway is not there, refuses, or hangs', async () => {
    const proxy = await new S3Proxy().start();
    opened.push(() => proxy.stop());
    const closed = await api(bucket(`http://127.0.0.1:${await freePort()}`));
    const expected = expect.stringContaining('GANTRY_S3_ENDPOINT') as string;
    const { byName } = await findingsBut(['workers', 's3'], closed);
    expect(byName.s3).toMatchObject({ state: 'failure', remedy: expected });
    expect(byName.s3.detail).toContain('ECONNREFUSED');
    expect([byName.database.state, byName.temporal.state, byName.cors.state]).toEqual(['ok', 'ok', 'ok']);

    proxy.fault = () => 'deny';
    expect((await findingsOf(await api(bucket(proxy.url)))).byName.s3).toMatchObject({
      state: 'failure',
      detail: expect.stringContaining('AccessDenied') as string,
    });
    proxy.fault = () => 'hang';
    const hanging = await findingsBut(['workers', 's3'], await api(bucket(proxy.url)));
    expect(hanging.byName.s3.state).toBe('failure');
    expect(hanging.byName.database.state).toBe('ok');
    proxy.fault = ({ method }) => (method === 'GET' ? 'deny' : undefined);
    expect((await findingsOf(await api(bucket(proxy.url)))).byName.s3).toMatchObject({
      state: 'failure',
      remedy: 'Grant s3:GetObject.',
    });
  });

  it('warns where there is no bucket', async () => {
    const { s3 } = (await findingsOf(await api({ GANTRY_S3_ENDPOINT: '', GANTRY_S3_BUCKET: '' }))).byName;
    expect(s3).toMatchObject({ state: 'warning', remedy: expect.stringContaining('GANTRY_S3_ENDPOINT') as string });
  });

  it('names migrations that are pending, and such as this release does not know', async () => {
    const running = await api();
    const client = new Client({ connectionString: running.database.url });
    await client.connect();
    const { rows } = await client.query<{ timestamp: string }>(
      'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING timestamp::text',
    );
    const pending = (await findingsOf(running)).byName['database migrations'];
    expect(pending).toMatchObject({ state: 'failure', remedy: expect.stringContaining('migration:run') as string });
    expect(pending.detail).toMatch(new RegExp(`^1 of \\d+ are not applied: ${rows[0].timestamp}-`));
    await client.query(
      `INSERT INTO migrations (timestamp, name) VALUES ($1, 'again'), (9999999999999, 'of a later release')`,
      [rows[0].timestamp],
    );
    await client.end();
    const other = await api({}, running.database);
    expect((await findingsOf(other)).byName['database migrations'].detail).toBe(
      'the database has 1 that this build does not know',
    );
  });

  it('answers in time when neither the database nor Temporal can be reached', async () => {
    const database = await createTestDatabase();
    const proxy = await PostgresProxy.start(database.url);
    opened.push(
      () => database.drop(),
      () => proxy.stop(),
    );
    // A process of its own: the client of Temporal still retries after it was closed.
    const running = await startGantry({
      workers: 0,
      database: { url: proxy.url, drop: () => Promise.resolve() },
      env: { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`, ...bucket() },
    });
    opened.push(() => running.stop());
    proxy.cut('gantry');
    const unreachable = ['database', 'database migrations', 'database clock', 'temporal', 'workers', 'run queue'];
    const { ok, byName } = await findingsBut(unreachable, running);
    expect(ok).toBe(false);
    for (const name of unreachable) {
      expect([name, byName[name].state, byName[name].remedy]).toEqual([name, 'failure', expect.any(String)]);
    }
    expect([byName.s3.state, byName.cors.state]).toEqual(['ok', 'ok']);
  });

  it('says which pages may use the API, and that a proxy or setting hides it from them', async () => {
    const config = temporaryConfig({ http: { cors: { allow_origins: ['https://chat.example'] } } });
    opened.push(() => config.remove());
    const running = await api({ GANTRY_CONFIG: config.path });
    expect((await findingsOf(running)).byName.cors.detail).toBe('pages of https://chat.example can use the API');
    const elsewhere = await api({ GANTRY_API_URL: `http://127.0.0.1:${await freePort()}` });
    const { byName } = await findingsOf(elsewhere);
    for (const name of ['api', 'api clock', 'cors']) {
      expect(byName[name]).toMatchObject({
        state: 'failure',
        remedy: expect.stringContaining('GANTRY_API_URL') as string,
      });
    }
  });

  it('warns when langgraph.json is another than the one that is served', async () => {
    const config = temporaryConfig({});
    opened.push(() => config.remove());
    const running = await api({ GANTRY_CONFIG: config.path });
    writeFileSync(config.path, '{"graphs": ');
    const { config: broken } = (await findingsOf(running)).byName;
    expect(broken).toMatchObject({ state: 'warning', detail: expect.stringContaining('not valid JSON') as string });
  });

  it('is for the operator where routes require credentials', async () => {
    const running = await api({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: API_KEY,
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_METRICS_TOKEN: TOKEN,
    });
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${running.url}/system/findings`, { headers })).status;
    const admin = async (path: string, body: object): Promise<Record<string, string>> => {
      const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };
      const answer = await fetch(`${running.url}/admin/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, string>;
    };
    const { tenant_id } = await admin('tenants', { name: 'another' });
    const { key } = await admin('keys', { tenant_id, name: 'of another tenant' });
    expect(key).toMatch(/^gtry_/);
    const refused: Record<string, string>[] = [
      {},
      { 'x-api-key': `${API_KEY}x` },
      { authorization: `Bearer ${TOKEN}x` },
    ];
    for (const headers of refused) expect([headers, await status(headers)]).toEqual([headers, 401]);
    expect(await status({ 'x-api-key': key })).toBe(403);
    const admitted: Record<string, string>[] = [
      { 'x-api-key': API_KEY },
      { 'x-api-key': ADMIN_KEY },
      { authorization: `Bearer ${TOKEN}` },
    ];
    for (const headers of admitted) expect([headers, await status(headers)]).toEqual([headers, 200]);
  });
});
