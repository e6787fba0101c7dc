import { MigrationInterface, QueryRunner } from 'typeorm';
import { CHECKPOINT_SCHEMA } from '../schemas';

/**
 * A write keeps the path of its task, by which the writes of one step are ordered (`writesSortKey` of LangGraph's checkpoint
 * library). The library's Postgres tables lack the column in JavaScript and have it in Python, from where its definition is:
 * writes stored before sort first, as they do in memory.
 */
export class TaskPath1700006020000 implements MigrationInterface {
  name = 'TaskPath1700006020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${CHECKPOINT_SCHEMA}.checkpoint_writes ADD COLUMN IF NOT EXISTS task_path text NOT NULL DEFAULT ''`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE ${CHECKPOINT_SCHEMA}.checkpoint_writes DROP COLUMN task_path`);
  }
}
