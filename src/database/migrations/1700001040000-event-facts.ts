import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which committed fact an event reports: the task whose end, or the checkpoint whose values it is. By it a repeated attempt
 * knows what of the attempts before it the log lacks.
 */
export class EventFacts1700001040000 implements MigrationInterface {
  name = 'EventFacts1700001040000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_events ADD COLUMN fact text`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_events DROP COLUMN fact`);
  }
}
