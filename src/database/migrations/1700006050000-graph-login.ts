import { MigrationInterface, QueryRunner } from 'typeorm';
import { TENANT_SETTING } from '../tenant-isolation';

/**
 * Where the login of graph processes is kept, for the owner alone: see logins.ts. What they have to know of runs is whether
 * an attempt holds its run: they ask a function, and read no run. The row lock lets no later attempt begin before the write
 * that asked is committed.
 */
export class GraphLogin1700006050000 implements MigrationInterface {
  name = 'GraphLogin1700006050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE graph_login (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        role text NOT NULL,
        password text NOT NULL
      )`);
    await queryRunner.query(`
      CREATE FUNCTION attempt_holds_run(held_run uuid, holding_attempt int) RETURNS boolean
      LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      BEGIN
        PERFORM FROM runs
        WHERE run_id = held_run AND attempt = holding_attempt AND status = 'running'
          AND tenant_id = nullif(current_setting('${TENANT_SETTING}', true), '')::uuid
        FOR SHARE;
        RETURN FOUND;
      END $$`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION attempt_holds_run`);
    await queryRunner.query(`DROP TABLE graph_login`);
  }
}
