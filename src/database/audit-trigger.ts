import type { QueryRunner } from 'typeorm';
import { ACTOR_SETTING } from './tenant-isolation';

/** A table whose changes by callers are written to the audit log. */
export interface AuditedTable {
  table: string;
  /** Name of its rows in the log. */
  resource: string;
  idColumn: string;
  /** Changes that are logged, as conditions on OLD and NEW; `true` for all. A missing kind is not logged. */
  create?: string;
  update?: string;
  delete?: string;
  /** Name in the log of an update that makes this condition true. */
  special?: { action: 'cancel' | 'revoke' | 'delete'; when: string };
}

/**
 * Writes a row of the audit log with every change that a caller makes, in the change's own transaction: neither can be there
 * without the other, and no code path can forget it. Work without a caller (sweeps, activities) only costs reading a setting. A
 * change is recorded by the names of the columns, never by their values.
 */
export async function auditTable(queryRunner: QueryRunner, audited: AuditedTable): Promise<void> {
  const { table, resource, idColumn } = audited;
  await queryRunner.query(`
    CREATE FUNCTION audit_${table}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE
      actor jsonb := current_setting('${ACTOR_SETTING}')::jsonb;
      subject ${table}%ROWTYPE;
      columns text[];
    BEGIN
      IF TG_OP = 'DELETE' THEN subject := OLD; ELSE subject := NEW; END IF;
      IF TG_ARGV[0] = 'update' THEN
        SELECT array_agg(changed.key ORDER BY changed.key) INTO columns
        FROM jsonb_each(to_jsonb(NEW)) AS changed
        WHERE changed.key <> 'updated_at' AND changed.value IS DISTINCT FROM to_jsonb(OLD) -> changed.key;
      END IF;
      INSERT INTO audit_log (tenant_id, actor_kind, actor_id, address, action, resource, resource_id, changed)
      VALUES (subject.tenant_id, actor ->> 'kind', actor ->> 'id', actor ->> 'address', TG_ARGV[0], '${resource}',
              subject.${idColumn}, columns);
      RETURN NULL;
    END $$`);
  const on = (name: string, operation: string, action: string, condition: string): Promise<unknown> =>
    queryRunner.query(`
      CREATE TRIGGER ${name} AFTER ${operation} ON ${table} FOR EACH ROW
      WHEN (coalesce(current_setting('${ACTOR_SETTING}', true), '') <> '' AND (${condition}))
      EXECUTE FUNCTION audit_${table}('${action}')`);
  const { special } = audited;
  if (audited.create) await on('audit_create', 'INSERT', 'create', audited.create);
  if (audited.update) {
    const condition = special ? `(${audited.update}) AND NOT (${special.when})` : audited.update;
    await on('audit_update', 'UPDATE', 'update', condition);
  }
  if (audited.delete) await on('audit_delete', 'DELETE', 'delete', audited.delete);
  if (special) await on('audit_special', 'UPDATE', special.action, special.when);
}
