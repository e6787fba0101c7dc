import { MigrationInterface, QueryRunner } from 'typeorm';

/** Where the process that took a run can be asked about it; null for those that an earlier release took. */
export class RunHolder1700001080000 implements MigrationInterface {
  name = 'RunHolder1700001080000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE runs ADD COLUMN task_queue text`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE runs DROP COLUMN task_queue`);
  }
}
