import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { FinalState, RunError } from '../graphs/host/protocol';
import type { RunEnd } from '../streams/run-event';
import { ThreadEntity } from '../threads/thread.entity';
import { RunEntity } from './run.entity';
import { appendEnd, deleteCheckpoints, lockThread, nextRun } from './runs.repository';

/** How long the events and checkpoints of a stateless run are kept behind its end, so that it can still be rejoined. */
const TEMPORARY_KEPT = '1 hour';

export type Held =
  | { state: 'held'; run: RunEntity; nextSeq: number }
  | { state: 'waiting' }
  | { state: 'ended'; ending: RunEnd['status'] };

export interface RunEnding {
  status: RunEnd['status'];
  error?: RunError;
  /** The state that the graph left; absent when nobody could read it. */
  state?: FinalState;
  result: unknown;
}

export interface Ended {
  run: RunEntity;
  next: RunEntity | null;
  deliveryId: string | undefined;
}

/** Called inside the transaction that ends a run, with the run as it is then. Returns a delivery's id. */
export type OnEnd = (manager: EntityManager, run: RunEntity, ending: RunEnding) => Promise<string | undefined>;

/** The transitions of a run that its execution makes: each is one transaction under the thread's lock. */
@Injectable()
export class RunLifecycleRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** Takes the run for an attempt. From here on every earlier attempt is fenced. */
  begin(runId: string): Promise<Held> {
    return this.database.transaction(async (manager): Promise<Held> => {
      const threadId = await threadOf(manager, runId);
      if (!threadId) return { state: 'ended', ending: 'deleted' };
      await manager.query(`SELECT 1 FROM threads WHERE thread_id = $1 FOR UPDATE`, [threadId]);
      const run = await manager.findOneBy(RunEntity, { runId });
      if (!run) return { state: 'ended', ending: 'deleted' };
      if (run.status !== 'pending' && run.status !== 'running') return { state: 'ended', ending: run.status };
      const [{ taken, next_seq: nextSeq }]: [{ taken: boolean; next_seq: number }] = await manager.query(
        `SELECT EXISTS (SELECT 1 FROM runs WHERE thread_id = $1 AND status = 'running' AND run_id <> $2) AS taken,
                (SELECT coalesce(max(seq), -1) + 1 FROM run_events WHERE run_id = $2) AS next_seq`,
        [threadId, runId],
      );
      if (taken) return { state: 'waiting' };
      await manager.query(
        `UPDATE runs SET status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, now()), updated_at = now()
         WHERE run_id = $1`,
        [runId],
      );
      return { state: 'held', run: { ...run, status: 'running', attempt: run.attempt + 1 }, nextSeq };
    });
  }

  /**
   * Ends a run: its status, its thread's status and values, the end of its log, its webhook delivery and who is next are one
   * transaction. Resolves to null when the attempt doesn't hold the run any more; then nothing was changed.
   * @param attempt undefined to end it whichever attempt holds it.
   */
  end(runId: string, attempt: number | undefined, ending: RunEnding, onEnd: OnEnd): Promise<Ended | null> {
    return this.database.transaction(async (manager) => {
      const threadId = await threadOf(manager, runId);
      if (!threadId) return null;
      const tenantId = await tenantOf(manager, threadId);
      const thread = tenantId && (await lockThread(manager, tenantId, threadId));
      const run = await manager.findOneBy(RunEntity, { runId });
      if (!thread || !run || !isHeld(run, attempt)) return null;
      const ended = await closeRun(manager, run, ending);
      await appendEnd(manager, run, { status: ending.status, result: ending.result });
      await this.settleThread(manager, thread, ending);
      const deliveryId = await onEnd(manager, ended, ending);
      return { run: ended, next: await nextRun(manager, threadId), deliveryId };
    });
  }

  /** The run as it is now; as it was when it has been deleted. */
  async reload(run: RunEntity): Promise<RunEntity> {
    return (await this.database.getRepository(RunEntity).findOneBy({ runId: run.runId })) ?? run;
  }

  /** Takes back what a run wrote, for a rollback; refused like every write when another attempt holds the run. */
  async discardCheckpoints(run: RunEntity): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const held: unknown[] = await manager.query(
        `SELECT 1 FROM runs WHERE run_id = $1 AND attempt = $2 AND status = 'running' FOR SHARE`,
        [run.runId, run.attempt],
      );
      if (held.length > 0) await deleteCheckpoints(manager, run);
      return held.length > 0;
    });
  }

  /** Runs that wait although their thread is free: somebody died before starting them. Oldest first. */
  async findUnstarted(olderThanMs: number, limit: number): Promise<RunEntity[]> {
    return this.database
      .createQueryBuilder(RunEntity, 'r')
      .where(`r.status = 'pending' AND r.scheduledAt < now() - :age * interval '1 millisecond'`, { age: olderThanMs })
      .andWhere(
        `NOT EXISTS (SELECT 1 FROM runs o WHERE o.thread_id = r.thread_id AND (o.status = 'running'
           OR (o.status = 'pending' AND (o.scheduled_at, o.run_id) < (r.scheduled_at, r.run_id))))`,
      )
      .orderBy('r.scheduledAt')
      .limit(limit)
      .getMany();
  }

  /** Runs that have been running for a while, longest untouched first: candidates for a workflow that is gone. */
  async findRunning(startedBeforeMs: number, limit: number): Promise<RunEntity[]> {
    return this.database
      .createQueryBuilder(RunEntity, 'r')
      .where(`r.status = 'running' AND r.startedAt < now() - :age * interval '1 millisecond'`, { age: startedBeforeMs })
      .orderBy('random()')
      .limit(limit)
      .getMany();
  }

  async forgetIdempotencyKeys(olderThanMs: number): Promise<void> {
    await this.database.query(`DELETE FROM idempotency_keys WHERE created_at < now() - $1 * interval '1 millisecond'`, [
      olderThanMs,
    ]);
  }

  private async settleThread(manager: EntityManager, thread: ThreadEntity, ending: RunEnding): Promise<void> {
    const { state, error, status } = ending;
    const failed = status === 'error' || status === 'timeout';
    const settled = failed ? 'error' : state && state.next.length > 0 ? 'interrupted' : 'idle';
    await manager.query(
      `UPDATE threads SET
         status = CASE WHEN EXISTS (SELECT 1 FROM runs WHERE thread_id = $1 AND status IN ('pending', 'running'))
                  THEN 'busy' ELSE $2 END,
         error = $3,
         "values" = CASE WHEN $4 THEN $5::jsonb ELSE "values" END,
         interrupts = CASE WHEN $4 THEN $6::jsonb ELSE interrupts END,
         state_updated_at = CASE WHEN $4 THEN now() ELSE state_updated_at END,
         delete_after = CASE WHEN temporary THEN now() + interval '${TEMPORARY_KEPT}' ELSE delete_after END,
         updated_at = now()
       WHERE thread_id = $1`,
      [
        thread.threadId,
        settled,
        failed ? JSON.stringify(error ?? null) : null,
        state !== undefined,
        storable(state?.values ?? null),
        storable(state?.interrupts ?? '{}'),
      ],
    );
  }
}

/** Postgres' jsonb can't hold U+0000, which a tool's output may contain; the checkpoint keeps the exact value. */
function storable(json: string | null): string | null {
  return json?.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\\ufffd') ?? null;
}

function isHeld(run: RunEntity, attempt: number | undefined): boolean {
  if (attempt !== undefined) return run.status === 'running' && run.attempt === attempt;
  return run.status === 'running' || run.status === 'pending';
}

async function closeRun(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<RunEntity> {
  if (ending.status === 'deleted') {
    await manager.delete(RunEntity, { runId: run.runId });
    return { ...run, endedAt: new Date() };
  }
  const endedAt = new Date();
  const change = {
    status: ending.status,
    error: ending.error ?? null,
    endedAt,
    updatedAt: endedAt,
    cancelAction: null,
  };
  await manager.update(RunEntity, { runId: run.runId }, change);
  return { ...run, ...change };
}

async function threadOf(manager: EntityManager, runId: string): Promise<string | undefined> {
  const [row]: { thread_id: string }[] = await manager.query(`SELECT thread_id FROM runs WHERE run_id = $1`, [runId]);
  return row?.thread_id;
}

async function tenantOf(manager: EntityManager, threadId: string): Promise<TenantId | undefined> {
  const [row]: { tenant_id: TenantId }[] = await manager.query(`SELECT tenant_id FROM threads WHERE thread_id = $1`, [
    threadId,
  ]);
  return row?.tenant_id;
}
