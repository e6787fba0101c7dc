import { Injectable } from '@nestjs/common';
import { Authorizer } from '../auth/custom/authorizer';
import type { SearchAccess } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { toApiTime } from '../http/api-time';
import { RunSearchRepository } from './run-search.repository';
import type { AskRunStats, FoundRun, RunFilter, RunStats, SearchRuns } from './run-search.schemas';
import type { RunEntity } from './run.entity';

/** Finding runs over all threads, and counting them. */
@Injectable()
export class RunSearchService {
  constructor(
    private readonly repository: RunSearchRepository,
    private readonly authorizer: Authorizer,
  ) {}

  async searchRuns(tenantId: TenantId, search: SearchRuns): Promise<FoundRun[]> {
    const access = await this.authorized({ thread_id: search.thread_id });
    return (await this.repository.searchRuns(tenantId, search, access)).map(toFoundRun);
  }

  async countRuns(tenantId: TenantId, filter: RunFilter): Promise<number> {
    const access = await this.authorized({ thread_id: filter.thread_id });
    return this.repository.countRuns(tenantId, filter, access);
  }

  async stats(tenantId: TenantId, asked: AskRunStats): Promise<RunStats> {
    const access = await this.authorized();
    const bucketSeconds = (asked.hours * 3600) / asked.buckets;
    const from = new Date(Date.now() - asked.hours * 3_600_000);
    const [open, rows] = await Promise.all([
      this.repository.openRuns(tenantId, asked, access),
      this.repository.stats(tenantId, asked, { from, bucketSeconds }, access),
    ]);
    const byBucket = new Map(rows.map((row) => [row.bucket, row]));
    return {
      pending: Number(open.pending),
      running: Number(open.running),
      oldest_pending_at: open.oldest_pending_at && toApiTime(open.oldest_pending_at),
      bucket_seconds: bucketSeconds,
      buckets: Array.from({ length: asked.buckets }, (_, bucket) => {
        const row = byBucket.get(bucket);
        return {
          at: toApiTime(new Date(from.getTime() + bucket * bucketSeconds * 1000)),
          created: Number(row?.created ?? 0),
          success: Number(row?.success ?? 0),
          error: Number(row?.error ?? 0),
          interrupted: Number(row?.interrupted ?? 0),
          wait_ms_p50: row?.wait_ms_p50 ?? null,
          wait_ms_p95: row?.wait_ms_p95 ?? null,
          duration_ms_p50: row?.duration_ms_p50 ?? null,
          duration_ms_p95: row?.duration_ms_p95 ?? null,
        };
      }),
    };
  }

  /** Runs are those of threads: who may search these may search them, and finds those of the threads that this would find. */
  private authorized(requested: { thread_id?: string | undefined } = {}): Promise<SearchAccess> {
    return this.authorizer.authorizeSearch('threads', { ...requested, metadata: {} });
  }
}

function toFoundRun(row: RunEntity): FoundRun {
  return {
    run_id: row.runId,
    thread_id: row.threadId,
    assistant_id: row.assistantId,
    graph_id: row.graphId,
    status: row.status,
    created_at: toApiTime(row.createdAt),
    // One that ended before its turn has a place in its thread's stream.
    started_at: row.attempt > 0 && row.startedAt ? toApiTime(row.startedAt) : null,
    ended_at: row.endedAt && toApiTime(row.endedAt),
    attempts: row.attempt,
    error: row.error && { error: row.error.error, message: row.error.message },
    cancel_reason: row.status === 'interrupted' ? row.cancelReason : null,
    metadata: row.metadata,
  };
}
