import { MigrationInterface, QueryRunner } from 'typeorm';
import { CHECKPOINT_SCHEMA } from '../schemas';

const ITEMS = `"${CHECKPOINT_SCHEMA}".store`;

/** What Gantry adds to the table of LangGraph's Postgres store, whose own set-up has run before. */
export class Store1700000500000 implements MigrationInterface {
  name = 'Store1700000500000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The first label of a namespace is the tenant: a row that belongs to none can't be written, by whatever code.
    // ttl_minutes: a read that starts an item's time again has to know how long it was.
    await queryRunner.query(`
      ALTER TABLE ${ITEMS}
        ADD COLUMN tenant_id uuid NOT NULL GENERATED ALWAYS AS (split_part(namespace_path, ':', 1)::uuid) STORED,
        ADD COLUMN ttl_minutes double precision`);
    // The library's trigger dates every update as a change of the item, also one of its time to live.
    await queryRunner.query(`DROP TRIGGER IF EXISTS update_store_updated_at ON ${ITEMS}`);
    // An index over every word of every value makes large values slow to write, and one by the database's collation can't
    // find prefixes; the two below are what the store's statements look things up by.
    await queryRunner.query(`DROP INDEX IF EXISTS "${CHECKPOINT_SCHEMA}".idx_store_value_gin`);
    await queryRunner.query(`DROP INDEX IF EXISTS "${CHECKPOINT_SCHEMA}".idx_store_namespace_path`);
    await queryRunner.query(`CREATE INDEX store_by_prefix ON ${ITEMS} (namespace_path COLLATE "C")`);
    await queryRunner.query(`CREATE INDEX store_by_update ON ${ITEMS} (tenant_id, updated_at DESC)`);

    // Numbers in arrays, and not pgvector's type: that extension is seldom there, and can read these when it is.
    // EXTERNAL: random digits don't compress, and uncompressed ones are read in half the time.
    await queryRunner.query(`
      CREATE TABLE store_embeddings (
        namespace_path text NOT NULL,
        key text NOT NULL,
        field text NOT NULL,
        tenant_id uuid NOT NULL,
        embedding real[] NOT NULL,
        PRIMARY KEY (namespace_path, key, field),
        FOREIGN KEY (namespace_path, key) REFERENCES ${ITEMS} ON DELETE CASCADE
      )`);
    await queryRunner.query(`ALTER TABLE store_embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE store_embeddings`);
    await queryRunner.query(`ALTER TABLE ${ITEMS} DROP COLUMN tenant_id, DROP COLUMN ttl_minutes`);
  }
}
