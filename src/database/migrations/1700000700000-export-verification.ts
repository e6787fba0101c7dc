import { MigrationInterface, QueryRunner } from 'typeorm';

/** Exports that say what they could verify, decimals for costs, and a later pass for late data. */
export class ExportVerification1700000700000 implements MigrationInterface {
  name = 'ExportVerification1700000700000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // A later pass exports the window of late_pass_of again: the rows that changed after that one's watermark.
    await queryRunner.query(`
      ALTER TABLE bulk_exports
        ADD COLUMN cost_type text NOT NULL DEFAULT 'double' CHECK (cost_type IN ('double', 'decimal')),
        ADD COLUMN late_data text NOT NULL DEFAULT 'ignore' CHECK (late_data IN ('ignore', 'reexport')),
        ADD COLUMN late_pass_of uuid,
        ADD COLUMN changed_after timestamptz,
        ADD FOREIGN KEY (tenant_id, late_pass_of) REFERENCES bulk_exports`);
    // A window is spawned once, and passed over again once.
    await queryRunner.query(`DROP INDEX bulk_exports_window`);
    await queryRunner.query(`
      CREATE UNIQUE INDEX bulk_exports_window ON bulk_exports (tenant_id, source_bulk_export_id, start_time)
        WHERE source_bulk_export_id IS NOT NULL AND late_pass_of IS NULL`);
    await queryRunner.query(`
      CREATE UNIQUE INDEX bulk_exports_late_pass ON bulk_exports (tenant_id, late_pass_of)
        WHERE late_pass_of IS NOT NULL`);
    // rows_seen: the most that any attempt has counted in the source; verified: whether the files were read back.
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs
        ADD COLUMN rows_seen bigint NOT NULL DEFAULT 0,
        ADD COLUMN verified boolean`);
    await queryRunner.query(`UPDATE bulk_export_runs SET rows_seen = rows_planned`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE bulk_export_runs DROP COLUMN rows_seen, DROP COLUMN verified`);
    await queryRunner.query(`DROP INDEX bulk_exports_late_pass`);
    await queryRunner.query(`DELETE FROM bulk_exports WHERE late_pass_of IS NOT NULL`);
    await queryRunner.query(`DROP INDEX bulk_exports_window`);
    await queryRunner.query(`
      CREATE UNIQUE INDEX bulk_exports_window ON bulk_exports (tenant_id, source_bulk_export_id, start_time)
        WHERE source_bulk_export_id IS NOT NULL`);
    await queryRunner.query(`
      ALTER TABLE bulk_exports DROP COLUMN cost_type, DROP COLUMN late_data, DROP COLUMN late_pass_of,
        DROP COLUMN changed_after`);
  }
}
