import { MigrationInterface, QueryRunner } from 'typeorm';

/** An export may be of all experiments instead of one project: then each of its partitions names its own. */
export class ExportExperiments1700006040000 implements MigrationInterface {
  name = 'ExportExperiments1700006040000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE bulk_exports
        ALTER COLUMN session_id DROP NOT NULL,
        ADD COLUMN all_experiments boolean NOT NULL DEFAULT false,
        ADD CHECK ((session_id IS NULL) = all_experiments)`);
    // Null in the partitions of an export of one project.
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs
        ADD COLUMN session_id uuid,
        DROP CONSTRAINT bulk_export_runs_tenant_id_export_id_day_key`);
    await queryRunner.query(`
      CREATE UNIQUE INDEX bulk_export_runs_day
        ON bulk_export_runs (tenant_id, export_id, day, coalesce(session_id, export_id))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM bulk_exports WHERE all_experiments`);
    await queryRunner.query(`DROP INDEX bulk_export_runs_day`);
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs DROP COLUMN session_id, ADD UNIQUE (tenant_id, export_id, day)`);
    await queryRunner.query(`
      ALTER TABLE bulk_exports DROP COLUMN all_experiments, ALTER COLUMN session_id SET NOT NULL`);
  }
}
