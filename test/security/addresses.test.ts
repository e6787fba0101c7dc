import { generateKeyPairSync } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../src/auth/tenant';
import { ObjectStores } from '../../src/storage/object-stores';
import { Patience } from '../../src/storage/patience';
import { startTestApi, type TestApi } from '../support/api';
import { testConfig } from '../support/config';
import { ConnectionWatch } from '../support/connection-watch';
import { TEST_GRAPHS } from '../support/gantry';
import { INTERNAL_HOSTS } from '../support/internal-addresses';
import { describedOperations, sampleOf } from '../support/operations';

interface Answer {
  status: number;
  detail: string;
}

/** Requests of a caller that contain a given URL. */
type Feature = (api: TestApi, url: string) => Promise<Answer>;

async function send(
  api: TestApi,
  method: 'POST' | 'PATCH',
  path: string,
  payload: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await api.app.inject({ method, url: path, payload, headers });
  return { status: answer.statusCode, detail: answer.body };
}

const post = (api: TestApi, path: string, payload: object): Promise<Answer> => send(api, 'POST', path, payload);

/** A destination of exports, inserted into the table. */
const DESTINATION = uuidv7();

/** One cron without a webhook, whose calls are far in the future. */
const crons = new WeakMap<TestApi, string>();
async function cronOf(api: TestApi): Promise<string> {
  const made = crons.get(api);
  if (made !== undefined) return made;
  const { detail } = await post(api, '/runs/crons', { assistant_id: 'talk', schedule: '0 0 1 1 *' });
  const { cron_id } = JSON.parse(detail) as { cron_id: string };
  crons.set(api, cron_id);
  return cron_id;
}

/** A task without receivers. */
const tasks = new WeakMap<TestApi, string>();
async function taskOf(api: TestApi): Promise<string> {
  const made = tasks.get(api);
  if (made !== undefined) return made;
  const { detail } = await post(api, '/a2a/talk', rpc());
  const { id } = (JSON.parse(detail) as { result: { id: string } }).result;
  tasks.set(api, id);
  return id;
}

const rpc = (url?: string) => ({
  jsonrpc: '2.0',
  id: '1',
  method: 'message/send',
  params: {
    message: { kind: 'message', messageId: uuidv7(), role: 'user', parts: [{ kind: 'text', text: 'hello' }] },
    configuration: { ...(url !== undefined && { pushNotificationConfig: { url } }), blocking: false },
  },
});

const SERVICE_ACCOUNT = {
  type: 'service_account',
  client_email: 'a@b.iam.gserviceaccount.com',
  private_key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
};

/** Bodies of destinations for each kind of store, given an endpoint. */
const STORES: Record<string, (endpoint_url: string) => object> = {
  s3: (endpoint_url) => ({
    config: { bucket_name: 'bucket', prefix: 'x', region: 'us-east-1', endpoint_url },
    credentials: { access_key_id: 'a', secret_access_key: 'b' },
  }),
  gcs: (endpoint_url) => ({
    config: { bucket_name: 'bucket', prefix: 'x', endpoint_url },
    credentials: { service_account_key: SERVICE_ACCOUNT },
  }),
  azure_blob: (endpoint_url) => ({
    config: { account_name: 'account', container_name: 'bucket', prefix: 'x', endpoint_url },
    credentials: { account_key: Buffer.from('key').toString('base64') },
  }),
};

const FEATURES: [name: string, ask: Feature][] = [
  ['the webhook of a run', (api, webhook) => post(api, '/runs', { assistant_id: 'talk', webhook })],
  [
    'the webhook of a run of a batch',
    (api, webhook) => post(api, '/runs/batch', [{ assistant_id: 'talk', webhook }] as object),
  ],
  [
    'the webhook of a cron',
    (api, webhook) => post(api, '/runs/crons', { assistant_id: 'talk', schedule: '0 0 1 1 *', webhook }),
  ],
  [
    'the changed webhook of a cron',
    async (api, webhook) => send(api, 'PATCH', `/runs/crons/${await cronOf(api)}`, { webhook }),
  ],
  [
    'the webhook of an export',
    (api, webhook) =>
      post(api, '/api/v1/bulk-exports', {
        bulk_export_destination_id: DESTINATION,
        all_experiments: true,
        start_time: '2026-01-01T00:00:00Z',
        end_time: '2026-01-02T00:00:00Z',
        webhook,
      }),
  ],
  ['a push configuration of A2A', (api, url) => post(api, '/a2a/talk', rpc(url))],
  [
    'a push configuration that is added to a task',
    async (api, url) => {
      const params = { taskId: await taskOf(api), pushNotificationConfig: { url } };
      return post(api, '/a2a/talk', { jsonrpc: '2.0', id: '1', method: 'tasks/pushNotificationConfig/set', params });
    },
  ],
  [
    'a push configuration of A2A 1.0',
    async (api, url) => {
      const params = { taskId: await taskOf(api), id: 'own', url };
      const call = { jsonrpc: '2.0', id: '1', method: 'CreateTaskPushNotificationConfig', params };
      return send(api, 'POST', '/a2a/talk', call, { 'a2a-version': '1.0' });
    },
  ],
  [
    'a push configuration of A2A over HTTP+JSON',
    async (api, url) => {
      const path = `/a2a/talk/tasks/${await taskOf(api)}/pushNotificationConfigs`;
      return send(api, 'POST', path, { id: 'own', url }, { 'a2a-version': '1.0' });
    },
  ],
];

const STORE_FEATURES = Object.entries(STORES).map(([destination_type, made]): [name: string, ask: Feature] => [
  `the ${destination_type} store of an export`,
  (api, endpoint) =>
    post(api, '/api/v1/bulk-exports/destinations', {
      destination_type,
      display_name: 'Hostile',
      ...made(endpoint),
    }),
]);

describe('internal addresses that callers name', () => {
  let api: TestApi;
  let sink: Server;
  let port = 0;
  let accepted = 0;
  let connections: ConnectionWatch;

  beforeAll(async () => {
    sink = createServer((socket) => {
      accepted += 1;
      socket.destroy();
    });
    // Every address of this machine, IPv4 ones included.
    await new Promise<void>((resolve) => sink.listen(0, '::', resolve));
    port = (sink.address() as AddressInfo).port;
    connections = new ConnectionWatch(sink);
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, GANTRY_EXPORT_ALLOW_CIDRS: '' });
    const client = new Client({ connectionString: api.database.url });
    await client.connect();
    await client.query(
      `INSERT INTO export_destinations (tenant_id, destination_id, destination_type, display_name, config, credentials_keys)
       VALUES ($1, $2, 's3', 'None', '{"bucket_name": "bucket", "prefix": "x", "region": "us-east-1"}', '{}')`,
      [api.config.auth.defaultTenantId, DESTINATION],
    );
    await client.end();
  });

  beforeEach(() => {
    accepted = 0;
    connections.forget();
  });

  afterAll(async () => {
    connections?.stop();
    await api?.close();
    await new Promise((resolve) => sink.close(resolve));
  });

  const attempted = (): string[] => connections.to(port, 80, 443);

  it('are more than 200', () => expect(new Set(INTERNAL_HOSTS).size).toBeGreaterThan(200));

  it.each([...FEATURES, ...STORE_FEATURES])('are refused by %s, each of them, without a connection', async (_, ask) => {
    const passed: unknown[] = [];
    for (const host of INTERNAL_HOSTS) {
      for (const url of [`http://${host}:${port}/`, `https://${host}/`]) {
        const { status, detail } = await ask(api, url);
        const isRefused = (status >= 400 && status < 500) || (status === 200 && detail.includes('"error"'));
        if (!isRefused) passed.push([url, status, detail]);
      }
    }
    expect(passed).toEqual([]);
    expect([attempted(), accepted]).toEqual([[], 0]);
  });

  it('are refused as the webhook of every operation that takes one', async () => {
    const operations = (await describedOperations(api.url)).filter(({ body }) => body?.properties?.webhook);
    expect(operations.length).toBeGreaterThan(8);
    const { detail } = await post(api, '/threads', {});
    const { thread_id } = JSON.parse(detail) as { thread_id: string };
    for (const { method, path, body } of operations) {
      if (path === '/api/v1/bulk-exports') continue;
      const ids = { thread_id, cron_id: await cronOf(api) };
      const address = path.replace(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);
      const least = sampleOf(body!, { assistant_id: 'talk', schedule: '0 0 1 1 *' }) as object;
      const answer = await send(api, method as 'POST', address, { ...least, webhook: `http://127.0.0.1:${port}/` });
      expect([method, path, answer.status, answer.detail]).toEqual([
        ...[method, path, 422],
        expect.stringContaining('webhook'),
      ]);
    }
    expect([attempted(), accepted]).toEqual([[], 0]);
  });

  it.each(FEATURES)('do not include a public one, which %s accepts', async (_, ask) => {
    const { status, detail } = await ask(api, 'http://93.184.215.14/');
    expect([200, 201]).toContain(status);
    expect(detail).not.toContain('"error":{');
  });

  it.each(STORE_FEATURES)('are refused with the same message by %s, as is an unknown name', async (_, ask) => {
    const answers = new Set<string>();
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '[::127.0.0.1]',
      '169.254.169.254',
      '10.0.0.1',
      'localhost',
      'no.invalid',
    ]) {
      const { status, detail } = await ask(api, `http://${host}:${port}`);
      answers.add(`${status} ${detail}`);
    }
    expect([...answers]).toEqual([expect.stringMatching(/^400 .*Invalid endpoint/)]);
  });

  it.each(['x@127.0.0.1:80/', '127.0.0.1#', 'evil.example/', 'a.b', '..', ''])(
    'cannot be named through a region: %j',
    async (region) => {
      const answer = await post(api, '/api/v1/bulk-exports/destinations', {
        destination_type: 's3',
        display_name: 'Hostile',
        config: { bucket_name: 'bucket', prefix: 'x', region },
        credentials: { access_key_id: 'a', secret_access_key: 'b' },
      });
      expect([answer.status, answer.detail]).toEqual([422, expect.stringContaining('config.region')]);
    },
  );
});

describe('the server’s own credentials', () => {
  const ROLE = 'arn:aws:iam::123456789012:role/exports';
  const OWN = { AWS_ACCESS_KEY_ID: 'canary-of-the-operator', AWS_SECRET_ACCESS_KEY: 'x', AWS_SESSION_TOKEN: 'canary' };
  const usual = Object.keys(OWN).map((name) => [name, process.env[name]] as const);
  let received = '';
  let store: Server;
  let endpoint = '';
  let api: TestApi;

  beforeAll(async () => {
    store = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => (received += data.toString('latin1')));
      socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
    Object.assign(process.env, OWN);
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, GANTRY_EXPORT_AMBIENT_BUCKETS: 'listed-bucket' });
  });

  afterAll(async () => {
    for (const [name, value] of usual) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await api?.close();
    await new Promise((resolve) => store.close(resolve));
  });

  it.each([
    ['a bucket that is not listed', { bucket_name: 'other-bucket' }],
    ['a listed bucket at a foreign endpoint', { bucket_name: 'listed-bucket', foreign: true }],
    ['another bucket at a foreign endpoint', { bucket_name: 'other-bucket', foreign: true }],
  ])('are not used for %s', async (_, { bucket_name, foreign }: { bucket_name: string; foreign?: boolean }) => {
    const config = { bucket_name, prefix: 'x', region: 'us-east-1', ...(foreign && { endpoint_url: endpoint }) };
    const answer = await post(api, '/api/v1/bulk-exports/destinations', {
      destination_type: 's3',
      display_name: 'Hostile',
      config,
    });
    expect([answer.status, answer.detail]).toEqual([400, expect.stringContaining('No credentials')]);
    expect(received).toBe('');
  });

  it('are sent to no internal address as the token service, in any spelling of it', async () => {
    const connections = new ConnectionWatch(store);
    const { port } = new URL(endpoint);
    const passed: unknown[] = [];
    const judge = async (url: string, allowed = ''): Promise<string> => {
      const env = { GANTRY_EXPORT_AMBIENT_ROLES: ROLE, GANTRY_EXPORT_STS_ENDPOINT: url };
      try {
        const config = testConfig('postgres://nowhere', { ...env, GANTRY_EXPORT_ALLOW_CIDRS: allowed });
        const location = { bucket_name: 'bucket', prefix: '', region: 'eu-central-1', include_bucket_in_prefix: false };
        const opened = new ObjectStores(config).open(
          config.auth.defaultTenantId as TenantId,
          { type: 's3', location: { ...location, aws_role_arn: ROLE }, credentials: undefined },
          { ...Patience.question, maxAttempts: 1 },
        );
        await opened.head('x').finally(() => opened.close());
        return 'accepted';
      } catch (error) {
        return String(error);
      }
    };
    try {
      for (const host of INTERNAL_HOSTS) {
        for (const url of [`http://${host}:${port}/`, `https://${host}/`]) {
          const judgement = await judge(url);
          if (!/does not connect to it|GANTRY_EXPORT_STS_ENDPOINT/.test(judgement)) passed.push([url, judgement]);
        }
      }
      expect(passed).toEqual([]);
      expect([connections.to(Number(port), 80, 443), received]).toEqual([[], '']);
      await judge(endpoint, '127.0.0.0/8');
      expect(connections.to(Number(port))).toEqual([`127.0.0.1 ${port}`]);
    } finally {
      connections.stop();
    }
  });
});
