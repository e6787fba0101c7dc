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

/** Runs a statement and resolves to its rows. */
export type Query = <Row>(sql: string, parameters?: unknown[]) => Promise<Row[]>;

export interface MigrationState {
  /** Number of migrations of this release, that of its library included. */
  total: number;
  /** Names of those that are not recorded as applied. */
  pending: string[];
  /** Number of applied ones that this release doesn't have. */
  unknown: number;
}

/** Compares the migrations of this release and of its library with those that are recorded in the database. */
export async function compareMigrations(query: Query): Promise<MigrationState> {
  const [{ madeBy, isBegun }] = await query<{ madeBy: string | null; isBegun: boolean }>(
    `SELECT obj_description(to_regnamespace($1), 'pg_namespace') AS "madeBy", to_regclass('migrations') IS NOT NULL AS "isBegun"`,
    [CHECKPOINT_SCHEMA],
  );
  const recorded = isBegun
    ? await query<{ timestamp: string }>('SELECT timestamp::text AS timestamp FROM migrations')
    : [];
  const applied = new Set(recorded.map(({ timestamp }) => timestamp));
  const own = new Map(
    readdirSync(MIGRATIONS).flatMap((file) => {
      const [, name, timestamp] = /^((\d+)-.*)\.[jt]s$/.exec(file) ?? [];
      return name === undefined ? [] : [[timestamp, name] as const];
    }),
  );
  const pending = [...own].filter(([timestamp]) => !applied.has(timestamp)).map(([, name]) => name);
  return {
    total: own.size + 1,
    pending: [...pending, ...(madeBy === LIBRARY ? [] : [LIBRARY])],
    unknown: [...applied].filter((timestamp) => !own.has(timestamp)).length,
  };
}

/** Whether every migration of this release and of its library is applied, as far as was recorded. */
export async function isUpToDate(client: ClientBase): Promise<boolean> {
  const query: Query = async <Row>(sql: string, parameters?: unknown[]) =>
    (await client.query(sql, parameters)).rows as Row[];
  return (await compareMigrations(query)).pending.length === 0;
}

/** Records the library's version; called when the library's own migrations are done. */
export async function recordLibrary(client: ClientBase): Promise<void> {
  await client.query(`COMMENT ON SCHEMA ${CHECKPOINT_SCHEMA} IS '${LIBRARY}'`);
}
