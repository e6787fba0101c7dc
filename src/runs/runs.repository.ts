import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { type AccessFilter, restrict } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import type { RunStatus } from '../database/run-status';
import { ThreadEntity } from '../threads/thread.entity';
import type { ThreadKey } from '../threads/thread-key';
import { RunEntity } from './run.entity';
import type { ListRuns } from './runs.schemas';
import { findNextRun } from './thread-lock';

/** Reading runs. */
@Injectable()
export class RunsRepository {
  constructor(@InjectRepository(RunEntity) private readonly runs: Repository<RunEntity>) {}

  findRun(tenantId: TenantId, runId: string, threadId?: string): Promise<RunEntity | null> {
    return this.runs.findOneBy({ tenantId, runId, ...(threadId !== undefined && { threadId }) });
  }

  listRuns(tenantId: TenantId, threadId: string, { limit, offset, status }: ListRuns): Promise<RunEntity[]> {
    return this.runs.find({
      where: { tenantId, threadId, ...(status !== undefined && { status: status as RunStatus }) },
      order: { scheduledAt: 'DESC', runId: 'DESC' },
      take: limit,
      skip: offset,
    });
  }

  /** The tenant's runs with one of these statuses, on threads that the filter allows. */
  findRunsByStatus(tenantId: TenantId, statuses: readonly RunStatus[], access?: AccessFilter): Promise<RunEntity[]> {
    if (!access) return this.runs.findBy({ tenantId, status: In(statuses) });
    const query = this.runs
      .createQueryBuilder('r')
      .innerJoin(ThreadEntity, 't', 't.threadId = r.threadId AND t.tenantId = r.tenantId')
      .where('r.tenantId = :tenantId AND r.status IN (:...statuses)', { tenantId, statuses });
    return restrict(query, 't.metadata', access).getMany();
  }

  findRunsOfAssistant(tenantId: TenantId, assistantId: string, statuses: readonly RunStatus[]): Promise<RunEntity[]> {
    return this.runs.findBy({ tenantId, assistantId, status: In(statuses) });
  }

  findRunsOfThread(tenantId: TenantId, threadId: string, runIds: string[]): Promise<RunEntity[]> {
    return this.runs.findBy({ tenantId, threadId, runId: In(runIds) });
  }

  /** The next run of a thread that may begin: pending, due, and none is running. */
  findNextRun(thread: ThreadKey): Promise<RunEntity | null> {
    return findNextRun(this.runs.manager, thread);
  }
}
