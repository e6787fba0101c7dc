import { MigrationInterface, QueryRunner } from 'typeorm';

/** What an operator sees of keys, and what a tenant's plan leaves out. */
export class KeysAndEntitlements1700000600000 implements MigrationInterface {
  name = 'KeysAndEntitlements1700000600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // hint: enough of the key to distinguish it from others, too little to use it.
    await queryRunner.query(
      `ALTER TABLE api_keys ADD COLUMN hint text NOT NULL DEFAULT '', ADD COLUMN last_used_at timestamptz`,
    );
    await queryRunner.query(`CREATE INDEX api_keys_tenant ON api_keys (tenant_id, created_at)`);
    // The disabled entitlements rather than the enabled ones, so that all tenants have a new one from the start.
    await queryRunner.query(`ALTER TABLE tenants ADD COLUMN disabled_entitlements text[] NOT NULL DEFAULT '{}'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE tenants DROP COLUMN disabled_entitlements`);
    await queryRunner.query(`DROP INDEX api_keys_tenant`);
    await queryRunner.query(`ALTER TABLE api_keys DROP COLUMN hint, DROP COLUMN last_used_at`);
  }
}
