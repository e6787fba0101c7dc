import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Runs of a thread by both columns that each query names. With the thread alone in the index, a plan that was made while the table was
 * small, and prepared for later calls, took the index by tenant instead, and read all runs of the tenant for each run.
 */
export class RunsOfThread1700006270000 implements MigrationInterface {
  name = 'RunsOfThread1700006270000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_thread`);
    await queryRunner.query(`CREATE INDEX runs_thread ON runs (tenant_id, thread_id, created_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_thread`);
    await queryRunner.query(`CREATE INDEX runs_thread ON runs (thread_id, created_at)`);
  }
}
