import { MigrationInterface, QueryRunner } from 'typeorm';

/** Digest of the key with which the database is used; the first process that starts writes it (auth/secret-key-check.ts). */
export class SecretKeyCheck1700006450000 implements MigrationInterface {
  name = 'SecretKeyCheck1700006450000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE secret_key_check (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        digest bytea NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE secret_key_check`);
  }
}
