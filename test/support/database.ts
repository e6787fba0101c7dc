import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { migrate } from '../../src/database/upgrade';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

async function asAdmin(sql: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env.GANTRY_TEST_DATABASE_URL;
  if (!url) throw new Error('GANTRY_TEST_DATABASE_URL is missing: run the tests with `npm test`');
  return url;
}

/** A database of the test file's own on the real server, migrated to this release. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  await migrate(url.href);
  return { url: url.href, drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** What a dump and a restore make, in one step: another database with the same contents. Who is connected is cut off. */
export async function copyOf(original: TestDatabase): Promise<TestDatabase> {
  const from = new URL(original.url).pathname.slice(1);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`);
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${from}`);
  const url = new URL(original.url);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
