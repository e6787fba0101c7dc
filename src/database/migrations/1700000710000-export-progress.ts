import { MigrationInterface, QueryRunner } from 'typeorm';

/** Exports that report how they are: signs of life, errors with code and hint, a webhook at the end; partitions tried again. */
export class ExportProgress1700000710000 implements MigrationInterface {
  name = 'ExportProgress1700000710000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // webhook is sealed: its URL may carry a token.
    await queryRunner.query(`
      ALTER TABLE bulk_exports
        ADD COLUMN heartbeat_at timestamptz,
        ADD COLUMN error_code text,
        ADD COLUMN error_hint text,
        ADD COLUMN webhook text,
        ADD COLUMN verified_at timestamptz`);
    // retry_base: the failures that don't count any more, because a caller requested a retry of the partition.
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs
        ADD COLUMN heartbeat_at timestamptz,
        ADD COLUMN error_code text,
        ADD COLUMN error_hint text,
        ADD COLUMN retry_base integer NOT NULL DEFAULT 0`);
    await queryRunner.query(`ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_kind_check`);
    await queryRunner.query(`
      ALTER TABLE webhook_deliveries ADD COLUMN export_id uuid,
        ADD CONSTRAINT webhook_deliveries_kind_check CHECK (kind IN ('run', 'test', 'export'))`);
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_export ON webhook_deliveries (export_id) WHERE export_id IS NOT NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM webhook_deliveries WHERE kind = 'export'`);
    await queryRunner.query(`ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_kind_check`);
    await queryRunner.query(`
      ALTER TABLE webhook_deliveries DROP COLUMN export_id,
        ADD CONSTRAINT webhook_deliveries_kind_check CHECK (kind IN ('run', 'test'))`);
    await queryRunner.query(`
      ALTER TABLE bulk_export_runs DROP COLUMN heartbeat_at, DROP COLUMN error_code, DROP COLUMN error_hint,
        DROP COLUMN retry_base`);
    await queryRunner.query(`
      ALTER TABLE bulk_exports DROP COLUMN heartbeat_at, DROP COLUMN error_code, DROP COLUMN error_hint,
        DROP COLUMN webhook, DROP COLUMN verified_at`);
  }
}
