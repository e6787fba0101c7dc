import { MigrationInterface, QueryRunner } from 'typeorm';
import { auditTable } from '../audit-trigger';
import { ACTOR_SETTING, RETENTION_SETTING } from '../tenant-isolation';

const BY_CALLER = `coalesce(current_setting('${ACTOR_SETTING}', true), '') <> ''`;
const TABLES = ['audit_log', 'audit_chain'];
const EDITED = `(OLD.status = NEW.status AND OLD.metadata IS DISTINCT FROM NEW.metadata) OR OLD."values" IS DISTINCT FROM NEW."values"`;
const LIFETIME = `(OLD.ttl_strategy, OLD.ttl_minutes) IS DISTINCT FROM (NEW.ttl_strategy, NEW.ttl_minutes)`;

/**
 * The audit log is append-only and each record has a link in a chain of hashes (src/audit/audit-chain.ts). It learns of
 * refused logins, which belong to no tenant, and of three changes that it lacked: receivers of push notifications, the
 * lifetime of a thread, and a thread that is cut down to its latest state.
 */
export class AuditChain1700006010000 implements MigrationInterface {
  name = 'AuditChain1700006010000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE audit_log ALTER COLUMN tenant_id DROP NOT NULL, ADD COLUMN reason text`);

    // A record's link is a row of its own: it is made after the record's commit, and a record is never updated.
    await queryRunner.query(`
      CREATE TABLE audit_chain (
        position bigint PRIMARY KEY,
        audit_id bigint NOT NULL UNIQUE,
        sealed_at timestamptz NOT NULL,
        hash bytea NOT NULL
      )`);

    await queryRunner.query(`
      CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' AND current_setting('${RETENTION_SETTING}', true) = 'on' THEN RETURN NULL; END IF;
        RAISE EXCEPTION 'The audit log is append-only: % of % refused', lower(TG_OP), TG_TABLE_NAME
          USING ERRCODE = 'restrict_violation';
      END $$`);
    for (const table of TABLES) {
      await queryRunner.query(`
        CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()`);
    }

    await auditTable(queryRunner, {
      table: 'a2a_push_configs',
      resource: 'push_config',
      idColumn: 'task_id',
      create: 'true',
      update: 'OLD IS DISTINCT FROM NEW',
      // Deletions that cascade from a task are recorded with the task's own deletion.
      delete: 'pg_trigger_depth() = 0',
    });
    await this.watchThreads(queryRunner, `${EDITED} OR ${LIFETIME}`);
    await queryRunner.query(`
      CREATE TRIGGER audit_prune AFTER UPDATE ON threads FOR EACH ROW
      WHEN (${BY_CALLER} AND OLD.pruned_at IS DISTINCT FROM NEW.pruned_at) EXECUTE FUNCTION audit_threads('prune')`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TRIGGER audit_prune ON threads`);
    await this.watchThreads(queryRunner, EDITED);
    await queryRunner.query(`DROP FUNCTION audit_a2a_push_configs CASCADE`);
    await queryRunner.query(`DROP FUNCTION audit_append_only CASCADE`);
    await queryRunner.query(`DROP TABLE audit_chain`);
    await queryRunner.query(`DELETE FROM audit_log WHERE tenant_id IS NULL`);
    await queryRunner.query(`ALTER TABLE audit_log DROP COLUMN reason, ALTER COLUMN tenant_id SET NOT NULL`);
  }

  private async watchThreads(queryRunner: QueryRunner, condition: string): Promise<void> {
    await queryRunner.query(`DROP TRIGGER audit_update ON threads`);
    await queryRunner.query(`
      CREATE TRIGGER audit_update AFTER UPDATE ON threads FOR EACH ROW
      WHEN (${BY_CALLER} AND (${condition})) EXECUTE FUNCTION audit_threads('update')`);
  }
}
