import { MigrationInterface, QueryRunner } from 'typeorm';

/** The user of the custom auth for whom a cron's runs are made, and in whose name a delivery calls the API itself. */
export class Owners1700001020000 implements MigrationInterface {
  name = 'Owners1700001020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE crons ADD COLUMN auth_user jsonb`);
    await queryRunner.query(`ALTER TABLE webhook_deliveries ADD COLUMN auth_user jsonb`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE webhook_deliveries DROP COLUMN auth_user`);
    await queryRunner.query(`ALTER TABLE crons DROP COLUMN auth_user`);
  }
}
