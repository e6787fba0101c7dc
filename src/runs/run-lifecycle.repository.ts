import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { inEncryptionContext } from '../database/at-rest';
import { checkpointKey } from '../database/checkpoint-key';
import { columnsOf } from '../database/entity-columns';
import { prepared } from '../patches/pg/prepared-statements';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import { isInFlight } from '../database/run-status';
import { isUniqueViolation } from '../database/sql-errors';
import type { RunEnd } from '../streams/run-event';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import { RunBeginnings, TAKE_RUN, type TakenRow } from './run-beginnings';
import type { RunEnding } from './run-ending';
import { deleteCheckpoints } from './run-checkpoints';
import { RunEntity } from './run.entity';
import { RunListeners } from './run-listeners';
import { closeLoneRun, closeRun } from './run-closing';
import { findNextRun } from './thread-lock';

export interface OwnedRun {
  run: RunEntity;
  /** Sequence number of the next event in the run's log. */
  nextSeq: number;
  before: EarlierAttempt | null;
}

/** `waiting`: another run is on its thread, whose end starts it. */
export type Owned =
  ({ state: 'held' } & OwnedRun) | { state: 'ended'; ending: RunEnd['status'] | 'waiting'; run: RunEntity | null };

/** Another process has the run, which can be asked there. */
export interface Elsewhere {
  state: 'elsewhere';
  taskQueue: string;
}

/** `elsewhere`: without a task queue, the process that had the run has handed it back, and no other one has it yet. */
export type Begun = Owned | { state: 'elsewhere'; taskQueue: string | undefined; startedAt: Date };

/** State that the previous attempt left; null for the first one. */
export interface EarlierAttempt {
  /** Whether it handed the run back after a checkpoint, so that nothing of it is in doubt. */
  handedBack: boolean;
  /** Attempts in a row that were lost after the run's last checkpoint in a host of their own: nothing else can have ended that. */
  lostAttempts: number;
  /** Whether the run may be what ended the hosts before: its new attempt gets one of its own. */
  isSuspect: boolean;
}

/**
 * Attempts that may be lost after one checkpoint in company before the run is a suspect. The end of a host is the doing of one of
 * its runs, and makes all of them suspects; the end of a whole worker mostly isn't, and its runs, which are many, get a second try.
 */
const LOST_IN_COMPANY = 2;

export interface Ended {
  run: RunEntity;
  /** Status of the run in the ending that was written. */
  status: RunEnd['status'];
  next: RunEntity | null;
  /** Stored with the end, to be started now. */
  deliveries: DeliveryReference[];
}

/** `rollback-requested`: the run may only be deleted. Null: the attempt doesn't hold it any more. Nothing was changed in both cases. */
export type EndResult = Ended | 'rollback-requested' | null;

/** Locks the thread before the run, as every transaction does that locks both: the other order would be a deadlock. */
const LOCK_RUN = prepared(
  'lock-run',
  `WITH thread AS MATERIALIZED (
    SELECT tenant_id, thread_id FROM threads
    WHERE (tenant_id, thread_id) = (SELECT tenant_id, thread_id FROM runs WHERE run_id = $1) FOR UPDATE
  )
  SELECT ${columnsOf(RunEntity, 'r')} FROM thread JOIN runs r USING (tenant_id, thread_id)
  WHERE r.run_id = $1 FOR UPDATE OF r`,
);

/** The transitions of a run that its execution makes: each is one transaction under the thread's lock. */
@Injectable()
export class RunLifecycleRepository {
  private readonly beginnings: RunBeginnings;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly listeners: RunListeners,
  ) {
    this.beginnings = new RunBeginnings(database);
  }

  /**
   * Takes a run that no process has taken, for its first attempt; otherwise resolves to where its owner can be asked.
   * @param revision of the graphs' code that the attempt runs
   * @param taskQueue at which this process can be asked
   */
  async beginRun(runId: string, revision: string, taskQueue: string): Promise<Begun> {
    const begun = await this.beginWithoutWaiting(runId, revision, taskQueue);
    if (begun) return begun;
    return this.database.transaction(async (manager) => {
      const run = await lockRun(manager, runId);
      return foundElsewhere(run) ?? take(manager, run, revision, taskQueue);
    });
  }

  /** One statement, shared with other runs that begin. Resolves to undefined when the thread is locked, and only waiting for the lock gives the answer. */
  private async beginWithoutWaiting(runId: string, revision: string, taskQueue: string): Promise<Begun | undefined> {
    try {
      const found = await this.beginnings.begin({ runId, revision, taskQueue });
      if (!found) return { state: 'ended', ending: 'deleted', run: null };
      const { run, taken } = found;
      if (taken) return toOwned(run, taken, revision, taskQueue, null);
      return foundElsewhere(run) ?? foundEnded(run);
    } catch (error) {
      if (isUniqueViolation(error)) return undefined;
      throw error;
    }
  }

  /**
   * Takes the run for an attempt, as `beginRun` does, also from another process. From here on every earlier attempt is fenced.
   * @param from task queue of the only process that it may be taken from, null for none; undefined for whichever process has it
   */
  takeOverRun(runId: string, revision: string, taskQueue: string, from?: string | null): Promise<Owned | Elsewhere> {
    return this.database.transaction(async (manager) => {
      const run = await lockRun(manager, runId);
      const owner = run?.status === 'running' ? run.taskQueue : null;
      if (from !== undefined && owner !== null && owner !== from) return { state: 'elsewhere', taskQueue: owner };
      return take(manager, run, revision, taskQueue);
    });
  }

  /** Takes the run over as `takeOverRun` does, unless the process of the task queue `lost` has it no more. */
  takeOverRunOf(lost: string, runId: string, revision: string, taskQueue: string): Promise<Begun> {
    return this.database.transaction(async (manager) => {
      const run = await lockRun(manager, runId);
      const elsewhere = run?.taskQueue === lost ? undefined : foundElsewhere(run);
      return elsewhere ?? take(manager, run, revision, taskQueue);
    });
  }

  /** Records that the attempt stops after a checkpoint, for another worker to resume from: no process has the run then. */
  async recordHandBack(runId: string, attempt: number): Promise<void> {
    await this.database.query(
      `UPDATE runs SET handed_back = true, task_queue = NULL WHERE run_id = $1 AND attempt = $2 AND status = 'running'`,
      [runId, attempt],
    );
  }

  /** The attempt has a host of its own from here on: if that is lost, the run is the cause. */
  async recordAlone(runId: string, attempt: number): Promise<void> {
    await this.database.query(
      `UPDATE runs SET alone = true WHERE run_id = $1 AND attempt = $2 AND status = 'running'`,
      [runId, attempt],
    );
  }

  /** The attempt's host ended under it: one of the runs in it is the cause. */
  async recordHostLoss(runId: string, attempt: number): Promise<void> {
    await this.database.query(
      `UPDATE runs SET host_lost = true WHERE run_id = $1 AND attempt = $2 AND status = 'running'`,
      [runId, attempt],
    );
  }

  /**
   * Ends a run: its status, its thread's status and values, the end of its log, what its listeners write and who is next are
   * one transaction.
   * @param attempt undefined to end it whichever attempt holds it.
   */
  endRun(runId: string, attempt: number | undefined, ending: RunEnding): Promise<EndResult> {
    return this.database.transaction(async (manager) => {
      const run = await lockRun(manager, runId);
      if (!run || !isOwned(run, attempt)) return null;
      if (run.cancelAction === 'rollback' && ending.status !== 'deleted') return 'rollback-requested';
      return inEncryptionContext(run.kwargs.encryption_context, async () => {
        const { ended, hasNext } = await closeRun(manager, run, ending);
        const deliveries = await this.listeners.ended(manager, ended, ending);
        const next = hasNext ? await findNextRun(manager, run) : null;
        return { run: ended, status: ending.status, next, deliveries };
      });
    });
  }

  /**
   * Ends a run as `endRun` does for the attempt that owns it, in one statement where no listener follows the run and its thread
   * has no other one.
   * @param run as the attempt has it
   */
  async endOwnedRun(run: RunEntity, ending: RunEnding): Promise<EndResult> {
    const ended = await this.endWithoutWaiting(run, ending);
    if (ended) return { run: ended, status: ending.status, next: null, deliveries: [] };
    return this.endRun(run.runId, run.attempt, ending);
  }

  private async endWithoutWaiting(run: RunEntity, ending: RunEnding): Promise<RunEntity | undefined> {
    if (ending.status === 'deleted' || this.listeners.follow(run)) return undefined;
    try {
      return await inEncryptionContext(run.kwargs.encryption_context, () => closeLoneRun(this.database, run, ending));
    } catch (error) {
      // Another process has written to the log meanwhile: the attempt doesn't own the run any more.
      if (isUniqueViolation(error)) return undefined;
      throw error;
    }
  }

  findRunById(runId: string): Promise<RunEntity | null> {
    return this.database.getRepository(RunEntity).findOneBy({ runId });
  }

  /**
   * Takes back what a run wrote, for a rollback; resolves to false, like every write, when the attempt doesn't hold the run.
   * @param attempt undefined whichever attempt holds it
   */
  async discardCheckpoints(runId: string, attempt: number | undefined): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const run = await lockRun(manager, runId);
      const held = run !== null && isOwned(run, attempt);
      if (held) await deleteCheckpoints(manager, run, true);
      return held;
    });
  }
}

async function take(
  manager: EntityManager,
  run: RunEntity | null,
  revision: string,
  taskQueue: string,
): Promise<Owned> {
  if (!run) return { state: 'ended', ending: 'deleted', run };
  const ended = foundEnded(run);
  if (ended) return ended;
  const [[row]]: [TakenRow[], number] = await manager.query(TAKE_RUN, [run.runId, revision, taskQueue]);
  if (!row) return { state: 'ended', ending: 'waiting', run };
  return toOwned(run, row, revision, taskQueue, row.taken_attempt > 1 ? await lookBack(manager, run) : null);
}

/** The process that has the run, if one is executing it. */
export function foundElsewhere(run: RunEntity | null): (Begun & { state: 'elsewhere' }) | undefined {
  if (run?.status !== 'running') return undefined;
  return { state: 'elsewhere', taskQueue: run.taskQueue ?? undefined, startedAt: run.startedAt ?? new Date() };
}

function foundEnded(run: RunEntity): (Owned & { state: 'ended' }) | undefined {
  const { status } = run;
  return isInFlight(status) ? undefined : { state: 'ended', ending: status, run };
}

function toOwned(
  run: RunEntity,
  { taken_attempt: attempt, taken_at: startedAt, next_seq: nextSeq }: TakenRow,
  revision: string,
  taskQueue: string,
  before: EarlierAttempt | null,
): Owned {
  const metadata = { ...run.metadata, revision_id: revision };
  return {
    state: 'held',
    run: { ...run, status: 'running', attempt, startedAt, metadata, taskQueue },
    nextSeq,
    before,
  };
}

/**
 * Counts the attempt before this one as lost, unless it was handed back; a new checkpoint starts the count again. What was lost in
 * company counts apart: it is nothing against the run, but the next attempt runs alone.
 */
async function lookBack(manager: EntityManager, { tenantId, runId, threadId }: RunEntity): Promise<EarlierAttempt> {
  const [[before]]: [EarlierAttempt[], number] = await manager.query(
    `WITH before AS (
       SELECT r.*,
              latest.checkpoint_id,
              r.lost_attempts + r.lost_in_company > 0 AND r.lost_behind IS NOT DISTINCT FROM latest.checkpoint_id AS same_place
       FROM runs r,
            (SELECT max(checkpoint_id) AS checkpoint_id FROM ${CHECKPOINT_SCHEMA}.checkpoints WHERE thread_id = $2) latest
       WHERE run_id = $1
     ), counted AS (
       SELECT handed_back, checkpoint_id,
              CASE WHEN handed_back THEN 0 ELSE
                CASE WHEN same_place THEN lost_attempts ELSE 0 END + CASE WHEN alone THEN 1 ELSE 0 END
              END AS lost_attempts,
              CASE WHEN handed_back THEN 0 ELSE
                CASE WHEN same_place THEN lost_in_company ELSE 0 END
                + CASE WHEN alone THEN 0 WHEN host_lost THEN ${LOST_IN_COMPANY} ELSE 1 END
              END AS lost_in_company
       FROM before
     )
     UPDATE runs SET
       handed_back = false,
       host_lost = false,
       lost_behind = counted.checkpoint_id,
       lost_attempts = counted.lost_attempts,
       lost_in_company = counted.lost_in_company,
       alone = false
     FROM counted WHERE run_id = $1
     RETURNING counted.handed_back AS "handedBack", runs.lost_attempts AS "lostAttempts",
               runs.lost_attempts > 0 OR runs.lost_in_company >= ${LOST_IN_COMPANY} AS "isSuspect"`,
    [runId, checkpointKey(tenantId, threadId)],
  );
  return before;
}

function isOwned(run: RunEntity, attempt: number | undefined): boolean {
  if (attempt !== undefined) return run.status === 'running' && run.attempt === attempt;
  return isInFlight(run.status);
}

/** The run, as it is once its thread's lock and its own are held. */
async function lockRun(manager: EntityManager, runId: string): Promise<RunEntity | null> {
  const [run]: RunEntity[] = await manager.query(LOCK_RUN, [runId]);
  return run ?? null;
}
