import { Client } from 'pg';
import { isUpToDate } from '../../src/database/schema-version';
import { migrate } from '../../src/database/upgrade';
import { createTestDatabase, type TestDatabase } from '../support/database';

describe('whether a database is of this release', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('is it once it was migrated', async () => {
    expect(await isUpToDate(client)).toBe(true);
  });

  it('is it not while a migration is missing, and is again afterwards', async () => {
    await client.query('BEGIN');
    await client.query('DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    expect(await isUpToDate(client)).toBe(false);
    await client.query('ROLLBACK');
    expect(await isUpToDate(client)).toBe(true);
  });

  it('is it not when another release of LangGraph’s library has made its tables, until it is migrated', async () => {
    await client.query(`COMMENT ON SCHEMA langgraph IS 'langgraph-checkpoint-postgres 0.0.1'`);
    expect(await isUpToDate(client)).toBe(false);
    await migrate(database.url);
    expect(await isUpToDate(client)).toBe(true);
  });

  it('is it not when it is empty', async () => {
    await client.query('CREATE SCHEMA empty; SET search_path TO empty');
    expect(await isUpToDate(client)).toBe(false);
    await client.query('RESET search_path');
  });
});
