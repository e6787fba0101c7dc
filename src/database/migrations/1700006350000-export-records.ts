import { MigrationInterface, QueryRunner } from 'typeorm';

/** Records of exports by which rows that are lost are noticed, and by which an end can't be two. */
export class ExportRecords1700006350000 implements MigrationInterface {
  name = 'ExportRecords1700006350000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // publishing_at: since when _SUCCESS may be in the bucket. has_unseen_writers: rows from before planned_at may have appeared later.
    await queryRunner.query(`
      ALTER TABLE bulk_exports
        ADD COLUMN publishing_at timestamptz,
        ADD COLUMN has_unseen_writers boolean NOT NULL DEFAULT false`);
    // source_seen: the most that any attempt has counted in the source without the filter; null where an earlier release planned.
    // parts_begun and parts_written: how many parts attempts have begun to upload, and the most that were ever recorded as files.
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs
        ADD COLUMN source_seen bigint,
        ADD COLUMN parts_begun integer NOT NULL DEFAULT 0,
        ADD COLUMN parts_written integer NOT NULL DEFAULT 0`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs DROP COLUMN source_seen, DROP COLUMN parts_begun, DROP COLUMN parts_written`);
    await queryRunner.query(`ALTER TABLE bulk_exports DROP COLUMN publishing_at, DROP COLUMN has_unseen_writers`);
  }
}
