import { Client, Pool } from 'pg';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { startApiProcess, type ApiProcess } from '../support/api-process';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { PostgresProxy } from '../support/postgres-proxy';
import { waitFor } from '../support/wait-for';

/** Name of the connections of the api's own pool. */
const POOL = 'gantry';
const STORE = `${CHECKPOINT_SCHEMA}.store`;

describe('a request for which the database accepts no connection', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let api: ApiProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    api = await startApiProcess({ GANTRY_AUTH: 'off' }, { url: proxy.url, drop: () => Promise.resolve() });
  });

  afterAll(async () => {
    await api?.close();
    await proxy?.stop();
    await database?.drop();
  });

  const createThread = (): Promise<Response> =>
    fetch(`${api.url}/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });

  it.each([
    ['which refuses them', () => proxy.cut(POOL)],
    ['which leaves them without an answer', () => proxy.hold(POOL)],
  ])('is answered with 503 and Retry-After: one %s', async (_, disturb) => {
    expect((await createThread()).status).toBe(200);
    disturb();
    try {
      // A request may still use a connection whose end the api has not noticed.
      const response = await waitFor('the api to notice that its connections have ended', async () => {
        const answer = await createThread();
        const { code } = (await answer.clone().json()) as { code?: string };
        return code !== 'database_connection_lost' && answer;
      });
      expect(await response.json()).toEqual({
        detail: 'The database accepts no connection: try again',
        code: 'database_unavailable',
      });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    } finally {
      proxy.repair();
    }
    await waitFor('the api to answer again', async () => (await createThread()).status === 200);
  });

  it('is answered with 503 while the database takes no writes, and the api is not ready', async () => {
    const name = new URL(database.url).pathname.slice(1);
    // Its own session stays as it is.
    const admin = new Client({ connectionString: database.url });
    await admin.connect();
    const statusOf = async (path: string, init?: RequestInit): Promise<number> =>
      (await fetch(api.url + path, init)).status;
    const search = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    try {
      await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      await admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
        [name],
      );
      await waitFor('a read over a new connection', async () => (await statusOf('/threads/search', search)) === 200);
      const refused = await createThread();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      // Nothing has taken effect.
      expect(await refused.json()).toEqual({
        detail: 'The database takes no writes: try again',
        code: 'database_unavailable',
      });
      expect([await statusOf('/ready'), await statusOf('/ok?check_db=1')]).toEqual([503, 500]);
    } finally {
      await admin.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      await admin.end();
    }
    // Connections that were refused a write are replaced.
    await waitFor('the api to be ready', async () => (await statusOf('/ready')) === 200);
    await waitFor('the api to write', async () => (await createThread()).status === 200);
  });

  it('is cut once it has begun to answer, so that no client takes an empty result for that of its run', async () => {
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { thread_id: thread } = (await (await createThread()).json()) as { thread_id: string };
    // No worker starts it.
    const created = await post(`/threads/${thread}/runs`, { assistant_id: 'agent', input: {} });
    const { run_id: run } = (await created.json()) as { run_id: string };
    const answers = await Promise.all(
      ['join', 'stream'].map((way) => fetch(`${api.url}/threads/${thread}/runs/${run}/${way}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    proxy.cut(POOL);
    try {
      const read = await Promise.allSettled(answers.map((answer) => answer.text()));
      expect(read).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    } finally {
      proxy.repair();
    }
    await waitFor('the api to answer again', async () => (await createThread()).status === 200);
  });

  describe('or whose connection is lost before the answer', () => {
    const putItem = (): Promise<Response> =>
      fetch(`${api.url}/store/items`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ namespace: ['a'], key: 'k', value: {} }),
      });

    it.each([
      ['an administrator ends it', 'threads', createThread, (direct: Pool, pid: number) => endSession(direct, pid)],
      ['it breaks', 'threads', createThread, () => proxy.reset(POOL)],
      ['that of the store is ended', 'store', putItem, (direct: Pool, pid: number) => endSession(direct, pid)],
      ['that of the store breaks', 'store', putItem, () => proxy.reset(POOL)],
    ])('is answered with 503, since it may have taken effect: %s', async (_, table, ask, disturb) => {
      const direct = new Pool({ connectionString: database.url });
      const lock = await direct.connect();
      try {
        await lock.query(`BEGIN; LOCK TABLE ${table === 'store' ? STORE : table} IN ACCESS EXCLUSIVE MODE`);
        const asked = ask();
        const pid = await waitFor('the statement that waits for the lock', async () => {
          const { rows } = await direct.query<{ pid: number }>(
            `SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE $1 AND wait_event_type = 'Lock'`,
            [`${POOL} %`],
          );
          return rows.length > 0 && rows[0].pid;
        });
        await disturb(direct, pid);
        const response = await asked;
        expect([response.status, await response.json()]).toEqual([
          503,
          {
            detail:
              'The connection to the database was lost: look whether the request took effect before you repeat it',
            code: 'database_connection_lost',
          },
        ]);
      } finally {
        await lock.query('ROLLBACK');
        lock.release();
        await direct.end();
      }
      // Other connections were reset too, and the api may not have noticed each one yet.
      await waitFor('the api to answer again', async () => (await ask()).ok);
    });
  });
});

async function endSession(direct: Pool, pid: number): Promise<void> {
  await direct.query('SELECT pg_terminate_backend($1)', [pid]);
}
