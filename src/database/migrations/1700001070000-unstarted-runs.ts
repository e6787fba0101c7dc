import { MigrationInterface, QueryRunner } from 'typeorm';

/** Every end of a run looks for those that ended before their turn and wait for a place in their thread's stream: few at a time. */
export class UnstartedRuns1700001070000 implements MigrationInterface {
  name = 'UnstartedRuns1700001070000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // From before this release: no client waits for them any more.
    await queryRunner.query(`UPDATE runs SET started_at = ended_at WHERE started_at IS NULL AND ended_at IS NOT NULL`);
    await queryRunner.query(
      `CREATE INDEX runs_unstarted ON runs (thread_id) WHERE started_at IS NULL AND ended_at IS NOT NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_unstarted`);
  }
}
