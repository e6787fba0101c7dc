import { MigrationInterface, QueryRunner } from 'typeorm';

/** What a repeated attempt of a run has to know of the one before it. */
export class RunRecovery1700000350000 implements MigrationInterface {
  name = 'RunRecovery1700000350000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE runs
        -- The attempt stopped behind a checkpoint of its own will: no node of it is in doubt.
        ADD COLUMN handed_back boolean NOT NULL DEFAULT false,
        -- Attempts in a row that were lost behind the same checkpoint, and which one that is.
        ADD COLUMN lost_attempts integer NOT NULL DEFAULT 0,
        ADD COLUMN lost_behind text`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE runs DROP COLUMN handed_back, DROP COLUMN lost_attempts, DROP COLUMN lost_behind`,
    );
  }
}
