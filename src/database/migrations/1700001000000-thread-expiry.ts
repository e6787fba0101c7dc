import { MigrationInterface, QueryRunner } from 'typeorm';

/** When a thread that nothing happens on is deleted, or cut down to its latest state. */
export class ThreadExpiry1700001000000 implements MigrationInterface {
  name = 'ThreadExpiry1700001000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE threads
        ADD COLUMN ttl_strategy text CHECK (ttl_strategy IN ('delete', 'keep_latest')),
        -- Counted from updated_at.
        ADD COLUMN ttl_minutes double precision CHECK (ttl_minutes > 0),
        -- Cut down to the latest state at that time: nothing is left to do until the thread changes again.
        ADD COLUMN pruned_at timestamptz,
        ADD CHECK ((ttl_strategy IS NULL) = (ttl_minutes IS NULL))`);
    // What an index is made of must not depend on the session's time zone: hence the detour through UTC.
    await queryRunner.query(`
      CREATE INDEX threads_expiry ON threads ((timezone('UTC', updated_at) + ttl_minutes * interval '1 minute'))
      WHERE ttl_minutes IS NOT NULL AND (pruned_at IS NULL OR pruned_at < updated_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX threads_expiry`);
    await queryRunner.query(
      `ALTER TABLE threads DROP COLUMN ttl_strategy, DROP COLUMN ttl_minutes, DROP COLUMN pruned_at`,
    );
  }
}
