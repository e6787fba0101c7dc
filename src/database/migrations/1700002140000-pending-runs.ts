import { MigrationInterface, QueryRunner } from 'typeorm';

/** Every run that is made counts those of its tenant that wait: they are few, and this finds them without the others. */
export class PendingRuns1700002140000 implements MigrationInterface {
  name = 'PendingRuns1700002140000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE INDEX runs_pending ON runs (tenant_id) WHERE status = 'pending'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_pending`);
  }
}
