import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { BatchedCalls } from '../database/batched-calls';
import { acrossTenants } from '../database/request-scope';
import { prepared } from '../patches/pg/prepared-statements';
import type { ThreadKey } from '../threads/thread-key';
import type { RunEntity } from './run.entity';

export interface StartedRun {
  runId: string;
  graphId: string;
  position: number;
}

/** State of a thread's stream from a position on. */
export interface ThreadProgress {
  /** Whether the thread exists. */
  isThere: boolean;
  /** The first run that began at or after the position; null when none has yet. */
  run: StartedRun | null;
}

interface ThreadPosition extends ThreadKey {
  position: number;
}

/**
 * Position of a run in the stream of its thread: runs of a thread never overlap, so their starts, in microseconds, order them.
 * One that ended before its turn is given a start so that its end can be emitted (placeUnstarted).
 */
const POSITION = `(extract(epoch FROM started_at) * 1000000)::bigint`;

/**
 * Reads the progress of many threads. The LIMITs keep the planner's estimate at one entry of the lists, and it from reading whole
 * tables for many entries.
 */
const FIND_PROGRESS = prepared(
  'find-progress',
  `SELECT run.run_id, run.graph_id, run.position, thread.is_there IS NOT NULL AS is_there
  FROM (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[])
      WITH ORDINALITY AS asked (tenant_id, thread_id, position, index) LIMIT cardinality($1)
  ) AS asked
  LEFT JOIN LATERAL (
    SELECT true AS is_there FROM threads
    WHERE threads.tenant_id = asked.tenant_id AND threads.thread_id = asked.thread_id LIMIT 1
  ) AS thread ON true
  LEFT JOIN LATERAL (
    SELECT run_id, graph_id, ${POSITION} AS position FROM runs
    WHERE runs.tenant_id = asked.tenant_id AND runs.thread_id = asked.thread_id
      AND started_at IS NOT NULL AND ${POSITION} >= asked.position
    ORDER BY started_at LIMIT 1
  ) AS run ON true
  ORDER BY asked.index`,
);

interface ProgressRow {
  run_id: string | null;
  graph_id: string;
  position: string;
  is_there: boolean;
}

/** Positions of runs in the stream of a thread. */
@Injectable()
export class ThreadPositionsRepository {
  private readonly progress: BatchedCalls<ThreadPosition, ThreadProgress>;

  constructor(@InjectDataSource() private readonly database: DataSource) {
    // One query serves readers of several tenants; each reader's access to its thread was checked before.
    this.progress = new BatchedCalls((queries) => acrossTenants(() => this.findProgresses(queries)));
  }

  /**
   * Finds the thread and its run at a position, with one query for all streams that ask at the same moment: the start of any run
   * wakes all that are idle.
   */
  findProgress(tenantId: TenantId, threadId: string, position: number): Promise<ThreadProgress> {
    return this.progress.call({ tenantId, threadId, position });
  }

  /** The run of a thread that began at or after a point of its stream; null when none has yet. */
  async findStartedRun(tenantId: TenantId, threadId: string, position: number): Promise<StartedRun | null> {
    const { run } = await this.findProgress(tenantId, threadId, position);
    return run;
  }

  /** The current position of a thread's stream: the start of the run in flight, otherwise after the last one. */
  async findCurrentPosition(tenantId: TenantId, threadId: string): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.database.query(
      `SELECT coalesce(max(${POSITION}) FILTER (WHERE status = 'running'), max(${POSITION}) + 1, 0) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL`,
      [tenantId, threadId],
    );
    return Number(position);
  }

  /** The start of the run in which a number of the event protocol falls; 0 when it is before all that are known. */
  async findPositionOf(tenantId: TenantId, threadId: string, number: number): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.database.query(
      `SELECT coalesce(max(${POSITION}) FILTER (WHERE ${POSITION} <= $3), 0) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL`,
      [tenantId, threadId, number],
    );
    return Number(position);
  }

  /** Position for a client that was away for a moment: the first run that was running then, or the last one of all. */
  async findRecentPosition(tenantId: TenantId, threadId: string, seconds: number): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.database.query(
      `SELECT coalesce(min(${POSITION}) FILTER (WHERE ended_at IS NULL OR ended_at > now() - make_interval(secs => $3)),
                       max(${POSITION}), 0) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL`,
      [tenantId, threadId, seconds],
    );
    return Number(position);
  }

  /** A number after all events of earlier runs that have ended, and before those of this run and of one in flight. */
  async findPositionBefore(tenantId: TenantId, { runId, threadId }: RunEntity): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.database.query(
      `SELECT least((extract(epoch FROM max(created_at) FILTER (WHERE run_id = $3)) * 1000000)::bigint,
                    min(${POSITION}) FILTER (WHERE status = 'running')) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2`,
      [tenantId, threadId, runId],
    );
    return Number(position);
  }

  private async findProgresses(queries: ThreadPosition[]): Promise<ThreadProgress[]> {
    const rows: ProgressRow[] = await this.database.query(FIND_PROGRESS, [
      queries.map(({ tenantId }) => tenantId),
      queries.map(({ threadId }) => threadId),
      queries.map(({ position }) => position),
    ]);
    return rows.map(({ run_id: runId, graph_id: graphId, position, is_there: isThere }) => ({
      isThere,
      run: runId === null ? null : { runId, graphId, position: Number(position) },
    }));
  }
}

/**
 * Gives runs that ended before their turn their places in the thread's stream: after what was emitted so far, in order. While a
 * run is in flight on the thread they wait for its end, which has to be emitted first.
 */
export async function placeUnstarted(manager: EntityManager, { tenantId, threadId }: ThreadKey): Promise<void> {
  await manager.query(
    `UPDATE runs SET started_at = clock_timestamp() + place * interval '1 microsecond'
     FROM (
       SELECT run_id, row_number() OVER (ORDER BY ended_at, run_id) AS place FROM runs
       WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NULL AND ended_at IS NOT NULL
     ) AS unstarted
     WHERE runs.run_id = unstarted.run_id
       AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = $1 AND o.thread_id = $2 AND o.status = 'running')`,
    [tenantId, threadId],
  );
}
