import { MigrationInterface, QueryRunner } from 'typeorm';

/** Why a run was cancelled, which clients ask for. Not known of runs that were cancelled before. */
export class CancelReason1700006030000 implements MigrationInterface {
  name = 'CancelReason1700006030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE runs ADD COLUMN cancel_reason text`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE runs DROP COLUMN cancel_reason`);
  }
}
