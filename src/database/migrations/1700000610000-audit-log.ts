import { MigrationInterface, QueryRunner } from 'typeorm';
import { type AuditedTable, auditTable } from '../audit-trigger';

const CHANGED = 'OLD IS DISTINCT FROM NEW';

const AUDITED: AuditedTable[] = [
  { table: 'tenants', resource: 'tenant', idColumn: 'tenant_id', create: 'true', update: CHANGED },
  {
    table: 'api_keys',
    resource: 'api_key',
    idColumn: 'api_key_id',
    create: 'true',
    special: { action: 'revoke', when: 'OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL' },
  },
  {
    table: 'assistants',
    resource: 'assistant',
    idColumn: 'assistant_id',
    create: 'true',
    update: CHANGED,
    delete: 'true',
  },
  {
    table: 'threads',
    resource: 'thread',
    idColumn: 'thread_id',
    create: 'NOT NEW.temporary',
    // A run that begins stamps its thread as well: that is the run's creation, and is logged as such.
    update: `(OLD.status = NEW.status AND OLD.metadata IS DISTINCT FROM NEW.metadata) OR OLD."values" IS DISTINCT FROM NEW."values"`,
    delete: 'NOT OLD.temporary',
  },
  {
    table: 'runs',
    resource: 'run',
    idColumn: 'run_id',
    create: 'true',
    // Those that go with their thread are recorded by its deletion.
    delete: 'pg_trigger_depth() = 0',
    special: {
      action: 'cancel',
      when: `(NEW.cancel_action IS NOT NULL AND OLD.cancel_action IS DISTINCT FROM NEW.cancel_action)
             OR (OLD.status = 'pending' AND NEW.status = 'interrupted')`,
    },
  },
  {
    table: 'export_destinations',
    resource: 'export_destination',
    idColumn: 'destination_id',
    create: 'true',
    update: CHANGED,
    delete: 'true',
  },
  {
    table: 'bulk_exports',
    resource: 'bulk_export',
    idColumn: 'export_id',
    create: 'true',
    special: { action: 'cancel', when: `OLD.status <> 'Cancelled' AND NEW.status = 'Cancelled'` },
  },
  {
    table: 'webhook_deliveries',
    resource: 'webhook_delivery',
    idColumn: 'delivery_id',
    // No caller requested those of a run's end.
    create: `NEW.replay_of IS NOT NULL OR NEW.kind = 'test'`,
    special: { action: 'cancel', when: `OLD.status <> 'cancelled' AND NEW.status = 'cancelled'` },
  },
  {
    table: 'trace_projects',
    resource: 'project',
    idColumn: 'project_id',
    create: 'true',
    update: CHANGED,
    delete: 'true',
  },
  {
    table: 'trace_feedback',
    resource: 'feedback',
    idColumn: 'feedback_id',
    create: 'true',
    update: CHANGED,
    delete: 'true',
  },
];

/** Who created, changed, cancelled, deleted or exported what, and when. */
export class AuditLog1700000610000 implements MigrationInterface {
  name = 'AuditLog1700000610000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE audit_log (
        audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        tenant_id uuid NOT NULL,
        actor_kind text NOT NULL,
        actor_id text,
        address text,
        action text NOT NULL,
        resource text NOT NULL,
        resource_id uuid NOT NULL,
        changed text[]
      )`);
    await queryRunner.query(`CREATE INDEX audit_log_tenant ON audit_log (tenant_id, audit_id DESC)`);
    await queryRunner.query(`CREATE INDEX audit_log_actor ON audit_log (actor_id, audit_id DESC)`);
    await queryRunner.query(`CREATE INDEX audit_log_resource ON audit_log (resource_id)`);
    await queryRunner.query(`CREATE INDEX audit_log_at ON audit_log USING brin (at)`);
    for (const audited of AUDITED) await auditTable(queryRunner, audited);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { table } of AUDITED) await queryRunner.query(`DROP FUNCTION audit_${table} CASCADE`);
    await queryRunner.query(`DROP TABLE audit_log`);
  }
}
