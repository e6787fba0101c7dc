import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Attachments in the object store: a row names its object in place of holding the bytes. Rows that hold theirs stay readable
 * and are moved by the workers' sweep.
 */
export class AttachmentObjects1700001050000 implements MigrationInterface {
  name = 'AttachmentObjects1700001050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE trace_attachments
        ALTER COLUMN data DROP NOT NULL,
        ADD COLUMN object_key text,
        ADD COLUMN size bigint,
        ADD CONSTRAINT trace_attachments_content CHECK (num_nonnulls(data, object_key) = 1)`);
    await queryRunner.query(`
      CREATE INDEX trace_attachments_inline ON trace_attachments (tenant_id, run_id, name) WHERE data IS NOT NULL`);
    await queryRunner.query(`
      CREATE INDEX trace_attachments_object ON trace_attachments (tenant_id, object_key) WHERE object_key IS NOT NULL`);

    // Objects that go once discard_after has come, unless a row names them by then. No reference to tenants: a tenant's
    // objects outlive its rows for as long as it takes to delete them.
    await queryRunner.query(`
      CREATE TABLE trace_attachment_discards (
        tenant_id uuid NOT NULL,
        object_key text NOT NULL,
        discard_after timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, object_key)
      )`);
    await queryRunner.query(`CREATE INDEX trace_attachment_discards_due ON trace_attachment_discards (discard_after)`);

    // A trigger, so that no way of deleting runs can leave orphaned objects. An upload in flight has put the time off:
    // it stays put off.
    await queryRunner.query(`
      CREATE FUNCTION discard_attachment_object() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO trace_attachment_discards (tenant_id, object_key, discard_after)
        VALUES (OLD.tenant_id, OLD.object_key, now())
        ON CONFLICT DO NOTHING;
        RETURN NULL;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER discard_object AFTER DELETE ON trace_attachments FOR EACH ROW
      WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION discard_attachment_object()`);
  }

  /** Bytes in the object store would be lost with their keys: there is no way back once an attachment is there. */
  async down(queryRunner: QueryRunner): Promise<void> {
    const [{ moved }] = (await queryRunner.query(
      `SELECT EXISTS (SELECT FROM trace_attachments WHERE object_key IS NOT NULL) AS moved`,
    )) as [{ moved: boolean }];
    if (moved) throw new Error('Attachments are in the object store: this migration cannot be taken back');
    await queryRunner.query(`DROP TRIGGER discard_object ON trace_attachments`);
    await queryRunner.query(`DROP FUNCTION discard_attachment_object`);
    await queryRunner.query(`DROP TABLE trace_attachment_discards`);
    await queryRunner.query(`DROP INDEX trace_attachments_inline`);
    await queryRunner.query(`
      ALTER TABLE trace_attachments
        DROP CONSTRAINT trace_attachments_content, DROP COLUMN size, DROP COLUMN object_key, ALTER COLUMN data SET NOT NULL`);
  }
}
