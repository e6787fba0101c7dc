import { MigrationInterface, QueryRunner } from 'typeorm';
import { TENANT_SETTING } from '../tenant-isolation';
import { TENANT_TOKEN_SETTING, TOKEN_REFUSED } from '../tenant-token';

/**
 * Binds connections of graph processes to the tenants whose runs they host: any statement can set the setting of the tenant, but no
 * token (tenant-token.ts). Policies ask one function, which believes the setting of the role of requests and asks the
 * role of graph processes for a token. A wrong token is an error and no empty answer, which a graph would take for its state.
 * The policies themselves are made with all others when migrations have run (tenant-isolation.ts).
 */
export class TenantTokens1700006070000 implements MigrationInterface {
  name = 'TenantTokens1700006070000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tenant_token_key (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        inner_key bytea NOT NULL,
        outer_key bytea NOT NULL,
        graphs_role name
      )`);
    // Both sides of the comparison are hashed once more, so that its duration says nothing of the signature.
    await queryRunner.query(`
      CREATE FUNCTION tenant_of_connection() RETURNS text
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
            SELECT FROM runs WHERE run_id = parts[2]::uuid AND tenant_id = parts[1]::uuid
              AND attempt = parts[3]::int AND status = 'running'
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
        PERFORM FROM runs
        WHERE run_id = held_run AND attempt = holding_attempt AND status = 'running'
          AND tenant_id = (SELECT tenant_of_connection())::uuid
        FOR SHARE;
        RETURN FOUND;
      END $$`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION attempt_holds_run(held_run uuid, holding_attempt int) RETURNS boolean
      LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      BEGIN
        PERFORM FROM runs
        WHERE run_id = held_run AND attempt = holding_attempt AND status = 'running'
          AND tenant_id = nullif(current_setting('${TENANT_SETTING}', true), '')::uuid
        FOR SHARE;
        RETURN FOUND;
      END $$`);
    // With the policies that ask it: those of the earlier release are made once its migrations have run.
    await queryRunner.query(`DROP FUNCTION tenant_of_connection CASCADE`);
    await queryRunner.query(`DROP TABLE tenant_token_key`);
  }
}
