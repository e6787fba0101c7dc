import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { readRequestLogin } from '../../src/database/request-login';
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

/**
 * Drops a database once its last connections are closed, or a second later all the same. A pool of pg's counts as ended while
 * its connections still close: one that is cut off in that moment reports an error that nothing listens to any more.
 */
async function dropDatabase(name: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const { rowCount } = await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name]);
      if (rowCount === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
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
  const role = new URL(await requestsUrlOf(url.href)).username;
  const drop = async (): Promise<void> => {
    await dropDatabase(name);
    // A copy of the database has the same role, and keeps it.
    await asAdmin(`DROP ROLE IF EXISTS ${role}`).catch(() => undefined);
  };
  return { url: url.href, drop };
}

/** Of the role under which the statements of requests log in. */
export async function requestsUrlOf(databaseUrl: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { role, password } = await readRequestLogin(client);
    return Object.assign(new URL(databaseUrl), { username: role, password }).href;
  } finally {
    await client.end();
  }
}

/** What a dump and a restore make, in one step: another database with the same contents. Who is connected is cut off. */
export async function copyOf(original: TestDatabase): Promise<TestDatabase> {
  const from = new URL(original.url).pathname.slice(1);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`);
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${from}`);
  const url = new URL(original.url);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => dropDatabase(name) };
}
