import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Runs in flight by their thread, and by the time at which they are due under a condition that queries for a thread don't have. While
 * the planner's statistics were from a time without runs in flight, it took the index of all of them for such queries: the end of a
 * run then read each pending and running run twice.
 */
export class RunsInFlight1700006750000 implements MigrationInterface {
  name = 'RunsInFlight1700006750000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_pending`);
    await queryRunner.query(`DROP INDEX runs_in_flight`);
    await queryRunner.query(
      `CREATE INDEX runs_in_flight ON runs (tenant_id, thread_id) WHERE status IN ('pending', 'running')`,
    );
    await queryRunner.query(`CREATE INDEX runs_due ON runs (scheduled_at) WHERE ended_at IS NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_due`);
    await queryRunner.query(`DROP INDEX runs_in_flight`);
    await queryRunner.query(
      `CREATE INDEX runs_in_flight ON runs (scheduled_at) WHERE status IN ('pending', 'running')`,
    );
    await queryRunner.query(`CREATE INDEX runs_pending ON runs (tenant_id) WHERE status = 'pending'`);
  }
}
