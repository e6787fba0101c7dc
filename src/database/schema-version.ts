import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { version } from '@langchain/langgraph-checkpoint-postgres/package.json';
import { CHECKPOINT_SCHEMA } from './schemas';

/** The number is arbitrary, but must be the same in every Gantry. */
const MIGRATION_LOCK = 4_201_976;

/** Each file's name begins with the timestamp under which its migration is recorded. */
const MIGRATIONS = join(__dirname, 'migrations');

/** Version of LangGraph's library that created its tables, stored as the comment on their schema. */
const LIBRARY = `langgraph-checkpoint-postgres ${version}`;

/** Only one process at a time checks and changes the schema; the lock ends with the session. */
export async function lockMigrations(client: ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
}

/** Whether every migration of this release and of its library is applied, as far as was recorded. */
export async function isUpToDate(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ madeBy: string | null; isBegun: boolean }>(
    `SELECT obj_description(to_regnamespace($1), 'pg_namespace') AS "madeBy", to_regclass('migrations') IS NOT NULL AS "isBegun"`,
    [CHECKPOINT_SCHEMA],
  );
  if (rows[0].madeBy !== LIBRARY || !rows[0].isBegun) return false;
  const recorded = await client.query<{ timestamp: string }>('SELECT timestamp::text FROM migrations');
  const applied = new Set(recorded.rows.map(({ timestamp }) => timestamp));
  return readdirSync(MIGRATIONS)
    .map((file) => /^(\d+)-.*\.[jt]s$/.exec(file)?.[1])
    .every((timestamp) => timestamp === undefined || applied.has(timestamp));
}

/** Records the library's version; called when the library's own migrations are done. */
export async function recordLibrary(client: ClientBase): Promise<void> {
  await client.query(`COMMENT ON SCHEMA ${CHECKPOINT_SCHEMA} IS '${LIBRARY}'`);
}
