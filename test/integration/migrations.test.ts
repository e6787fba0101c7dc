import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { isUpToDate } from '../../src/database/schema-version';
import { migrate } from '../../src/database/upgrade';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { waitFor } from '../support/wait-for';

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

describe('a migration of a table that is being read', () => {
  let database: TestDatabase;
  let reader: Client;
  let other: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    [reader, other] = [1, 2].map(() => new Client({ connectionString: database.url }));
    await reader.connect();
    await other.connect();
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  it('is repeated until the reader has ended, and keeps others waiting only briefly', async () => {
    // As before that migration, which locks the table.
    await other.query('ALTER TABLE bulk_exports DROP CONSTRAINT bulk_exports_publishing');
    await other.query(`DELETE FROM migrations WHERE name = 'EndsOfExports1700006760000'`);
    await reader.query('BEGIN');
    await reader.query('SELECT FROM bulk_exports');
    const migrated = migrate(database.url);
    try {
      await waitFor('the migration to wait for the table', async () => {
        const { rowCount } = await other.query(
          `SELECT FROM pg_locks WHERE NOT granted AND relation = 'bulk_exports'::regclass
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        );
        return rowCount === 1;
      });
      await other.query(`SET statement_timeout = '30s'`);
      await other.query('SELECT FROM bulk_exports');
    } finally {
      // Ends its transaction as well.
      await reader.end();
      await migrated;
    }
    expect(await isUpToDate(other)).toBe(true);
  });
});
