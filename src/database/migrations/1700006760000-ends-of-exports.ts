import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Refuses to cancel an export of which `_SUCCESS` may be in the bucket. Apis of the release before rely on a lock that
 * its workers hold while they write `_SUCCESS`. Workers of this one, which run beside them for a while, hold none.
 */
export class EndsOfExports1700006760000 implements MigrationInterface {
  name = 'EndsOfExports1700006760000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // NOT VALID: earlier rows may be such, and reading them all would keep exports waiting.
    await queryRunner.query(`
      ALTER TABLE bulk_exports ADD CONSTRAINT bulk_exports_publishing
        CHECK (publishing_at IS NULL OR status NOT IN ('Cancelled', 'TimedOut')) NOT VALID`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE bulk_exports DROP CONSTRAINT bulk_exports_publishing`);
  }
}
