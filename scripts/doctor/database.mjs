import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../services/paths.mjs';
import { describeSkew, Finding, TIMEOUT_MS } from './finding.mjs';

/** @param {string} url */
export async function connectDatabase(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', () => {}); // the failing call reports it as well
  try {
    await client.connect();
  } catch (error) {
    const { hostname, port, pathname } = new URL(url);
    const where = `${hostname}:${port || 5432}${pathname}`;
    throw new Finding(
      `no connection to ${where} (${error.code ?? 'error'}: ${error.message})`,
      'check DATABASE_URL, and that the server runs and lets this user in',
    );
  }
  return client;
}

/** @param {import('pg').Client} client */
export async function checkDatabase(client) {
  const { rows } = await client.query(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            current_setting('max_connections')::int AS connections`,
  );
  const [{ version, number, connections }] = rows;
  if (number < 140_000) throw new Finding(`Postgres ${version}`, 'Gantry needs Postgres 14 or later');
  if (connections < 100) {
    throw new Finding(`Postgres ${version}, max_connections ${connections}`, 'raise it to 100 or more', 'WARN');
  }
  return `Postgres ${version}, max_connections ${connections}`;
}

/** @param {import('pg').Client} client */
export async function checkDatabaseClock(client) {
  const askedAt = Date.now();
  const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
  return describeSkew('the database', Number(rows[0].now), askedAt);
}

/** @param {import('pg').Client} client */
export async function checkMigrations(client) {
  const directory = join(ROOT, 'dist', 'src', 'database', 'migrations');
  if (!existsSync(directory)) throw new Finding('Gantry is not built', 'npm run build', 'WARN');
  const wanted = readdirSync(directory)
    .filter((name) => /^\d+-.*\.js$/.test(name))
    .map((name) => Number.parseInt(name, 10));
  const { rows: tables } = await client.query(`SELECT to_regclass('migrations') AS name`);
  const applied = tables[0].name ? (await client.query('SELECT timestamp FROM migrations')).rows : [];
  const known = new Set(applied.map(({ timestamp }) => Number(timestamp)));
  const missing = wanted.filter((timestamp) => !known.has(timestamp));
  if (missing.length > 0) {
    throw new Finding(
      `${missing.length} of ${wanted.length} migrations are not applied`,
      'restart npm start, or run npm run migration:run with DATABASE_URL set',
    );
  }
  if (known.size > wanted.length) {
    throw new Finding(
      `the database has ${known.size - wanted.length} migrations that this build does not know`,
      'a newer Gantry has used it: build that version',
    );
  }
  return `all ${wanted.length} are applied`;
}
