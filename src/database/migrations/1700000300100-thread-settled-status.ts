import { MigrationInterface, QueryRunner } from 'typeorm';

/** What a busy thread goes back to when the runs in flight go away without having run: it may wait for a person. */
export class ThreadSettledStatus1700000300100 implements MigrationInterface {
  name = 'ThreadSettledStatus1700000300100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE threads ADD COLUMN settled_status text NOT NULL DEFAULT 'idle'
        CHECK (settled_status IN ('idle', 'interrupted', 'error'))`);
    await queryRunner.query(`
      UPDATE threads SET settled_status = CASE
        WHEN status <> 'busy' THEN status WHEN interrupts <> '{}' THEN 'interrupted' ELSE 'idle' END`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE threads DROP COLUMN settled_status`);
  }
}
