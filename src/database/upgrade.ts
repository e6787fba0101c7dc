import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { PostgresStore } from '@langchain/langgraph-checkpoint-postgres/store';
import { Pool } from 'pg';
import { createDataSource } from './data-source';
import type { LoginUrls } from './logins';
import { lockMigrations, recordLibrary } from './schema-version';
import { CHECKPOINT_SCHEMA } from './schemas';
import { isolateTenants } from './tenant-isolation';

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
      await dataSource.runMigrations();
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
