import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { type SearchAccess, searchAccessSql } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { storedJson, storedText } from '../database/at-rest';
import type { RunError } from '../graphs/host/protocol';
import type { RunEntity } from '../runs/run.entity';

export type TaskPhase = 'submitted' | 'working' | 'input-required' | 'completed' | 'failed' | 'canceled' | 'rejected';

/** Name of the error by which a graph says that it won't do what it was asked for. */
const REJECTION = 'TaskRejected';

/** A task as stored. */
export interface TaskRow {
  taskId: string;
  tenantId: TenantId;
  assistantId: string;
  threadId: string;
  contextId: string;
  /** The run of the latest turn. */
  runId: string;
  outputModes: string[];
  /** JSON text of a list of artifacts. */
  artifacts: string;
  state: TaskPhase;
  /** Whether another run has continued the conversation while the task waited for its answer. */
  superseded: boolean;
  statusAt: Date;
  error: RunError | null;
}

export interface NewTask {
  taskId: string;
  assistantId: string;
  threadId: string;
  contextId: string;
  outputModes: string[];
}

export interface TaskFilter {
  contextId?: string;
  state?: TaskPhase;
  /** Tasks whose status is not older. */
  since?: Date;
}

/** Task after which a page begins. */
export interface TaskCursor {
  statusAt: string;
  taskId: string;
}

export interface PushConfigRow {
  taskId: string;
  configId: string;
  protocolVersion: string;
  sealed: string;
}

/**
 * The run of the latest turn determines the state of the task. A question that was overtaken by another run of the thread can
 * no longer be answered.
 */
const TASKS = `
  SELECT task.task_id AS "taskId", task.tenant_id AS "tenantId", task.assistant_id AS "assistantId",
    task.thread_id AS "threadId", task.context_id AS "contextId", task.run_id AS "runId",
    task.output_modes AS "outputModes", task.artifacts, run.error,
    CASE
      WHEN task.canceled_at IS NOT NULL OR run.run_id IS NULL OR run.status = 'interrupted' THEN 'canceled'
      WHEN run.status = 'pending' THEN 'submitted'
      WHEN run.status = 'running' THEN 'working'
      WHEN run.status = 'error' AND run.error ->> 'error' = '${REJECTION}' THEN 'rejected'
      WHEN run.status IN ('error', 'timeout') THEN 'failed'
      WHEN NOT task.awaits_input THEN 'completed'
      WHEN overtaken.by_other THEN 'canceled'
      ELSE 'input-required'
    END AS state,
    coalesce(overtaken.by_other, false) AS superseded,
    date_trunc('milliseconds', coalesce(task.canceled_at, run.updated_at, task.created_at)) AS "statusAt"
  FROM a2a_tasks task
  LEFT JOIN runs run ON run.run_id = task.run_id AND run.tenant_id = task.tenant_id
  LEFT JOIN LATERAL (
    SELECT EXISTS (
      SELECT 1 FROM runs later
      WHERE later.tenant_id = task.tenant_id AND later.thread_id = task.thread_id AND later.run_id > task.run_id
    ) AS by_other
  ) overtaken ON task.awaits_input`;

/** Tasks, the messages that were exchanged, and the receivers of push notifications. */
@Injectable()
export class A2aTasksRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async insertTask(manager: EntityManager, tenantId: TenantId, task: NewTask): Promise<void> {
    await manager.query(
      `INSERT INTO a2a_tasks (task_id, tenant_id, assistant_id, thread_id, context_id, run_id, output_modes)
       VALUES ($1, $2, $3, $4, $5, $1, $6)`,
      [task.taskId, tenantId, task.assistantId, task.threadId, task.contextId, task.outputModes],
    );
  }

  /** Gives a waiting task its next turn; resolves to false when it was answered or withdrawn meanwhile. */
  async resume(
    manager: EntityManager,
    tenantId: TenantId,
    task: TaskRow,
    runId: string,
    outputModes: string[],
  ): Promise<boolean> {
    const [, count]: [unknown, number] = await manager.query(
      `UPDATE a2a_tasks SET run_id = $4, awaits_input = false, output_modes = $5
       WHERE tenant_id = $1 AND task_id = $2 AND run_id = $3 AND awaits_input AND canceled_at IS NULL`,
      [tenantId, task.taskId, task.runId, runId, outputModes],
    );
    return count > 0;
  }

  /**
   * Makes a run that wasn't created by a message the next turn of the task that waits on its thread; resolves to null if none
   * waits.
   */
  async adopt(
    manager: EntityManager,
    { runId, threadId, tenantId }: Pick<RunEntity, 'runId' | 'threadId' | 'tenantId'>,
  ): Promise<Pick<TaskRow, 'taskId' | 'contextId'> | null> {
    const [adopted]: [Pick<TaskRow, 'taskId' | 'contextId'>[], number] = await manager.query(
      `UPDATE a2a_tasks task SET run_id = $3, awaits_input = false
       WHERE tenant_id = $1 AND thread_id = $2 AND awaits_input AND canceled_at IS NULL AND NOT EXISTS (
         SELECT 1 FROM runs later
         WHERE later.tenant_id = $1 AND later.thread_id = $2 AND later.run_id > task.run_id AND later.run_id <> $3
       )
       RETURNING task_id AS "taskId", context_id AS "contextId"`,
      [tenantId, threadId, runId],
    );
    return adopted[0] ?? null;
  }

  /** Stores the metadata of a run as it has become: it says which task the run is a turn of. */
  async keepMetadata(manager: EntityManager, { tenantId, runId, metadata }: RunEntity): Promise<void> {
    await manager.query(`UPDATE runs SET metadata = $3 WHERE tenant_id = $1 AND run_id = $2`, [
      tenantId,
      runId,
      storedJson('run', 'metadata', JSON.stringify(metadata)),
    ]);
  }

  /** Cancels a waiting task; resolves to false if it no longer waits. */
  async cancelWaiting(manager: EntityManager, task: TaskRow): Promise<boolean> {
    const [, count]: [unknown, number] = await manager.query(
      `UPDATE a2a_tasks SET canceled_at = clock_timestamp()
       WHERE tenant_id = $1 AND task_id = $2 AND run_id = $3 AND awaits_input AND canceled_at IS NULL`,
      [task.tenantId, task.taskId, task.runId],
    );
    return count > 0;
  }

  /** Withdraws the waiting task of the thread, because its conversation continues without it. */
  async supersede(manager: EntityManager, tenantId: TenantId, threadId: string): Promise<TaskRow[]> {
    const [superseded]: [{ task_id: string }[], number] = await manager.query(
      `UPDATE a2a_tasks SET canceled_at = clock_timestamp()
       WHERE tenant_id = $1 AND thread_id = $2 AND awaits_input AND canceled_at IS NULL RETURNING task_id`,
      [tenantId, threadId],
    );
    if (superseded.length === 0) return [];
    return manager.query(`${TASKS} WHERE task.tenant_id = $1 AND task.task_id = ANY($2::uuid[])`, [
      tenantId,
      superseded.map(({ task_id }) => task_id),
    ]);
  }

  /** Stores the result of a turn, and resolves to the updated task; to null if the run belongs to no task. */
  async closeTurn(
    manager: EntityManager,
    tenantId: TenantId,
    runId: string,
    { awaitsInput, artifacts }: { awaitsInput: boolean; artifacts: string },
  ): Promise<TaskRow | null> {
    const [, count]: [unknown, number] = await manager.query(
      `UPDATE a2a_tasks SET awaits_input = $3, artifacts = $4 WHERE tenant_id = $1 AND run_id = $2`,
      [tenantId, runId, awaitsInput, storedText('run', 'artifacts', artifacts)],
    );
    if (count === 0) return null;
    const [row]: TaskRow[] = await manager.query(`${TASKS} WHERE task.tenant_id = $1 AND task.run_id = $2`, [
      tenantId,
      runId,
    ]);
    return row ?? null;
  }

  /** @param assistantId undefined for any assistant */
  async findTask(tenantId: TenantId, taskId: string, assistantId?: string): Promise<TaskRow | null> {
    const [row]: TaskRow[] = await this.database.query(
      `${TASKS} WHERE task.tenant_id = $1 AND task.task_id = $2 AND task.assistant_id = coalesce($3, task.assistant_id)`,
      [tenantId, taskId, assistantId ?? null],
    );
    return row ?? null;
  }

  /**
   * A page of tasks, the one whose status changed last first, and how many match in all.
   * @param access condition on the metadata of their threads
   */
  async listTasks(
    tenantId: TenantId,
    assistantId: string,
    filter: TaskFilter,
    page: { size: number; after?: TaskCursor },
    access: SearchAccess,
  ): Promise<{ rows: TaskRow[]; total: number }> {
    const parameters: unknown[] = [
      tenantId,
      assistantId,
      filter.contextId ?? null,
      filter.state ?? null,
      filter.since ?? null,
      page.after?.statusAt ?? null,
      page.after?.taskId ?? null,
      page.size,
    ];
    const isTheirs = searchAccessSql(access, 'threads.metadata', (value) => `$${parameters.push(value)}`);
    const isListed = isTheirs
      ? `EXISTS (SELECT 1 FROM threads WHERE threads.tenant_id = $1 AND threads.thread_id = task.thread_id
           AND ${isTheirs})`
      : 'TRUE';
    const rows: (TaskRow & { total: string })[] = await this.database.query(
      `WITH matching AS (
         SELECT * FROM (
           ${TASKS} WHERE task.tenant_id = $1 AND task.assistant_id = $2 AND ($3::text IS NULL OR task.context_id = $3)
             AND ${isListed}
         ) found
         WHERE ($4::text IS NULL OR state = $4) AND ($5::timestamptz IS NULL OR "statusAt" >= $5)
       )
       SELECT page.*, counted.total FROM (SELECT count(*) AS total FROM matching) counted
       LEFT JOIN LATERAL (
         SELECT * FROM matching
         WHERE $6::timestamptz IS NULL OR ("statusAt", "taskId") < ($6::timestamptz, $7::uuid)
         ORDER BY "statusAt" DESC, "taskId" DESC LIMIT $8
       ) page ON true
       ORDER BY page."statusAt" DESC, page."taskId" DESC`,
      parameters,
    );
    return {
      total: Number(rows[0]?.total ?? 0),
      rows: rows.filter(({ taskId }) => (taskId as string | null) !== null).map(({ total: _, ...row }) => row),
    };
  }

  async addMessage(manager: EntityManager, tenantId: TenantId, taskId: string, message: string): Promise<void> {
    await manager.query(`INSERT INTO a2a_messages (task_id, tenant_id, message) VALUES ($1, $2, $3)`, [
      taskId,
      tenantId,
      storedText('run', 'message', message),
    ]);
  }

  /** The last messages of each task as JSON texts, oldest first. */
  async messages(
    tenantId: TenantId,
    taskIds: string[],
    limit: number | undefined,
    manager: EntityManager = this.database.manager,
  ): Promise<Map<string, string[]>> {
    const rows: { task_id: string; message: string }[] =
      limit === 0
        ? []
        : await manager.query(
            `SELECT task_id, message FROM unnest($2::uuid[]) AS asked (task_id)
             CROSS JOIN LATERAL (
               SELECT seq, message FROM a2a_messages
               WHERE a2a_messages.task_id = asked.task_id AND tenant_id = $1 ORDER BY seq DESC LIMIT $3
             ) AS recent ORDER BY seq`,
            [tenantId, taskIds, limit ?? null],
          );
    const messages = new Map<string, string[]>(taskIds.map((taskId) => [taskId, []]));
    for (const { task_id, message } of rows) messages.get(task_id)?.push(message);
    return messages;
  }

  async putPushConfig(
    tenantId: TenantId,
    config: PushConfigRow,
    manager: EntityManager = this.database.manager,
  ): Promise<void> {
    await manager.query(
      `INSERT INTO a2a_push_configs (task_id, config_id, tenant_id, protocol_version, sealed) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (task_id, config_id) DO UPDATE SET protocol_version = excluded.protocol_version, sealed = excluded.sealed
       WHERE a2a_push_configs.tenant_id = $3`,
      [config.taskId, config.configId, tenantId, config.protocolVersion, config.sealed],
    );
  }

  /** Oldest first. */
  pushConfigs(
    tenantId: TenantId,
    taskId: string,
    manager: EntityManager = this.database.manager,
  ): Promise<PushConfigRow[]> {
    return manager.query(
      `SELECT task_id AS "taskId", config_id AS "configId", protocol_version AS "protocolVersion", sealed
       FROM a2a_push_configs WHERE tenant_id = $1 AND task_id = $2 ORDER BY created_at, config_id`,
      [tenantId, taskId],
    );
  }

  async deletePushConfig(tenantId: TenantId, taskId: string, configId: string): Promise<void> {
    await this.database.query(`DELETE FROM a2a_push_configs WHERE tenant_id = $1 AND task_id = $2 AND config_id = $3`, [
      tenantId,
      taskId,
      configId,
    ]);
  }

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }
}
