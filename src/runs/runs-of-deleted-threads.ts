import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { columnsOf } from '../database/entity-columns';
import { inFlightSql } from '../database/run-status';
import { THREAD_KEYS, type ThreadKey, threadKeys } from '../threads/thread-key';
import { ListensToThreads, type ThreadListener } from '../threads/thread-listeners';
import { RunListeners } from './run-listeners';
import { RunEntity } from './run.entity';

/** Informs the followers of runs in flight whose threads are deleted. The sweep starts the deliveries that they store. */
@Injectable()
@ListensToThreads(0)
export class RunsOfDeletedThreads implements ThreadListener {
  constructor(private readonly listeners: RunListeners) {}

  async beforeDeletion(manager: EntityManager, threads: ThreadKey[]): Promise<void> {
    const runs: RunEntity[] = await manager.query(
      `SELECT ${columnsOf(RunEntity, 'runs')} FROM runs
       WHERE (tenant_id, thread_id) IN (${THREAD_KEYS}) AND ${inFlightSql()}`,
      threadKeys(threads),
    );
    for (const run of runs) await this.listeners.deletedInFlight(manager, run);
  }
}
