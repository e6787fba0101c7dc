import { MigrationInterface, QueryRunner } from 'typeorm';
import { UNPREFIXED_TENANT } from '../checkpoint-key';
import { CHECKPOINT_SCHEMA } from '../schemas';

const schema = `"${CHECKPOINT_SCHEMA}"`;
const WRITES = `${schema}.checkpoint_writes`;
const REPLACED = `${schema}.replaced_write`;

/** How the function stores writes of tasks. */
interface Writing {
  /** Columns beyond those of the library, and their values. */
  columns: string;
  values: string;
  /** What a write sets of the row that it replaces, beyond the write itself. */
  replacing: string;
}

const WITH_RUN: Writing = {
  columns: ', run_id',
  values: ', held_run',
  replacing: `, run_id = EXCLUDED.run_id,
    replaced = CASE WHEN known.run_id IS DISTINCT FROM EXCLUDED.run_id
      THEN ROW(known.run_id, known.channel, known.type, known.blob)::${REPLACED} ELSE known.replaced END`,
};
const WITHOUT_RUN: Writing = { columns: '', values: '', replacing: '' };

/**
 * Stores with each write the run that wrote it, and with one that replaced a write of another run, that write. A run that resumes a
 * thread stores its answer, and the results of its first step, with the checkpoint of an earlier run: only so a rollback finds
 * them, and what they replaced.
 */
export class WritesOfRuns1700006550000 implements MigrationInterface {
  name = 'WritesOfRuns1700006550000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TYPE ${REPLACED} AS (run_id uuid, channel text, type text, blob bytea)`);
    await queryRunner.query(`ALTER TABLE ${WRITES} ADD COLUMN run_id uuid, ADD COLUMN replaced ${REPLACED}`);
    await replaceFunction(queryRunner, WITH_RUN);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await replaceFunction(queryRunner, WITHOUT_RUN);
    await queryRunner.query(`ALTER TABLE ${WRITES} DROP COLUMN run_id, DROP COLUMN replaced`);
    await queryRunner.query(`DROP TYPE ${REPLACED}`);
  }
}

async function replaceFunction(queryRunner: QueryRunner, { columns, values, replacing }: Writing): Promise<void> {
  const write = `INSERT INTO ${WRITES} AS known
    (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob${columns})
    SELECT thread_key, row.*${values} FROM unnest(w_ns, w_checkpoint, w_task, w_path, w_idx, w_channel, w_type, w_blob) AS row
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)`;
  await queryRunner.query(`
    CREATE OR REPLACE FUNCTION store_checkpoints(
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
        ${write} DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob${replacing};
      ELSIF cardinality(w_ns) > 0 THEN
        ${write} DO NOTHING;
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
