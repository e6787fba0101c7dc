import { MigrationInterface, QueryRunner } from 'typeorm';
import { TENANT_SETTING } from '../tenant-isolation';
import { TENANT_TOKEN_SETTING, TOKEN_REFUSED } from '../tenant-token';

/**
 * The run of an id, and only then the conditions on it. With the status beside the id, the planner prefers the index of all running
 * runs and reads each of them, so that every statement of a graph process would take longer the more runs are in flight.
 * OFFSET 0 keeps the planner from joining the two conditions.
 */
const BY_ID = {
  token: `FROM (SELECT tenant_id, attempt, status FROM runs WHERE run_id = parts[2]::uuid OFFSET 0) AS run WHERE true`,
  fence: `FROM (SELECT tenant_id, attempt, status FROM runs WHERE run_id = held_run OFFSET 0 FOR SHARE) AS run WHERE true`,
};
const BY_ALL = { token: `FROM runs WHERE run_id = parts[2]::uuid`, fence: `FROM runs WHERE run_id = held_run` };

/** Makes the functions that policies and fences ask find the run of an attempt by its id. */
export class RunLookups1700006300000 implements MigrationInterface {
  name = 'RunLookups1700006300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await replaceFunctions(queryRunner, BY_ID, '');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await replaceFunctions(queryRunner, BY_ALL, 'FOR SHARE');
  }
}

async function replaceFunctions(queryRunner: QueryRunner, run: typeof BY_ID, lock: string): Promise<void> {
  await queryRunner.query(`
    CREATE OR REPLACE FUNCTION tenant_of_connection() RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE
      key tenant_token_key;
      token constant text := current_setting('${TENANT_TOKEN_SETTING}', true);
      parts text[];
      signed bytea;
    BEGIN
      SELECT * INTO key FROM tenant_token_key;
      IF key.graphs_role IS DISTINCT FROM session_user AND key.is_only THEN
        RETURN nullif(current_setting('${TENANT_SETTING}', true), '');
      END IF;
      IF token IS NULL OR token = '' THEN
        RETURN NULL;
      END IF;
      parts := string_to_array(token, '/');
      signed := sha256(key.outer_key || sha256(key.inner_key || convert_to(array_to_string(parts[1:3], '/'), 'UTF8')));
      IF cardinality(parts) = 4 AND sha256(convert_to(parts[4], 'UTF8')) = sha256(convert_to(encode(signed, 'hex'), 'UTF8')) THEN
        IF parts[2] = '' THEN
          IF to_timestamp(parts[3]::bigint) > clock_timestamp() THEN
            RETURN parts[1];
          END IF;
        ELSIF EXISTS (
          SELECT ${run.token} AND tenant_id = parts[1]::uuid AND attempt = parts[3]::int AND status = 'running'
        ) THEN
          RETURN parts[1];
        END IF;
      END IF;
      RAISE EXCEPTION 'The tenant token of this connection opens nothing' USING ERRCODE = '${TOKEN_REFUSED}';
    END $$`);
  await queryRunner.query(`
    CREATE OR REPLACE FUNCTION attempt_holds_run(held_run uuid, holding_attempt int) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
      PERFORM ${run.fence} AND attempt = holding_attempt AND status = 'running'
        AND tenant_id = (SELECT tenant_of_connection())::uuid
      ${lock};
      RETURN FOUND;
    END $$`);
}
