import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { checkpointKey } from '../database/checkpoint-key';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import { THREAD_KEYS, type ThreadKey, threadKeys } from './thread-key';
import { ThreadListeners } from './thread-listeners';

/** Deletes threads with everything that belongs to them, inside the caller's transaction. */
@Injectable()
export class ThreadRemoval {
  constructor(private readonly listeners: ThreadListeners) {}

  /**
   * Runs go with their threads by the foreign key; events and checkpoints have none, for speed and for the library.
   * @param where the SQL condition on `threads`
   * @returns the number of threads deleted
   */
  async deleteThreads(manager: EntityManager, where: string, parameters: unknown[]): Promise<number> {
    const gone: (ThreadKey & { runIds: string[] })[] = await manager.query(
      `SELECT tenant_id AS "tenantId", thread_id AS "threadId", ARRAY(
         SELECT run_id FROM runs WHERE runs.tenant_id = threads.tenant_id AND runs.thread_id = threads.thread_id
       ) AS "runIds"
       FROM threads WHERE ${where} FOR UPDATE`,
      parameters,
    );
    if (gone.length === 0) return 0;
    await this.listeners.beforeDeletion(manager, gone);
    await manager.query(`DELETE FROM threads WHERE (tenant_id, thread_id) IN (${THREAD_KEYS})`, threadKeys(gone));
    await this.listeners.threadsDeleted(manager, gone);
    await manager.query(`DELETE FROM run_events WHERE run_id = ANY($1::uuid[])`, [
      gone.flatMap(({ runIds }) => runIds),
    ]);
    await deleteCheckpointsOf(manager, gone);
    return gone.length;
  }
}

/** Deletes every checkpoint of the threads, with its values and writes. */
export async function deleteCheckpointsOf(manager: EntityManager, threads: ThreadKey[]): Promise<void> {
  const keys = threads.map(({ tenantId, threadId }) => checkpointKey(tenantId, threadId));
  for (const table of ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']) {
    await manager.query(`DELETE FROM ${CHECKPOINT_SCHEMA}.${table} WHERE thread_id = ANY($1::text[])`, [keys]);
  }
}
