import { MigrationInterface, QueryRunner } from 'typeorm';
import { CHECKPOINT_SCHEMA } from '../schemas';

const REFERRING = ['runs', 'a2a_tasks'];
const CHECKPOINT_TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'];

/** A thread's id is its tenant's own: what names a thread names its tenant too. */
export class TenantThreads1700002130000 implements MigrationInterface {
  name = 'TenantThreads1700002130000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of REFERRING)
      await queryRunner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_thread_id_fkey`);
    await queryRunner.query(`ALTER TABLE threads DROP CONSTRAINT threads_pkey`);
    await queryRunner.query(`ALTER TABLE threads ADD PRIMARY KEY (tenant_id, thread_id)`);
    for (const table of REFERRING) {
      await queryRunner.query(
        `ALTER TABLE ${table} ADD CONSTRAINT ${table}_thread_fkey
           FOREIGN KEY (tenant_id, thread_id) REFERENCES threads ON DELETE CASCADE`,
      );
    }
    await queryRunner.query(`DROP INDEX runs_one_running`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX runs_one_running ON runs (tenant_id, thread_id) WHERE status = 'running'`,
    );
    await rewriteKeys(queryRunner, 'thread_id::text', KEY);
  }

  /** @throws where two tenants have threads of the same id */
  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of REFERRING) await queryRunner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_thread_fkey`);
    await queryRunner.query(`ALTER TABLE threads DROP CONSTRAINT threads_pkey`);
    await queryRunner.query(`ALTER TABLE threads ADD PRIMARY KEY (thread_id)`);
    for (const table of REFERRING) {
      await queryRunner.query(
        `ALTER TABLE ${table} ADD CONSTRAINT ${table}_thread_id_fkey
           FOREIGN KEY (thread_id) REFERENCES threads ON DELETE CASCADE`,
      );
    }
    await queryRunner.query(`DROP INDEX runs_one_running`);
    await queryRunner.query(`CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running'`);
    await rewriteKeys(queryRunner, KEY, 'thread_id::text');
  }
}

/** `checkpointKey` in SQL: the tenant's id before the thread's, except for the one tenant of most deployments. */
const NO_PREFIX = '00000000-0000-0000-0000-000000000000';
const KEY = `CASE WHEN tenant_id = '${NO_PREFIX}' THEN thread_id::text ELSE tenant_id || '/' || thread_id END`;

/** A new database has no such tables yet: LangGraph's library makes them after these migrations. */
async function rewriteKeys(queryRunner: QueryRunner, from: string, to: string): Promise<void> {
  for (const table of CHECKPOINT_TABLES) {
    const [{ exists }] = (await queryRunner.query(
      `SELECT to_regclass('${CHECKPOINT_SCHEMA}.${table}') IS NOT NULL AS exists`,
    )) as [{ exists: boolean }];
    if (!exists) continue;
    await queryRunner.query(
      `UPDATE ${CHECKPOINT_SCHEMA}.${table} stored SET thread_id = thread.new_key
       FROM (SELECT ${from} AS old_key, ${to} AS new_key FROM threads) thread
       WHERE stored.thread_id = thread.old_key AND thread.old_key <> thread.new_key`,
    );
  }
}
