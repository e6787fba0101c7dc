import { MigrationInterface, QueryRunner } from 'typeorm';

/** Identity of the process that a row stands for, by which others on its machine see whether it has ended; null where it has none. */
export class OwnersProcesses1700006290000 implements MigrationInterface {
  name = 'OwnersProcesses1700006290000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_owners ADD COLUMN process text`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_owners DROP COLUMN process`);
  }
}
