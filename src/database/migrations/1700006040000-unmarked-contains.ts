import { MigrationInterface, QueryRunner } from 'typeorm';

/** Earlier releases marked a function of Postgres' own where they could: see docs/decisions/tenant-isolation.md. */
export class UnmarkedContains1700006040000 implements MigrationInterface {
  name = 'UnmarkedContains1700006040000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DO $$
      BEGIN
        IF current_setting('is_superuser') = 'on' THEN
          ALTER FUNCTION pg_catalog.jsonb_contains(jsonb, jsonb) NOT LEAKPROOF;
        END IF;
      END $$`);
  }

  async down(): Promise<void> {
    // What earlier releases want they mark again when they migrate.
  }
}
