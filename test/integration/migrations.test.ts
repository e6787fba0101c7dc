import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { isUpToDate } from '../../src/database/schema-version';
import { migrate } from '../../src/database/upgrade';
import { createTestDatabase, type TestDatabase } from '../support/database';

const MIGRATIONS = join(__dirname, '..', '..', 'src', 'database', 'migrations');

describe('whether a database matches this release', () => {
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

  it('is decided by the timestamps of migrations, which are unique', () => {
    const timestamps = readdirSync(MIGRATIONS).map((file) => file.split('-')[0]);
    const shared = timestamps.filter((timestamp, at) => timestamps.indexOf(timestamp) !== at);
    // Two pairs are of releases that are in use.
    expect(shared).toEqual(['1700006030000', '1700006040000']);
  });

  it('is confirmed after the migrations', async () => {
    expect(await isUpToDate(client)).toBe(true);
  });

  it('is denied while a migration is missing, and confirmed again afterwards', async () => {
    await client.query('BEGIN');
    await client.query('DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    expect(await isUpToDate(client)).toBe(false);
    await client.query('ROLLBACK');
    expect(await isUpToDate(client)).toBe(true);
  });

  it('is denied when another release of LangGraph’s library has created its tables, until they are migrated', async () => {
    await client.query(`COMMENT ON SCHEMA langgraph IS 'langgraph-checkpoint-postgres 0.0.1'`);
    expect(await isUpToDate(client)).toBe(false);
    await migrate(database.url);
    expect(await isUpToDate(client)).toBe(true);
  });

  it('is denied when it is empty', async () => {
    await client.query('CREATE SCHEMA empty; SET search_path TO empty');
    expect(await isUpToDate(client)).toBe(false);
    await client.query('RESET search_path');
  });
});
