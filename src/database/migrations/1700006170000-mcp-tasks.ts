import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Calls of tools that are tasks: the run that began it, and its thread, whose latest run says where the task is. `answers` are those
 * to a part of what the graph has asked; text and not jsonb, which can't hold U+0000.
 */
export class McpTasks1700006170000 implements MigrationInterface {
  name = 'McpTasks1700006170000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE mcp_tasks (
        task_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        thread_id uuid NOT NULL,
        tool text NOT NULL,
        answers text NOT NULL DEFAULT '{}',
        canceled_at timestamptz,
        declined boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now(),
        FOREIGN KEY (tenant_id, thread_id) REFERENCES threads ON DELETE CASCADE
      )`);
    await queryRunner.query(`CREATE INDEX mcp_tasks_thread ON mcp_tasks (tenant_id, thread_id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE mcp_tasks`);
  }
}
