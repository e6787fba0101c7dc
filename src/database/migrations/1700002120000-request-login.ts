import { MigrationInterface, QueryRunner } from 'typeorm';

/** Where the login of this database's requests is kept, for the owner alone: see request-login.ts. */
export class RequestLogin1700002120000 implements MigrationInterface {
  name = 'RequestLogin1700002120000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE request_login (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        role text NOT NULL,
        password text NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE request_login`);
  }
}
