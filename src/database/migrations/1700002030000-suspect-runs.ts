import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Distinguishes a run that kills its host from the runs that shared the host: `lost_attempts` now counts only attempts that had
 * a host of their own, `lost_in_company` the others. A new checkpoint resets both.
 */
export class SuspectRuns1700002030000 implements MigrationInterface {
  name = 'SuspectRuns1700002030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE runs
      ADD COLUMN lost_in_company integer NOT NULL DEFAULT 0,
      ADD COLUMN host_lost boolean NOT NULL DEFAULT false,
      ADD COLUMN alone boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE runs DROP COLUMN lost_in_company, DROP COLUMN host_lost, DROP COLUMN alone`);
  }
}
