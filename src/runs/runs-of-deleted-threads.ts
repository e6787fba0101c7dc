import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inFlightSql } from '../database/run-status';
import { causeOfQuery } from '../database/sql-errors';
import { ApiError } from '../http/api-error';
import { THREAD_KEYS, type ThreadKey, threadKeys } from '../threads/thread-key';
import { ListensToThreads, type ThreadListener } from '../threads/thread-listeners';
import { RunListeners } from './run-listeners';
import { RunEntity } from './run.entity';

/** Informs the followers of runs in flight whose threads are deleted. The sweep starts the deliveries that they store. */
@Injectable()
@ListensToThreads(0)
export class RunsOfDeletedThreads implements ThreadListener {
  private readonly logger = new Logger(RunsOfDeletedThreads.name);

  constructor(private readonly listeners: RunListeners) {}

  async beforeDeletion(manager: EntityManager, threads: ThreadKey[]): Promise<void> {
    const runs: { runId: string }[] = await manager.query(
      `SELECT run_id AS "runId" FROM runs WHERE (tenant_id, thread_id) IN (${THREAD_KEYS}) AND ${inFlightSql()}`,
      threadKeys(threads),
    );
    for (const { runId } of runs) {
      const run = await this.readable(manager, runId);
      if (run && this.listeners.follow(run)) await this.listeners.deletedInFlight(manager, run);
    }
  }

  /** The run; null where it can't be decrypted, which must not keep its thread from being deleted. */
  private async readable(manager: EntityManager, runId: string): Promise<RunEntity | null> {
    try {
      return await manager.findOneBy(RunEntity, { runId });
    } catch (error) {
      const refusal = causeOfQuery(error);
      // 503 passes: the caller repeats the deletion.
      if (!(refusal instanceof ApiError) || refusal.status === 503) throw error;
      this.logger.warn(
        { err: error, run_id: runId },
        'A run that cannot be decrypted is deleted: its webhook and its task get no end',
      );
      return null;
    }
  }
}
