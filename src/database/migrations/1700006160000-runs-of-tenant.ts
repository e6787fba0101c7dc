import { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs of a tenant over all threads, newest first; of those that went wrong or wait for a person without the many others. */
export class RunsOfTenant1700006160000 implements MigrationInterface {
  name = 'RunsOfTenant1700006160000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE INDEX runs_tenant ON runs (tenant_id, run_id)`);
    await queryRunner.query(
      `CREATE INDEX runs_unsuccessful ON runs (tenant_id, run_id) WHERE status IN ('error', 'timeout', 'interrupted')`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_unsuccessful, runs_tenant`);
  }
}
