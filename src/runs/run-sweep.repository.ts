import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RunEntity } from './run.entity';

/** Queries of the sweep of runs, and of the hand-over of a lost worker's runs. */
@Injectable()
export class RunSweepRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** Runs that wait although their thread is free, since a process died before starting them; oldest first. */
  async findUnstartedRuns(olderThanMs: number, limit: number): Promise<RunEntity[]> {
    return this.database
      .createQueryBuilder(RunEntity, 'r')
      .where(`r.status = 'pending' AND r.endedAt IS NULL AND r.scheduledAt < now() - :age * interval '1 millisecond'`, {
        age: olderThanMs,
      })
      .andWhere(
        `NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = r.tenant_id AND o.thread_id = r.thread_id AND (o.status = 'running'
           OR (o.status = 'pending' AND (o.scheduled_at, o.run_id) < (r.scheduled_at, r.run_id))))`,
      )
      .orderBy('r.scheduledAt')
      .limit(limit)
      .getMany();
  }

  /**
   * Runs that have been running for a while, in random order.
   * @param running for how long, in milliseconds
   */
  async findRunningRuns(running: { forMs: number; lessThanMs?: number }, limit: number): Promise<RunEntity[]> {
    const query = this.database
      .createQueryBuilder(RunEntity, 'r')
      .where(`r.status = 'running' AND r.startedAt <= now() - :forMs * interval '1 millisecond'`, running);
    if (running.lessThanMs !== undefined) {
      query.andWhere(`r.startedAt > now() - :lessThanMs * interval '1 millisecond'`, running);
    }
    return query.orderBy('random()').limit(limit).getMany();
  }

  /** Runs in flight in the process of this task queue. */
  findRunsOfOwner(taskQueue: string): Promise<RunEntity[]> {
    return this.database.getRepository(RunEntity).findBy({ status: 'running', taskQueue });
  }

  /** Runs that a worker handed back when it stopped, and that no other has taken yet. */
  findHandedBackRuns(): Promise<RunEntity[]> {
    return this.database
      .createQueryBuilder(RunEntity, 'r')
      .where(`r.status = 'running' AND r.taskQueue IS NULL AND r.handed_back`)
      .getMany();
  }

  async deleteIdempotencyKeys(olderThanMs: number): Promise<void> {
    await this.database.query(`DELETE FROM idempotency_keys WHERE created_at < now() - $1 * interval '1 millisecond'`, [
      olderThanMs,
    ]);
  }
}
