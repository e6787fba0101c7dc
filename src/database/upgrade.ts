import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { PostgresStore } from '@langchain/langgraph-checkpoint-postgres/store';
import { Pool } from 'pg';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { createDataSource } from './data-source';
import type { LoginUrls } from './logins';
import { lockMigrations, recordLibrary } from './schema-version';
import { CHECKPOINT_SCHEMA } from './schemas';
import { isLockTimeout } from './sql-errors';
import { isolateTenants } from './tenant-isolation';

/** Limit of the wait for a lock: more than `deadlock_timeout`, after which Postgres cancels a vacuum that holds it. */
const LOCK_TIMEOUT = '3s';
/** Pause before migrations are repeated, in which what waited for them continues. */
const PAUSE_MS = 3_000;

/**
 * Brings the database to this release: the migrations of LangGraph's store and checkpoint libraries, then Gantry's, which
 * may add to their tables, and the wall between tenants.
 * Safe to run from several processes at once, and again.
 */
export async function migrate(databaseUrl: string, logins: LoginUrls = {}): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  const lock = await pool.connect();
  try {
    await lockMigrations(lock);
    // Without an index of its own, which would need pgvector: Gantry keeps embeddings in a table that doesn't.
    const store = new PostgresStore({ connectionOptions: databaseUrl, schema: CHECKPOINT_SCHEMA });
    await store.setup().finally(() => store.stop());
    await new PostgresSaver(pool, undefined, { schema: CHECKPOINT_SCHEMA }).setup();
    const dataSource = await createDataSource(databaseUrl).initialize();
    try {
      await runMigrations(dataSource);
    } finally {
      await dataSource.destroy();
    }
    await recordLibrary(lock);
    await isolateTenants(lock, logins);
  } finally {
    // Ending the session frees the advisory lock as well.
    lock.release(true);
    await pool.end();
  }
}

/**
 * Executes Gantry's own migrations. Many lock a whole table, and all that uses it waits for a migration that waits for
 * it. So such a migration gives up soon, and is repeated: a backup that reads the table delays little else.
 */
async function runMigrations(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    // By the connection that has the setting, and each in a transaction: one that gives up has changed nothing.
    const migrations = new MigrationExecutor(dataSource, runner);
    migrations.transaction = dataSource.options.migrationsTransactionMode ?? 'each';
    for (;;) {
      try {
        await migrations.executePendingMigrations();
        return;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
      }
      console.log('A table is in use, by a backup for example: the migration is repeated');
      await sleep(PAUSE_MS);
    }
  } finally {
    await runner.release();
  }
}
