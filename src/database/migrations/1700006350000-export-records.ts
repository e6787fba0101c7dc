import { MigrationInterface, QueryRunner } from 'typeorm';

/** Records of exports by which rows that are lost, and files that were never verified, are noticed. */
export class ExportRecords1700006350000 implements MigrationInterface {
  name = 'ExportRecords1700006350000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // source_seen: the most that any attempt has counted in the source without the filter; null where an earlier release planned.
    await queryRunner.query(`ALTER TABLE bulk_export_runs ADD COLUMN source_seen bigint`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE bulk_export_runs DROP COLUMN source_seen`);
  }
}
