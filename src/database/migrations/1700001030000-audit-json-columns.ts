import { MigrationInterface, QueryRunner } from 'typeorm';
import { ACTOR_SETTING } from '../tenant-isolation';

const TABLES = ['trace_feedback', 'trace_projects'];

/**
 * `IS DISTINCT FROM` asks for an equality operator, which json (unlike jsonb) doesn't have: an update of a row that differed
 * after its first json column failed. `*<>` compares what is stored.
 */
export class AuditJsonColumns1700001030000 implements MigrationInterface {
  name = 'AuditJsonColumns1700001030000';

  up(queryRunner: QueryRunner): Promise<void> {
    return this.compareBy('OLD *<> NEW', queryRunner);
  }

  down(queryRunner: QueryRunner): Promise<void> {
    return this.compareBy('OLD IS DISTINCT FROM NEW', queryRunner);
  }

  private async compareBy(condition: string, queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await queryRunner.query(`DROP TRIGGER audit_update ON ${table}`);
      await queryRunner.query(`
        CREATE TRIGGER audit_update AFTER UPDATE ON ${table} FOR EACH ROW
        WHEN (coalesce(current_setting('${ACTOR_SETTING}', true), '') <> '' AND (${condition}))
        EXECUTE FUNCTION audit_${table}('update')`);
    }
  }
}
