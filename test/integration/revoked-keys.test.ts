import { once } from 'node:events';
import { join } from 'node:path';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { CreatedApiKey } from '../../src/auth/admin.schemas';
import { issueCallToken } from '../../src/auth/call-token';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import {
  type Credentials,
  endOf,
  LONG_ANSWERS,
  longRequest,
  type LongRequest,
  newThread,
  openOn,
  sendLong,
} from '../support/long-answers';
import { createNamespace, type TestNamespace } from '../support/temporal';
import { refusalOf, socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';
const CUSTOM_AUTH = join(__dirname, '..', 'support', 'auth', 'langgraph.json');
const as = (key: string): Credentials => ({ 'x-api-key': key });

async function createKey(api: TestApi, expiresAt?: Date): Promise<CreatedApiKey> {
  const body = { tenant_id: api.config.auth.defaultTenantId, name: 'one', expires_at: expiresAt?.toISOString() };
  const response = await sendLong(api, as(ADMIN_KEY), { path: '/admin/keys', body });
  expect(response.status).toBe(200);
  return (await response.json()) as CreatedApiKey;
}

async function revoke(api: TestApi, { key_id }: CreatedApiKey): Promise<void> {
  const headers = { 'x-api-key': ADMIN_KEY };
  const response = await fetch(`${api.url}/admin/keys/${key_id}`, { method: 'DELETE', headers });
  expect(response.status).toBe(200);
}

describe('a connection with an API key that is revoked', () => {
  let namespace: TestNamespace;
  /** The replica on which keys are revoked. */
  let first: TestApi;
  /** The replica on which streams are open. */
  let second: TestApi;
  let database: DataSource;
  let revoked: CreatedApiKey;
  let other: CreatedApiKey;
  /** Makes the clients go, at the end of each test at the latest. */
  let leaving: AbortController;

  beforeAll(async () => {
    namespace = await createNamespace();
    const env = {
      GANTRY_AUTH: 'on',
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
      TEMPORAL_NAMESPACE: namespace.name,
    };
    first = await startTestApi(env);
    second = await startTestApi(env, first.database);
    database = first.app.get<DataSource>(getDataSourceToken());
  });

  beforeEach(async () => {
    revoked = await createKey(first);
    other = await createKey(first);
    leaving = new AbortController();
  });

  afterEach(async () => {
    leaving.abort();
    await waitFor('all connections to close', () => openOn(second) === 0);
  });

  afterAll(async () => {
    await second?.close();
    await first?.close();
    await namespace?.drop();
  });

  /** Statuses of the runs that were created since, oldest first. */
  const runsSince = (since: Date): Promise<{ run_id: string; status: string }[]> =>
    database.query('SELECT run_id, status FROM runs WHERE created_at >= $1 ORDER BY created_at', [since]);

  it.each(LONG_ANSWERS)('is closed on every replica, and no run of it is cancelled: %s', async (_name, kind) => {
    const since = new Date();
    const toBreak = await longRequest(second, as(revoked.key), kind);
    const toStay = await longRequest(second, as(other.key), kind);
    const makesRuns = kind.run !== undefined;
    const runs = (count: number) =>
      waitFor('the runs', async () => {
        const made = await runsSince(since);
        return made.length === count && made;
      });

    const broken = endOf(sendLong(second, as(revoked.key), toBreak, leaving.signal));
    if (makesRuns) await runs(1);
    void endOf(sendLong(second, as(other.key), toStay, leaving.signal));
    if (makesRuns) await runs(2);
    await waitFor('both', () => openOn(second) === 2);

    await revoke(first, revoked);
    expect(await broken).toBe('broken off');
    await waitFor('one to be left', () => openOn(second) === 1);
    expect((await sendLong(second, as(revoked.key), toBreak)).status).toBe(401);

    leaving.abort();
    if (!makesRuns) return;
    const [kept, left] = await waitFor('the run whose client left', async () => {
      const made = await runsSince(since);
      return (kind.run === 'kept' || made[1].status === 'interrupted') && made;
    });
    expect([kept.status, left.status]).toEqual(['pending', kind.run === 'kept' ? 'pending' : 'interrupted']);
  });

  it('is closed by a code where it is a WebSocket, and other sockets stay open', async () => {
    const thread = await newThread(second, as(other.key));
    const url = socketUrl(second.url, thread);
    const options = ({ key }: CreatedApiKey) => ({ headers: as(key) });
    const sockets = await Promise.all([revoked, revoked, other].map((key) => ThreadSocket.open(url, options(key))));
    const [closed, silent, stays] = sockets;
    for (const socket of sockets) await socket.subscribe({ channels: ['values'] });
    // It doesn't answer the end of its socket.
    silent.socket.pause();
    const end = once(closed.socket, 'close') as Promise<[code: number, reason: Buffer]>;
    await revoke(first, revoked);
    const [code, reason] = await end;
    expect([code, reason.toString()]).toEqual([4401, expect.stringContaining('revoked')]);
    await waitFor('one to be left', () => openOn(second) === 1);
    expect((await refusalOf(url, options(revoked))).status).toBe(401);
    expect(await stays.command('state.get')).toMatchObject({ type: 'success' });
    await stays.close();
    silent.socket.terminate();
  });

  it('is closed without a notification too: when the key expires, and when the notification was lost', async () => {
    const thread = await newThread(second, as(other.key));
    const stream: LongRequest = { path: `/threads/${thread}/stream`, method: 'GET' };
    const expiring = await createKey(first, new Date(Date.now() + 15_000));
    const ends = [expiring, revoked].map(({ key }) => endOf(sendLong(second, as(key), stream, leaving.signal)));
    void endOf(sendLong(second, as(other.key), stream, leaving.signal));
    await waitFor('all', () => openOn(second) === 3);
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE api_key_id = $1', [revoked.key_id]);
    expect(await Promise.all(ends)).toEqual(['broken off', 'broken off']);
    expect(openOn(second)).toBe(1);
  });
});

it('connections are closed with a custom auth as well, and calls of the deployment itself are not', async () => {
  const api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_ADMIN_KEY: ADMIN_KEY, GANTRY_CONFIG: CUSTOM_AUTH });
  try {
    const key = await createKey(api);
    const token = issueCallToken(api.config.secrets.key, api.config.auth.defaultTenantId, new Date());
    const open = (apiKey: string): Promise<ThreadSocket> => {
      const headers = { 'x-api-key': apiKey, 'x-auth-scheme': 'langsmith' };
      return ThreadSocket.open(socketUrl(api.url, uuidv7()), { headers });
    };
    const [closed, stays] = [await open(key.key), await open(token)];
    const end = once(closed.socket, 'close');
    await revoke(api, key);
    expect((await end)[0]).toBe(4401);
    await waitFor('one to be left', () => openOn(api) === 1);
    expect(stays.isOpen).toBe(true);
    await stays.close();
  } finally {
    await api.close();
  }
});
