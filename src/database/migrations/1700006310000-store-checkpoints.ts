import { MigrationInterface, QueryRunner } from 'typeorm';
import { UNPREFIXED_TENANT } from '../checkpoint-key';
import { CHECKPOINT_SCHEMA } from '../schemas';

const schema = `"${CHECKPOINT_SCHEMA}"`;
const WRITES = `INSERT INTO ${schema}.checkpoint_writes
  (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
  SELECT thread_key, row.* FROM unnest(w_ns, w_checkpoint, w_task, w_path, w_idx, w_channel, w_type, w_blob) AS row
  ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)`;

/**
 * Adds the function by which the savers of both languages write. It verifies the connection's token once, where the policies of
 * three tables and the fence would each verify it for themselves: that took half of the statement's time.
 */
export class StoreCheckpoints1700006310000 implements MigrationInterface {
  name = 'StoreCheckpoints1700006310000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION store_checkpoints(
        held_run uuid, holding_attempt int, thread_key text, replaces_writes boolean,
        b_ns text[], b_channel text[], b_version text[], b_type text[], b_blob bytea[],
        w_ns text[], w_checkpoint text[], w_task text[], w_path text[], w_idx int[], w_channel text[], w_type text[], w_blob bytea[],
        c_ns text[], c_id text[], c_parent text[], c_checkpoint text[], c_metadata text[]
      ) RETURNS boolean
      LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DECLARE
        tenant constant text := tenant_of_connection();
      BEGIN
        IF tenant IS DISTINCT FROM (
          CASE WHEN strpos(thread_key, '/') = 0 THEN '${UNPREFIXED_TENANT}' ELSE split_part(thread_key, '/', 1) END
        ) THEN
          RAISE EXCEPTION 'The thread belongs to another tenant than that of the connection' USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF held_run IS NOT NULL THEN
          PERFORM FROM (SELECT tenant_id, attempt, status FROM runs WHERE run_id = held_run OFFSET 0 FOR SHARE) AS run
          WHERE attempt = holding_attempt AND status = 'running' AND tenant_id = tenant::uuid;
          IF NOT FOUND THEN
            RETURN false;
          END IF;
        END IF;
        IF cardinality(b_ns) > 0 THEN
          INSERT INTO ${schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
          SELECT thread_key, row.* FROM unnest(b_ns, b_channel, b_version, b_type, b_blob) AS row
          ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING;
        END IF;
        IF cardinality(w_ns) > 0 AND replaces_writes THEN
          ${WRITES} DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob;
        ELSIF cardinality(w_ns) > 0 THEN
          ${WRITES} DO NOTHING;
        END IF;
        IF cardinality(c_ns) > 0 THEN
          INSERT INTO ${schema}.checkpoints
            (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
          SELECT thread_key, ns, id, parent, document::jsonb, described::jsonb
          FROM unnest(c_ns, c_id, c_parent, c_checkpoint, c_metadata) AS row (ns, id, parent, document, described)
          ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
          DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata;
        END IF;
        RETURN true;
      END $$`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION store_checkpoints`);
  }
}
