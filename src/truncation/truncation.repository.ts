import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { releaseThread } from '../runs/thread-lock';
import { RUN_CANCEL_CHANNEL } from '../streams/run-event';
import { THREAD_KEYS, type ThreadKey, threadKeys } from '../threads/thread-key';
import { deleteCheckpointsOf, ThreadRemoval } from '../threads/thread-removal';
import { inFlightSql } from '../database/run-status';

/** Threads of one transaction: their locks are short. */
const BATCH = 100;

const IS_ONE_OF = `(tenant_id, thread_id) IN (${THREAD_KEYS})`;

interface StoppedRun extends ThreadKey {
  runId: string;
}

/** A tenant's threads as a whole, those of stateless runs too, or a part of what belongs to them. */
@Injectable()
export class TruncationRepository {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly removal: ThreadRemoval,
  ) {}

  /** Deletes the threads with their runs, events and checkpoints. Resolves to the ids of runs that were in flight. */
  deleteThreads(tenantId: TenantId): Promise<string[]> {
    return this.inBatches(tenantId, async (manager, threads) => {
      const stopped = await stopRuns(manager, threads);
      await this.removal.deleteThreads(manager, IS_ONE_OF, threadKeys(threads));
      return stopped.map(({ runId }) => runId);
    });
  }

  /** Deletes the runs and their events; the threads stay as they are. Resolves to the ids of runs that were in flight. */
  deleteRuns(tenantId: TenantId): Promise<string[]> {
    return this.inBatches(tenantId, async (manager, threads) => {
      const stopped = await stopRuns(manager, threads);
      const [gone]: [{ run_id: string }[], number] = await manager.query(
        `DELETE FROM runs WHERE ${IS_ONE_OF} RETURNING run_id`,
        threadKeys(threads),
      );
      await manager.query(`DELETE FROM run_events WHERE run_id = ANY($1::uuid[])`, [gone.map(({ run_id }) => run_id)]);
      for (const threadId of new Set(stopped.map((run) => run.threadId)))
        await releaseThread(manager, { tenantId, threadId });
      return stopped.map(({ runId }) => runId);
    });
  }

  /** The same request with the same key is to make a run again. */
  async forgetIdempotencyKeys(tenantId: TenantId): Promise<void> {
    await this.database.query(`DELETE FROM idempotency_keys WHERE tenant_id = $1`, [tenantId]);
  }

  /** Deletes the checkpoints, and what the rows of the threads keep of them. */
  async deleteStates(tenantId: TenantId): Promise<void> {
    await this.inBatches(tenantId, async (manager, threads) => {
      await deleteCheckpointsOf(manager, threads);
      await manager.query(
        `UPDATE threads SET "values" = NULL, interrupts = '{}', error = NULL, state_updated_at = NULL,
           status = 'idle', settled_status = 'idle', updated_at = now()
         WHERE ${IS_ONE_OF} AND status <> 'busy'`,
        threadKeys(threads),
      );
      return [];
    });
  }

  /** Each batch is a transaction that holds its threads, in the order of their ids: two wipes don't wait for each other. */
  private async inBatches(
    tenantId: TenantId,
    work: (manager: EntityManager, threads: ThreadKey[]) => Promise<string[]>,
  ): Promise<string[]> {
    const results: string[] = [];
    let last: string | null = null;
    for (;;) {
      const threads: ThreadKey[] = await this.database.transaction(async (manager) => {
        const held: { thread_id: string }[] = await manager.query(
          `SELECT thread_id FROM threads WHERE tenant_id = $1 AND ($2::uuid IS NULL OR thread_id > $2)
           ORDER BY thread_id LIMIT ${BATCH} FOR UPDATE`,
          [tenantId, last],
        );
        const batch = held.map(({ thread_id }) => ({ tenantId, threadId: thread_id }));
        results.push(...(await work(manager, batch)));
        return batch;
      });
      if (threads.length < BATCH) return results;
      last = threads.at(-1)!.threadId;
    }
  }
}

/** Notifies the workers; with the rows, which the caller deletes, they lose the right to write. */
function stopRuns(manager: EntityManager, threads: ThreadKey[]): Promise<StoppedRun[]> {
  return manager.query(
    `SELECT run_id AS "runId", tenant_id AS "tenantId", thread_id AS "threadId",
       pg_notify('${RUN_CANCEL_CHANNEL}', run_id::text)
     FROM runs WHERE ${IS_ONE_OF} AND ${inFlightSql()}`,
    threadKeys(threads),
  );
}
