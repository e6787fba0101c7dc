import { MigrationInterface, QueryRunner } from 'typeorm';
import { type AuditedTable, auditTable } from '../audit-trigger';
import { CHECKPOINT_SCHEMA } from '../schemas';
import { ACTOR_SETTING } from '../tenant-isolation';

const ITEMS = `"${CHECKPOINT_SCHEMA}".store`;
const BY_CALLER = `coalesce(current_setting('${ACTOR_SETTING}', true), '') <> ''`;

const CRONS: AuditedTable = {
  table: 'crons',
  resource: 'cron',
  idColumn: 'cron_id',
  create: 'true',
  // A pause that was made in Temporal and is seen by the next reader of the cron doesn't count as the reader's: it has no revision.
  update: `NEW.revision <> OLD.revision
           OR (NEW.payload, NEW.metadata, NEW.webhook, NEW.on_run_completed, NEW.catchup, NEW.overlap)
              IS DISTINCT FROM (OLD.payload, OLD.metadata, OLD.webhook, OLD.on_run_completed, OLD.catchup, OLD.overlap)`,
  // The row goes when its Schedule has gone, which no caller requests.
  special: { action: 'delete', when: 'OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL' },
};

/** What the audit log left out: crons, the store's items, and exports that are tried again. */
export class AuditCronsAndStore1700001010000 implements MigrationInterface {
  name = 'AuditCronsAndStore1700001010000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // An item of the store has a namespace and a key in place of an id.
    await queryRunner.query(`ALTER TABLE audit_log ALTER COLUMN resource_id DROP NOT NULL, ADD COLUMN item text[]`);
    await auditTable(queryRunner, CRONS);

    // One record for a call, however many ticks it made.
    await queryRunner.query(`
      CREATE FUNCTION audit_cron_fires() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DECLARE
        actor jsonb := nullif(current_setting('${ACTOR_SETTING}', true), '')::jsonb;
      BEGIN
        IF actor IS NOT NULL THEN
          INSERT INTO audit_log (tenant_id, actor_kind, actor_id, address, action, resource, resource_id)
          SELECT DISTINCT made.tenant_id, actor ->> 'kind', actor ->> 'id', actor ->> 'address',
            CASE made.trigger WHEN 'manual' THEN 'trigger' ELSE 'backfill' END, 'cron', made.cron_id
          FROM made WHERE made.trigger IN ('manual', 'backfill');
        END IF;
        RETURN NULL;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER audit_made AFTER INSERT ON cron_fires REFERENCING NEW TABLE AS made
      FOR EACH STATEMENT EXECUTE FUNCTION audit_cron_fires()`);

    await queryRunner.query(`
      CREATE TRIGGER audit_retry AFTER UPDATE ON bulk_exports FOR EACH ROW
      WHEN (${BY_CALLER} AND OLD.status IN ('Failed', 'TimedOut') AND NEW.status = 'Created')
      EXECUTE FUNCTION audit_bulk_exports('retry')`);

    await queryRunner.query(`
      CREATE FUNCTION audit_store() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DECLARE
        actor jsonb := current_setting('${ACTOR_SETTING}')::jsonb;
        subject ${ITEMS}%ROWTYPE;
      BEGIN
        IF TG_OP = 'DELETE' THEN subject := OLD; ELSE subject := NEW; END IF;
        INSERT INTO audit_log (tenant_id, actor_kind, actor_id, address, action, resource, item)
        VALUES (split_part(subject.namespace_path, ':', 1)::uuid, actor ->> 'kind', actor ->> 'id', actor ->> 'address',
                TG_ARGV[0], 'store_item', ARRAY[subject.namespace_path, subject.key]);
        RETURN NULL;
      END $$`);
    for (const [operation, action, condition] of [
      ['INSERT', 'create', 'true'],
      // A read starts an item's time again.
      ['UPDATE', 'update', 'NEW.updated_at <> OLD.updated_at'],
      ['DELETE', 'delete', 'true'],
    ]) {
      await queryRunner.query(`
        CREATE TRIGGER audit_${action} AFTER ${operation} ON ${ITEMS} FOR EACH ROW WHEN (${BY_CALLER} AND ${condition})
        EXECUTE FUNCTION audit_store('${action}')`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of ['audit_crons', 'audit_cron_fires', 'audit_store']) {
      await queryRunner.query(`DROP FUNCTION ${name} CASCADE`);
    }
    await queryRunner.query(`DROP TRIGGER audit_retry ON bulk_exports`);
    await queryRunner.query(`DELETE FROM audit_log WHERE resource_id IS NULL`);
    await queryRunner.query(`ALTER TABLE audit_log DROP COLUMN item, ALTER COLUMN resource_id SET NOT NULL`);
  }
}
