import { Client } from 'pg';
import { isPostgresUrl, POSTGRES_URL_RULE } from '../config/postgres-url';
import { GRAPH_LOGIN, REQUEST_LOGIN } from './logins';
import { isUpToDate, lockMigrations } from './schema-version';
import { isolateTenants } from './tenant-isolation';

/**
 * The entry point of the migrations. A database of this release, as at most starts, is left unchanged without loading the
 * libraries; only the tenant isolation is checked each time.
 */
async function main(): Promise<void> {
  const connectionString = process.env.DATABASE_URL;
  if (!connectionString) throw new Error('DATABASE_URL is missing: a postgres:// URL of the database to migrate');
  for (const name of ['DATABASE_URL', REQUEST_LOGIN.setting, GRAPH_LOGIN.setting]) {
    const url = process.env[name];
    if (url && !isPostgresUrl(url)) throw new Error(`${name}: ${POSTGRES_URL_RULE}`);
  }
  const logins = {
    requestsUrl: process.env[REQUEST_LOGIN.setting],
    graphsUrl: process.env[GRAPH_LOGIN.setting],
  };
  const client = new Client({ connectionString });
  // An error of the connection also rejects the statement in flight.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await lockMigrations(client);
    if (await isUpToDate(client)) return await isolateTenants(client, logins);
  } finally {
    await client.end();
  }
  const { migrate } = await import('./upgrade.js');
  await migrate(connectionString, logins);
}

main().catch((error: unknown) => {
  console.error(`Migration failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
