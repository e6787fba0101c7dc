import type { EntityManager } from 'typeorm';
import { columnsOf } from '../database/entity-columns';
import { prepared } from '../patches/pg/prepared-statements';
import { inFlightSql } from '../database/run-status';
import { ThreadEntity } from '../threads/thread.entity';
import type { ThreadKey } from '../threads/thread-key';
import { TEMPORARY_KEPT } from './run-closing';
import { RunEntity } from './run.entity';

const LOCK_THREAD = prepared(
  'lock-thread',
  `SELECT ${columnsOf(ThreadEntity, 'threads')} FROM threads WHERE tenant_id = $1 AND thread_id = $2 FOR UPDATE`,
);

/** Takes the thread's row lock: everything that concerns the order of a thread's runs happens under it. */
export async function lockThread(
  manager: EntityManager,
  tenantId: string,
  threadId: string,
): Promise<ThreadEntity | null> {
  const [thread]: ThreadEntity[] = await manager.query(LOCK_THREAD, [tenantId, threadId]);
  return thread ?? null;
}

/** The oldest run of the thread that is due, unless one is running. */
export async function findNextRun(
  manager: EntityManager,
  { tenantId, threadId }: ThreadKey,
): Promise<RunEntity | null> {
  return manager
    .createQueryBuilder(RunEntity, 'r')
    .where('r.tenantId = :tenantId AND r.threadId = :threadId', { tenantId, threadId })
    .andWhere(`r.status = 'pending' AND r.scheduledAt <= clock_timestamp()`)
    .andWhere(
      `NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = :tenantId AND o.thread_id = :threadId AND o.status = 'running')`,
    )
    .orderBy('r.scheduledAt')
    .addOrderBy('r.runId')
    .getOne();
}

const HAS_RUN = `EXISTS (SELECT 1 FROM runs WHERE tenant_id = $1 AND thread_id = $2)`;

/**
 * A thread whose last run in flight was removed before it began is no longer busy. One that isn't busy stays as the end of its
 * run left it, with the result, unless it is temporary and that run was deleted. A temporary thread is kept as long as after the end
 * of a run, unless none is left.
 */
export async function releaseThread(manager: EntityManager, { tenantId, threadId }: ThreadKey): Promise<void> {
  await manager.query(
    `UPDATE threads SET updated_at = now(), status = settled_status,
       delete_after = CASE WHEN NOT temporary THEN delete_after
         WHEN ${HAS_RUN} THEN now() + interval '${TEMPORARY_KEPT}' ELSE now() END
     WHERE tenant_id = $1 AND thread_id = $2 AND (status = 'busy' OR (temporary AND NOT ${HAS_RUN}))
       AND NOT EXISTS (SELECT 1 FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND ${inFlightSql()})`,
    [tenantId, threadId],
  );
}
