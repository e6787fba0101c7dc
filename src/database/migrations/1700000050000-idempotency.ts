import { MigrationInterface, QueryRunner } from 'typeorm';

/** Which run a client's Idempotency-Key made, for a day. */
export class Idempotency1700000050000 implements MigrationInterface {
  name = 'Idempotency1700000050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE idempotency_keys (
        tenant_id uuid NOT NULL REFERENCES tenants,
        route text NOT NULL,
        key text NOT NULL,
        fingerprint bytea NOT NULL,
        run_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, route, key)
      )`);
    await queryRunner.query(`CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE idempotency_keys`);
  }
}
