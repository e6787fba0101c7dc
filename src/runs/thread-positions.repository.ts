import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { ThreadKey } from '../threads/thread-key';
import type { RunEntity } from './run.entity';

export interface StartedRun {
  runId: string;
  graphId: string;
  position: number;
}

/**
 * Position of a run in the stream of its thread: runs of a thread never overlap, so their starts, in microseconds, order them.
 * One that ended before its turn is given a start so that its end can be emitted (placeUnstarted).
 */
const POSITION = `(extract(epoch FROM started_at) * 1000000)::bigint`;

/** Positions of runs in the stream of a thread. */
@Injectable()
export class ThreadPositionsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** The run of a thread that began at or after a point of its stream; null when none has yet. */
  async findStartedRun(tenantId: TenantId, threadId: string, position: number): Promise<StartedRun | null> {
    const [run]: { run_id: string; graph_id: string; position: string }[] = await this.database.query(
      `SELECT run_id, graph_id, ${POSITION} AS position FROM runs
       WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL AND ${POSITION} >= $3
       ORDER BY started_at LIMIT 1`,
      [tenantId, threadId, position],
    );
    return run ? { runId: run.run_id, graphId: run.graph_id, position: Number(run.position) } : null;
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
