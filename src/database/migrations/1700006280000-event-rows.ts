import { MigrationInterface, QueryRunner } from 'typeorm';

/** A row of the log may hold several events: the first of them; null for a row of one. `seq` is the last. */
export class EventRows1700006280000 implements MigrationInterface {
  name = 'EventRows1700006280000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_events ADD COLUMN first_seq integer`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE run_events DROP COLUMN first_seq`);
  }
}
