import { MigrationInterface, QueryRunner } from 'typeorm';
import { ACTOR_SETTING } from '../tenant-isolation';

const BY_CALLER = `coalesce(current_setting('${ACTOR_SETTING}', true), '') <> ''`;
const BEGINS = 'OLD.deletion_began_at IS DISTINCT FROM NEW.deletion_began_at';

/**
 * The audit log records the deletion of a project when it begins. Most of its runs are deleted before the project
 * itself: if that failed, the log had no record of the caller who deleted them.
 */
export class ProjectDeletions1700006950000 implements MigrationInterface {
  name = 'ProjectDeletions1700006950000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE trace_projects ADD COLUMN deletion_began_at timestamptz`);
    await this.recordUpdates(queryRunner, `OLD *<> NEW AND NOT (${BEGINS})`);
    await queryRunner.query(`
      CREATE TRIGGER audit_special AFTER UPDATE ON trace_projects FOR EACH ROW
      WHEN (${BY_CALLER} AND ${BEGINS}) EXECUTE FUNCTION audit_trace_projects('delete')`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TRIGGER audit_special ON trace_projects`);
    await this.recordUpdates(queryRunner, 'OLD *<> NEW');
    await queryRunner.query(`ALTER TABLE trace_projects DROP COLUMN deletion_began_at`);
  }

  private async recordUpdates(queryRunner: QueryRunner, condition: string): Promise<void> {
    await queryRunner.query(`DROP TRIGGER audit_update ON trace_projects`);
    await queryRunner.query(`
      CREATE TRIGGER audit_update AFTER UPDATE ON trace_projects FOR EACH ROW
      WHEN (${BY_CALLER} AND ${condition}) EXECUTE FUNCTION audit_trace_projects('update')`);
  }
}
