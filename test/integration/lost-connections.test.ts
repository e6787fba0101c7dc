import { Pool } from 'pg';
import { EncryptingClient } from '../../src/database/encrypting-client';
import { isLostConnection } from '../../src/database/lost-connections';
import { cutSilentConnections } from '../../src/database/silent-connections';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { PostgresProxy } from '../support/postgres-proxy';
import { waitFor } from '../support/wait-for';

const NAME = 'lost-connections';

describe('a pooled connection', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let direct: Pool;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    direct = new Pool({ connectionString: database.url, max: 1 });
  });

  beforeEach(() => {
    pool = new Pool({ connectionString: proxy.url, application_name: NAME, max: 1, Client: EncryptingClient });
    pool.on('error', () => undefined);
  });

  afterEach(() => pool.end());

  afterAll(async () => {
    await direct?.end();
    await proxy?.stop();
    await database?.drop();
  });

  it('is not lent once more after the server has ended its session, though it was given back before its socket closed', async () => {
    const client = await pool.connect();
    await expect(client.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
      code: '57P01',
    });
    client.release();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('whose server takes no writes is replaced, since a demoted server keeps its sessions', async () => {
    await pool.query('SET default_transaction_read_only = on');
    const error: unknown = await pool.query('CREATE TABLE written ()').catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: '25006' });
    expect(isLostConnection(error)).toBe(true);
    expect((await pool.query('SHOW default_transaction_read_only')).rows).toEqual([
      { default_transaction_read_only: 'off' },
    ]);
  });

  it('whose answers are lost is cut, and its statement fails as one that may have been executed', async () => {
    cutSilentConnections(pool, { connectionString: database.url }, 100);
    await pool.query('SELECT');
    proxy.silence(NAME);
    const error: unknown = await pool.query('SELECT 1').catch((cause: unknown) => cause);
    expect(isLostConnection(error)).toBe(true);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it.each([
    ['', false],
    [', also through a pooler, which gives clients other ids of their processes', true],
  ])('that waits for a long statement is left alone%s', async (_, isPooled) => {
    proxy.hidesProcesses = isPooled;
    let questions = 0;
    const login = {
      get connectionString(): string {
        questions += 1;
        return proxy.url;
      },
    };
    cutSilentConnections(pool, login, 100);
    await direct.query('SELECT pg_advisory_lock(1)');
    const waiting = pool.query<{ done: boolean }>('SELECT pg_advisory_lock(1) IS NOT NULL AS done');
    try {
      await waitFor('the third question, so that two have been answered', () => Promise.resolve(questions >= 3));
    } finally {
      proxy.hidesProcesses = false;
      await direct.query('SELECT pg_advisory_unlock(1)');
    }
    expect((await waiting).rows).toEqual([{ done: true }]);
  });
});
