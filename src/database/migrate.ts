import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { PostgresStore } from '@langchain/langgraph-checkpoint-postgres/store';
import { Pool } from 'pg';
import { createDataSource } from './data-source';
import { CHECKPOINT_SCHEMA } from './schemas';
import { isolateTenants } from './tenant-isolation';

/** Any number will do as long as every Gantry uses the same: it serialises migrations of several starting replicas. */
const MIGRATION_LOCK = 4_201_976;

/**
 * Brings the database to this release: the migrations of LangGraph's store and checkpoint libraries, Gantry's, and the wall
 * between tenants.
 * Safe to run from several processes at once, and again.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  const lock = await pool.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    // Without an index of its own, which would need pgvector: Gantry keeps embeddings in a table that doesn't.
    const store = new PostgresStore({ connectionOptions: databaseUrl, schema: CHECKPOINT_SCHEMA });
    await store.setup().finally(() => store.stop());
    const dataSource = await createDataSource(databaseUrl).initialize();
    try {
      await dataSource.runMigrations();
    } finally {
      await dataSource.destroy();
    }
    await new PostgresSaver(pool, undefined, { schema: CHECKPOINT_SCHEMA }).setup();
    await isolateTenants(lock);
  } finally {
    // Ending the session frees the advisory lock as well.
    lock.release(true);
    await pool.end();
  }
}

if (require.main === module) {
  const url = process.env.DATABASE_URL;
  if (!url) {
    console.error('DATABASE_URL is missing: a postgres:// URL of the database to migrate');
    process.exit(1);
  }
  migrate(url).catch((error: unknown) => {
    console.error(`Migration failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
}
