import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version as libraryVersion } from '@langchain/langgraph-checkpoint-postgres/package.json';
import { Client } from 'pg';
import { GRAPH_LOGIN, type LoginKind, readLogin, REQUEST_LOGIN } from '../../src/database/logins';
import { isolateTenants } from '../../src/database/tenant-isolation';
import { migrate } from '../../src/database/upgrade';

/** Inputs that determine the schema of a migrated database. */
const DATABASE_SOURCES = join(__dirname, '..', '..', 'src', 'database');

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

/** Waits until a database has no connections, for a second at the most. */
async function closedConnections(admin: Client, name: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { rowCount } = await admin.query('SELECT FROM pg_stat_activity WHERE datname = $1', [name]);
    if (rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
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
    await closedConnections(client, name);
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

const newName = (): string => `test_${randomBytes(6).toString('hex')}`;

function urlOf(database: string): string {
  return Object.assign(new URL(serverUrl()), { pathname: `/${database}` }).href;
}

function serverUrl(): string {
  const url = process.env.GANTRY_TEST_DATABASE_URL;
  if (!url) throw new Error('GANTRY_TEST_DATABASE_URL is missing: run the tests with `npm test`');
  return url;
}

/** Name of the migrated database that others are copied from: another one for each state of the migrations. */
function templateName(): string {
  const hash = createHash('sha256').update(libraryVersion);
  const files = readdirSync(DATABASE_SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  for (const path of files.sort()) hash.update(`${path}\0`).update(readFileSync(join(DATABASE_SOURCES, path)));
  return `template_${hash.digest('hex').slice(0, 16)}`;
}

/** Makes the template unless it is there; one process at a time does. */
async function ensureTemplate(): Promise<string> {
  const name = templateName();
  const admin = new Client({ connectionString: serverUrl() });
  await admin.connect();
  try {
    await admin.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await makeTemplate(admin, name);
    return name;
  } finally {
    // The end of the session releases the lock.
    await admin.end();
  }
}

/** Migrates a database and takes its logins away: roles belong to the server, and each copy makes its own. */
async function makeTemplate(admin: Client, name: string): Promise<void> {
  const draft = `${name}_draft`;
  await admin.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${draft}`);
  await migrate(urlOf(draft));
  const owner = new Client({ connectionString: urlOf(draft) });
  await owner.connect();
  for (const role of await rolesOf(owner)) await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  for (const { table } of LOGINS) await owner.query(`DELETE FROM ${table}`);
  await owner.end();
  await closedConnections(admin, draft);
  await admin.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
}

const LOGINS = [REQUEST_LOGIN, GRAPH_LOGIN];

async function rolesOf(owner: Client): Promise<string[]> {
  const logins = await Promise.all(LOGINS.map((kind) => readLogin(owner, kind)));
  return logins.map(({ role }) => role);
}

let template: Promise<string> | undefined;

/** A database of the test file's own on the real server, migrated to this release. */
export async function createTestDatabase(): Promise<TestDatabase> {
  template ??= ensureTemplate();
  const name = newName();
  // Copies files: the other strategy writes each page into the log, which takes several times as long.
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${await template} STRATEGY FILE_COPY`);
  const url = urlOf(name);
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await isolateTenants(owner);
  const roles = await rolesOf(owner);
  await owner.end();
  const drop = async (): Promise<void> => {
    await dropDatabase(name);
    // A copy of the database has the same roles, and keeps them.
    for (const role of roles) await asAdmin(`DROP ROLE IF EXISTS ${role}`).catch(() => undefined);
  };
  return { url, drop };
}

/** URL with the login role of requests. */
export const requestsUrlOf = (databaseUrl: string): Promise<string> => loginUrlOf(databaseUrl, REQUEST_LOGIN);
/** URL with the login role of graph processes. */
export const graphsUrlOf = (databaseUrl: string): Promise<string> => loginUrlOf(databaseUrl, GRAPH_LOGIN);

async function loginUrlOf(databaseUrl: string, kind: LoginKind): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { role, password } = await readLogin(client, kind);
    return Object.assign(new URL(databaseUrl), { username: role, password }).href;
  } finally {
    await client.end();
  }
}

/** Copies the database in one step, as a dump and a restore would. Open connections are closed. */
export async function copyOf(original: TestDatabase): Promise<TestDatabase> {
  const from = new URL(original.url).pathname.slice(1);
  const name = newName();
  await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`);
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${from}`);
  return { url: urlOf(name), drop: () => dropDatabase(name) };
}
