import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { parametersOf, type SearchAccess, searchAccessSql } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { inFlightSql } from '../database/run-status';
import { ThreadEntity } from '../threads/thread.entity';
import type { AskRunStats, RunFilter, SearchRuns } from './run-search.schemas';
import { RunEntity } from './run.entity';

/** Columns that a row of a list needs: neither input nor configuration, which may be large. */
const LISTED = [
  ...['runId', 'threadId', 'assistantId', 'graphId', 'status', 'attempt', 'createdAt', 'startedAt', 'endedAt'],
  ...['error', 'cancelReason', 'metadata'],
].map((column) => `r.${column}`);

/** Runs that are not ended: how many, and since when the oldest one waits. */
export interface OpenRuns {
  pending: string;
  running: string;
  oldest_pending_at: Date | null;
}

export interface StatsRow {
  bucket: number;
  created: string;
  success: string;
  error: string;
  interrupted: string;
  wait_ms_p50: number | null;
  wait_ms_p95: number | null;
  duration_ms_p50: number | null;
  duration_ms_p95: number | null;
}

/** Runs of all threads of a tenant. Ids of runs are UUIDv7: their order is that of creation, and begins with the time. */
@Injectable()
export class RunSearchRepository {
  constructor(@InjectRepository(RunEntity) private readonly runs: Repository<RunEntity>) {}

  /** Newest first. */
  searchRuns(tenantId: TenantId, search: SearchRuns, access: SearchAccess): Promise<RunEntity[]> {
    const query = this.filtered(tenantId, search, access).select(LISTED);
    if (search.before !== undefined) query.andWhere('r.runId < :before', { before: search.before });
    return query.orderBy('r.runId', 'DESC').limit(search.limit).getMany();
  }

  countRuns(tenantId: TenantId, filter: RunFilter, access: SearchAccess): Promise<number> {
    return this.filtered(tenantId, filter, access).getCount();
  }

  async openRuns(tenantId: TenantId, { assistant_id }: AskRunStats, access: SearchAccess): Promise<OpenRuns> {
    const query = this.filtered(tenantId, { assistant_id }, access)
      .andWhere(inFlightSql('r'))
      .select(`count(*) FILTER (WHERE r.status = 'pending' AND r.scheduled_at <= now())`, 'pending')
      .addSelect(`count(*) FILTER (WHERE r.status = 'running')`, 'running')
      .addSelect(
        `min(r.scheduled_at) FILTER (WHERE r.status = 'pending' AND r.scheduled_at <= now())`,
        'oldest_pending_at',
      );
    return (await query.getRawOne<OpenRuns>())!;
  }

  /** Counts runs by time of creation, in buckets of equal length from `from` on; buckets without a run are left out. */
  stats(
    tenantId: TenantId,
    { assistant_id }: AskRunStats,
    { from, bucketSeconds }: { from: Date; bucketSeconds: number },
    access: SearchAccess,
  ): Promise<StatsRow[]> {
    const query = this.filtered(tenantId, { assistant_id, created_after: from.toISOString() }, access)
      .select(`floor(extract(epoch FROM r.created_at - :from) / :bucketSeconds)::int`, 'bucket')
      .setParameters({ from, bucketSeconds })
      .addSelect('count(*)', 'created')
      .addSelect(`count(*) FILTER (WHERE r.status = 'success')`, 'success')
      .addSelect(`count(*) FILTER (WHERE r.status IN ('error', 'timeout'))`, 'error')
      .addSelect(`count(*) FILTER (WHERE r.status = 'interrupted')`, 'interrupted')
      .groupBy('1')
      .orderBy('1');
    // One that ended before its turn has a place in its thread's stream instead of a start.
    const startedAt = '(CASE WHEN r.attempt > 0 THEN r.started_at END)';
    for (const [name, end, share] of [
      ['wait_ms_p50', startedAt, 0.5],
      ['wait_ms_p95', startedAt, 0.95],
      ['duration_ms_p50', 'r.ended_at', 0.5],
      ['duration_ms_p95', 'r.ended_at', 0.95],
    ] as const) {
      const ms = `greatest(extract(epoch FROM ${end} - greatest(r.created_at, r.scheduled_at)) * 1000, 0)`;
      // `greatest` of null and 0 is 0.
      const known = `FILTER (WHERE ${end} IS NOT NULL)`;
      query.addSelect(`percentile_cont(${share}) WITHIN GROUP (ORDER BY ${ms}) ${known}`, name);
    }
    return query.getRawMany<StatsRow>();
  }

  private filtered(tenantId: TenantId, filter: RunFilter, access: SearchAccess): SelectQueryBuilder<RunEntity> {
    const query = this.runs.createQueryBuilder('r').where('r.tenantId = :tenantId', { tenantId });
    const { run_id, status, assistant_id, graph_id, thread_id, metadata, error, created_after, created_before } =
      filter;
    if (run_id) query.andWhere('r.runId = :run_id', { run_id });
    if (status) query.andWhere('r.status = ANY(:status)', { status });
    if (assistant_id) query.andWhere('r.assistantId = :assistant_id', { assistant_id });
    if (graph_id) query.andWhere('r.graphId = :graph_id', { graph_id });
    if (thread_id) query.andWhere('r.threadId = :thread_id', { thread_id });
    if (metadata) query.andWhere('r.metadata @> :metadata', { metadata: JSON.stringify(metadata) });
    if (error) query.andWhere(`strpos(lower(r.error ->> 'message'), lower(:error)) > 0`, { error });
    // By id as well as by time: the index of ids finds the range.
    if (created_after) {
      query.andWhere('r.runId >= :from_id AND r.createdAt >= :created_after', {
        from_id: firstIdAt(new Date(created_after), -1),
        created_after,
      });
    }
    if (created_before) {
      query.andWhere('r.runId < :to_id AND r.createdAt < :created_before', {
        to_id: firstIdAt(new Date(created_before), 1),
        created_before,
      });
    }
    const isTheirs = searchAccessSql(access, 't.metadata', parametersOf(query));
    if (isTheirs === undefined) return query;
    return query.innerJoin(ThreadEntity, 't', `t.threadId = r.threadId AND t.tenantId = r.tenantId AND ${isTheirs}`);
  }
}

/** Clocks of several processes: an id may be this much away from the time of its row. */
const SKEW_MS = 60_000;

/** The least UUIDv7 of a moment, moved by the skew of clocks. */
function firstIdAt(at: Date, direction: 1 | -1): string {
  const ms = Math.max(0, at.getTime() + direction * SKEW_MS);
  const hex = ms.toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
