import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whether a process starts the workflows of the runs that it begins by itself. Workers of earlier releases don't, and leave that
 * to the process that stored the run.
 */
export class OwnersStartWorkflows1700006260000 implements MigrationInterface {
  name = 'OwnersStartWorkflows1700006260000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_owners ADD COLUMN starts_workflows boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_owners DROP COLUMN starts_workflows`);
  }
}
