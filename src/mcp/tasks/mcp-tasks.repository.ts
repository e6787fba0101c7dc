import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { storedText } from '../../database/at-rest';
import { keepAtLeast } from '../../threads/kept-threads';

export interface TaskRow {
  taskId: string;
  threadId: string;
  tool: string;
  /** JSON text: a run, and answers to a part of what it has asked, by the keys of the requests. */
  answers: string;
  canceledAt: Date | null;
  /** Whether it was cancelled because a person declined to answer. */
  declined: boolean;
  createdAt: Date;
}

const COLUMNS = `task_id AS "taskId", thread_id AS "threadId", tool, answers, canceled_at AS "canceledAt", declined,
  created_at AS "createdAt"`;

/** The answers that are there to what a run has asked; those to an earlier run of the task are used up. */
export function answersTo(task: Pick<TaskRow, 'answers'> | undefined, runId: string): Record<string, unknown> {
  const kept = JSON.parse(task?.answers ?? '{}') as { runId?: string; responses?: Record<string, unknown> };
  return kept.runId === runId ? (kept.responses ?? {}) : {};
}

/** Calls that are tasks. */
@Injectable()
export class McpTasksRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** Makes a task of a run, and keeps its thread for as long; null when the thread is gone. */
  insertTask(
    tenantId: TenantId,
    task: { taskId: string; threadId: string; tool: string },
    keptMs: number,
  ): Promise<TaskRow | null> {
    return this.database.transaction(async (manager) => {
      if (!(await keepAtLeast(manager, { tenantId, threadId: task.threadId }, keptMs / 60_000))) return null;
      const [row]: TaskRow[] = await manager.query(
        `INSERT INTO mcp_tasks (task_id, tenant_id, thread_id, tool) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
        [task.taskId, tenantId, task.threadId, task.tool],
      );
      return row;
    });
  }

  async findTask(tenantId: TenantId, taskId: string): Promise<TaskRow | null> {
    const [row]: TaskRow[] = await this.database.query(
      `SELECT ${COLUMNS} FROM mcp_tasks WHERE tenant_id = $1 AND task_id = $2`,
      [tenantId, taskId],
    );
    return row ?? null;
  }

  /**
   * Restarts the time to live of the thread of a task that still runs, or waits, once half of it is over. A thread to
   * which an earlier release gave a fixed end gets a time to live instead.
   */
  async keepThread(tenantId: TenantId, threadId: string, keptMs: number): Promise<void> {
    await this.database.query(
      `UPDATE threads SET updated_at = now(), delete_after = NULL,
         ttl_strategy = CASE WHEN delete_after IS NULL THEN ttl_strategy ELSE coalesce(ttl_strategy, 'delete') END,
         ttl_minutes = CASE WHEN delete_after IS NULL THEN ttl_minutes
           ELSE greatest(ttl_minutes, $3::float8 / 60000) END
       WHERE tenant_id = $1 AND thread_id = $2
         AND (delete_after IS NOT NULL OR updated_at < now() - $3::float8 / 2 * interval '1 millisecond')`,
      [tenantId, threadId, keptMs],
    );
  }

  /** Adds answers to those that are there to the same run, one caller after the other, and resolves to all of them. */
  addAnswers(
    tenantId: TenantId,
    taskId: string,
    runId: string,
    given: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    return this.database.transaction(async (manager) => {
      const [row]: { answers: string }[] = await manager.query(
        `SELECT answers FROM mcp_tasks WHERE tenant_id = $1 AND task_id = $2 FOR UPDATE`,
        [tenantId, taskId],
      );
      const responses = { ...answersTo(row, runId), ...given };
      await manager.query(`UPDATE mcp_tasks SET answers = $3 WHERE tenant_id = $1 AND task_id = $2`, [
        tenantId,
        taskId,
        storedText('run', 'answers', JSON.stringify({ runId, responses })),
      ]);
      return responses;
    });
  }

  async cancelTask(tenantId: TenantId, taskId: string, declined: boolean): Promise<void> {
    await this.database.query(
      `UPDATE mcp_tasks SET canceled_at = now(), declined = $3
       WHERE tenant_id = $1 AND task_id = $2 AND canceled_at IS NULL`,
      [tenantId, taskId, declined],
    );
  }
}
