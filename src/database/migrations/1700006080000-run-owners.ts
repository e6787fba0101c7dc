import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Processes that execute runs. Each holds an advisory lock under its `owner_id` for as long as its session with Postgres lasts: a row
 * whose lock is free belongs to a process that has ended, or lost its session. `server_started_at` is when the Postgres of that session
 * was started: sessions that ended with their server say nothing of their processes.
 */
export class RunOwners1700006080000 implements MigrationInterface {
  name = 'RunOwners1700006080000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE run_owners (
        owner_id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        task_queue text NOT NULL UNIQUE,
        server_started_at timestamptz NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE run_owners`);
  }
}
