import { MigrationInterface, QueryRunner } from 'typeorm';
import { ACTOR_SETTING } from '../tenant-isolation';

/** The audit log records single traces that a caller deletes: once for a trace, however many runs it had. */
export class AuditTraceDeletion1700001060000 implements MigrationInterface {
  name = 'AuditTraceDeletion1700001060000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Traces that go with their project are recorded by its deletion, which comes first. A day that is dropped is no DELETE.
    await queryRunner.query(`
      CREATE FUNCTION audit_traces() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DECLARE
        actor jsonb := current_setting('${ACTOR_SETTING}')::jsonb;
      BEGIN
        INSERT INTO audit_log (tenant_id, actor_kind, actor_id, address, action, resource, resource_id)
        SELECT DISTINCT gone.tenant_id, actor ->> 'kind', actor ->> 'id', actor ->> 'address', 'delete', 'trace', gone.trace_id
        FROM gone
        JOIN trace_projects p ON p.tenant_id = gone.tenant_id AND p.project_id = gone.project_id;
        RETURN NULL;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER audit_delete AFTER DELETE ON trace_runs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
      WHEN (coalesce(current_setting('${ACTOR_SETTING}', true), '') <> '') EXECUTE FUNCTION audit_traces()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION audit_traces CASCADE`);
  }
}
