import { Pool } from 'pg';
import { EncryptingClient } from '../../src/database/encrypting-client';
import { createTestDatabase, type TestDatabase } from '../support/database';

describe('a connection whose session the server has ended', () => {
  let database: TestDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new Pool({ connectionString: database.url, max: 1, Client: EncryptingClient });
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  });

  it('is not lent once more, though it was given back before its socket closed', async () => {
    const client = await pool.connect();
    await expect(client.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
      code: '57P01',
    });
    client.release();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});
