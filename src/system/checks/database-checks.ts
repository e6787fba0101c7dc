import { compareMigrations, type Query } from '../../database/schema-version';
import { type Check, compareClock, Problem } from './finding';

const OLDEST_POSTGRES = 140_000;
const FEW_CONNECTIONS = 100;

/** Checks of the database. `query` resolves to the rows of a statement. */
export function databaseChecks(query: Query): Check[] {
  const remedy = 'Check DATABASE_URL, and that the server runs and lets this user in.';
  return [
    { name: 'database', look: () => checkServer(query), remedy },
    { name: 'database migrations', look: () => checkMigrations(query), remedy },
    { name: 'database clock', look: () => checkClock(query), remedy },
  ];
}

async function checkServer(query: Query): Promise<string> {
  const [{ version, number, connections, readOnly }] = await query<{
    version: string;
    number: number;
    connections: number;
    readOnly: boolean;
  }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            current_setting('max_connections')::int AS connections, current_setting('transaction_read_only') = 'on' AS "readOnly"`,
  );
  if (number < OLDEST_POSTGRES) throw new Problem(`Postgres ${version}`, 'Gantry needs Postgres 14 or later.');
  if (readOnly) {
    throw new Problem(
      `Postgres ${version} takes no writes`,
      'It is a standby, or was made read-only: its disk may be full.',
    );
  }
  const detail = `Postgres ${version}, max_connections ${connections}`;
  if (connections < FEW_CONNECTIONS) throw new Problem(detail, 'Raise max_connections to 100 or more.', 'warning');
  return detail;
}

async function checkMigrations(query: Query): Promise<string> {
  const { total, pending, unknown } = await compareMigrations(query);
  if (pending.length > 0) {
    throw new Problem(
      `${pending.length} of ${total} are not applied: ${pending.join(', ')}`,
      'Restart npm start, or run npm run migration:run with DATABASE_URL set.',
    );
  }
  if (unknown > 0) {
    throw new Problem(
      `the database has ${unknown} that this build does not know`,
      'A newer Gantry has used it: run that version.',
    );
  }
  return `all ${total} are applied`;
}

async function checkClock(query: Query): Promise<string> {
  const askedAt = Date.now();
  const [{ now }] = await query<{ now: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
  return compareClock('the database', Number(now), askedAt);
}
