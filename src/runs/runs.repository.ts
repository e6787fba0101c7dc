import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EntityManager, In, Repository } from 'typeorm';
import { type AccessFilter, accessSql, restrict } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { columnsOf } from '../database/entity-columns';
import type { JsonObject } from '../database/json';
import { prepared } from '../database/prepared-statements';
import type { RunKwargs } from '../graphs/host/protocol';
import {
  END_EVENT,
  END_HINT,
  RUN_CANCEL_CHANNEL,
  RUN_DUE_CHANNEL,
  type RunEnd,
  RUN_EVENTS_CHANNEL,
} from '../streams/run-event';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import { ThreadEntity } from '../threads/thread.entity';
import { threadErrors } from '../threads/thread.errors';
import type { ThreadKey } from '../threads/thread-key';
import type { ThreadTtl } from '../config/thread-ttl';
import { deleteCheckpoints } from './run-checkpoints';
import { CancelAction, CancelReason, MultitaskStrategy, RunEntity, RunStatus } from './run.entity';
import { runErrors } from './run.errors';
import { completedEnding } from './run-ending';
import { RunListeners } from './run-listeners';
import { RunLimits } from './run-limits';
import type { ListRuns } from './runs.schemas';

export interface NewRun {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  /** What the request says: on the run, and on a thread that is made with it. */
  metadata: JsonObject;
  /** What the assistant says; the thread's own comes between the two. */
  assistantMetadata: JsonObject;
  /** Revision of the graphs' code, until the worker that takes the run sets its own. */
  revision: string;
  kwargs: RunKwargs;
  /** Sealed. */
  webhook: string | null;
  multitaskStrategy: MultitaskStrategy;
  delayMs: number;
  thread: {
    /** The thread is made with the run when it isn't there. */
    create: boolean;
    temporary: boolean;
    /** Time to live of a thread that is created with the run. */
    ttl?: ThreadTtl | undefined;
    /** What must hold of the metadata of a thread that is there already. */
    access?: AccessFilter | undefined;
  };
}

export type Created =
  | { outcome: 'replayed'; runId: string }
  | { outcome: 'created'; run: RunEntity; first: boolean; cancelled: string[]; deliveries: DeliveryReference[] };

/** What a cancellation has done, for those that carry it out after the commit. */
export interface Cancelled {
  /** Ids of the runs that workers have to stop. */
  running: string[];
  /** Stored with the ends of the others, to be started now. */
  deliveries: DeliveryReference[];
}

/**
 * Called inside the transaction that inserts a run, before it does: takes for it what may have one run only.
 * Resolves to the id of the run that has it already, or to undefined when this one is the first.
 */
export type RunClaim = (manager: EntityManager) => Promise<string | undefined>;

/**
 * Called inside the transaction that inserts a run, in place of the listeners and with the thread as it was before: what
 * throws here takes the run back.
 */
export type Alongside = (manager: EntityManager, run: RunEntity, thread: ThreadEntity) => Promise<void>;

interface InFlight {
  run_id: string;
  status: RunStatus;
  /** Its time hasn't come. */
  delayed: boolean;
}

export interface StartedRun {
  runId: string;
  graphId: string;
  position: number;
}

/**
 * Where a run is in the stream of its thread: runs of a thread never overlap, so their starts, in microseconds, are an order.
 * One that ended before its turn is given a start so that its end can be emitted (placeUnstarted).
 */
const POSITION = `(extract(epoch FROM started_at) * 1000000)::bigint`;

const IN_FLIGHT = `status IN ('pending', 'running')`;

const SELECT_IN_FLIGHT = prepared(
  'select-in-flight',
  `SELECT run_id, status, scheduled_at > clock_timestamp() AS delayed FROM runs
   WHERE tenant_id = $1 AND thread_id = $2 AND ${IN_FLIGHT}`,
);

/** Runs, and what of threads, events and checkpoints changes with them in one transaction. */
@Injectable()
export class RunsRepository {
  constructor(
    @InjectRepository(RunEntity) private readonly runs: Repository<RunEntity>,
    private readonly limits: RunLimits,
    private readonly listeners: RunListeners,
  ) {}

  /** @throws {ApiError} 429 when the tenant may not have as many more runs that wait */
  async checkRoom(tenantId: TenantId, count: number): Promise<void> {
    const { pending: limit } = this.limits;
    const [{ waiting }]: [{ waiting: number }] = await this.runs.query(
      `SELECT ${countWaiting('$1', '$2::bigint')}::int AS waiting`,
      [tenantId, limit],
    );
    if (waiting + count > limit) throw runErrors.tooManyPending(limit);
  }

  find(tenantId: TenantId, runId: string, threadId?: string): Promise<RunEntity | null> {
    return this.runs.findOneBy({ tenantId, runId, ...(threadId !== undefined && { threadId }) });
  }

  list(tenantId: TenantId, threadId: string, { limit, offset, status }: ListRuns): Promise<RunEntity[]> {
    return this.runs.find({
      where: { tenantId, threadId, ...(status !== undefined && { status: status as RunStatus }) },
      order: { scheduledAt: 'DESC', runId: 'DESC' },
      take: limit,
      skip: offset,
    });
  }

  /**
   * Inserts a run as the strategy of its thread allows, under the thread's row lock: two callers on one thread are one
   * after the other. What is claimed for the run and the run are one transaction: a refused run leaves no claim.
   * @throws {ApiError} 404 when there is no such thread, 409 by `reject` and whatever the claim throws
   */
  create(tenantId: TenantId, run: NewRun, claim?: RunClaim, alongside?: Alongside): Promise<Created> {
    return this.runs.manager.transaction(async (manager): Promise<Created> => {
      const earlier = await claim?.(manager);
      if (earlier) return { outcome: 'replayed', runId: earlier };
      const newThread = run.thread.create ? await insertThread(manager, tenantId, run) : null;
      const isNew = newThread !== null;
      const thread = newThread ?? (await lockThread(manager, tenantId, run.threadId));
      if (!thread || (thread.temporary && !isNew)) throw threadErrors.notFound(run.threadId);
      if (!isNew) await checkAccess(manager, tenantId, run);
      const inFlight: InFlight[] = isNew ? [] : await manager.query(SELECT_IN_FLIGHT, [tenantId, run.threadId]);
      if (inFlight.length > 0 && run.multitaskStrategy === 'reject') throw runErrors.rejected();
      const { running: cancelled, deliveries } =
        run.multitaskStrategy === 'interrupt' || run.multitaskStrategy === 'rollback'
          ? await this.cancelLocked(manager, inFlight, run.multitaskStrategy, 'multitask: another run took its place')
          : { running: [], deliveries: [] };
      // Who was pending has just been cancelled, unless this run is to queue; runs that are not due yet delay no other.
      const queues = run.multitaskStrategy === 'enqueue';
      const ahead = inFlight.filter(({ status, delayed }) => status === 'running' || (queues && !delayed));
      const first = ahead.length === 0;
      const isDue = first && run.delayMs === 0;
      const row = await insertRun(manager, tenantId, run, thread.metadata, { isDue, limit: this.limits.pending });
      if (alongside) await alongside(manager, row, thread);
      else deliveries.push(...(await this.listeners.created(manager, row, thread)));
      if (!isNew) await occupyThread(manager, run, thread);
      return { outcome: 'created', run: row, first, cancelled, deliveries };
    });
  }

  /**
   * Asks runs to end. What hasn't begun ends here; what runs is marked, and its worker is notified.
   */
  cancel(tenantId: TenantId, runs: RunEntity[], action: CancelAction, reason: CancelReason): Promise<Cancelled> {
    return this.runs.manager.transaction(async (manager) => {
      const cancelled: Cancelled = { running: [], deliveries: [] };
      // Always in the same order, so that two bulk cancels can't wait for each other's threads.
      const threadIds = [...new Set(runs.map(({ threadId }) => threadId))].sort();
      for (const threadId of threadIds) {
        await lockThread(manager, tenantId, threadId);
        const inFlight: InFlight[] = await manager.query(
          `SELECT run_id, status, scheduled_at > clock_timestamp() AS delayed FROM runs
           WHERE run_id = ANY($1) AND tenant_id = $2 AND thread_id = $3 AND ${IN_FLIGHT}`,
          [runs.map(({ runId }) => runId), tenantId, threadId],
        );
        const { running, deliveries } = await this.cancelLocked(manager, inFlight, action, reason);
        cancelled.running.push(...running);
        cancelled.deliveries.push(...deliveries);
        await releaseThread(manager, { tenantId, threadId });
      }
      return cancelled;
    });
  }

  /** Interrupts whatever the tenant has in flight without waiting for workers, which are notified. */
  async interruptAll(tenantId: TenantId): Promise<Cancelled> {
    const inFlight = await this.findInFlight(tenantId, ['pending', 'running']);
    const deliveries: DeliveryReference[] = [];
    for (const threadId of new Set(inFlight.map((run) => run.threadId))) {
      await this.runs.manager.transaction(async (manager) => {
        await lockThread(manager, tenantId, threadId);
        const runs = await manager.findBy(RunEntity, { tenantId, threadId, status: In(['pending', 'running']) });
        for (const run of runs) {
          deliveries.push(...(await this.endNow(manager, run, 'interrupt', 'requested')));
          await manager.query(`SELECT pg_notify('${RUN_CANCEL_CHANNEL}', $1)`, [run.runId]);
        }
        await releaseThread(manager, { tenantId, threadId });
      });
    }
    return { running: inFlight.map(({ runId }) => runId), deliveries };
  }

  findInFlight(
    tenantId: TenantId,
    statuses: RunStatus[],
    { assistantId, access }: { assistantId?: string; access?: AccessFilter | undefined } = {},
  ): Promise<RunEntity[]> {
    if (!access) {
      return this.runs.findBy({ tenantId, status: In(statuses), ...(assistantId !== undefined && { assistantId }) });
    }
    const query = this.runs
      .createQueryBuilder('r')
      .innerJoin(ThreadEntity, 't', 't.threadId = r.threadId AND t.tenantId = r.tenantId')
      .where('r.tenantId = :tenantId AND r.status IN (:...statuses)', { tenantId, statuses });
    if (assistantId !== undefined) query.andWhere('r.assistantId = :assistantId', { assistantId });
    return restrict(query, 't.metadata', access).getMany();
  }

  findMany(tenantId: TenantId, threadId: string, runIds: string[]): Promise<RunEntity[]> {
    return this.runs.findBy({ tenantId, threadId, runId: In(runIds) });
  }

  /** The run of a thread that began at or after a point of its stream; null when none has yet. */
  async findStarted(tenantId: TenantId, threadId: string, position: number): Promise<StartedRun | null> {
    const [run]: { run_id: string; graph_id: string; position: string }[] = await this.runs.query(
      `SELECT run_id, graph_id, ${POSITION} AS position FROM runs
       WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL AND ${POSITION} >= $3
       ORDER BY started_at LIMIT 1`,
      [tenantId, threadId, position],
    );
    return run ? { runId: run.run_id, graphId: run.graph_id, position: Number(run.position) } : null;
  }

  /** Where the stream of a thread is now: at the start of the run that runs, else behind the last one. */
  async currentPosition(tenantId: TenantId, threadId: string): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.runs.query(
      `SELECT coalesce(max(${POSITION}) FILTER (WHERE status = 'running'), max(${POSITION}) + 1, 0) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL`,
      [tenantId, threadId],
    );
    return Number(position);
  }

  /** The start of the run in which a number of the event protocol falls; 0 when it is before all that are known. */
  async positionOf(tenantId: TenantId, threadId: string, number: number): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.runs.query(
      `SELECT coalesce(max(${POSITION}) FILTER (WHERE ${POSITION} <= $3), 0) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL`,
      [tenantId, threadId, number],
    );
    return Number(position);
  }

  /** Position for a client that was away for a moment: the first run that was running then, or the last one of all. */
  async recentPosition(tenantId: TenantId, threadId: string, seconds: number): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.runs.query(
      `SELECT coalesce(min(${POSITION}) FILTER (WHERE ended_at IS NULL OR ended_at > now() - make_interval(secs => $3)),
                       max(${POSITION}), 0) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND started_at IS NOT NULL`,
      [tenantId, threadId, seconds],
    );
    return Number(position);
  }

  /** A number behind every event of the runs before this one that are over, and before all of its own and of one that runs. */
  async positionBefore(tenantId: TenantId, { runId, threadId }: RunEntity): Promise<number> {
    const [{ position }]: [{ position: string }] = await this.runs.query(
      `SELECT least((extract(epoch FROM max(created_at) FILTER (WHERE run_id = $3)) * 1000000)::bigint,
                    min(${POSITION}) FILTER (WHERE status = 'running')) AS position
       FROM runs WHERE tenant_id = $1 AND thread_id = $2`,
      [tenantId, threadId, runId],
    );
    return Number(position);
  }

  /** Deletes a run, its events and its checkpoints. A worker that holds it is fenced from now on. */
  async delete(tenantId: TenantId, run: RunEntity): Promise<void> {
    await this.runs.manager.transaction(async (manager) => {
      await lockThread(manager, tenantId, run.threadId);
      const { affected } = await manager.delete(RunEntity, { tenantId, runId: run.runId });
      if (!affected) return;
      await appendEnd(manager, run, { status: 'deleted', result: {} });
      await deleteCheckpoints(manager, run);
      await placeUnstarted(manager, run);
      await releaseThread(manager, run);
    });
  }

  /** The next run of a thread that may begin: pending, due, and none is running. */
  async nextOf(thread: ThreadKey): Promise<RunEntity | null> {
    return this.runs.manager.transaction((manager) => nextRun(manager, thread));
  }

  private async cancelLocked(
    manager: EntityManager,
    inFlight: InFlight[],
    action: CancelAction,
    reason: CancelReason,
  ): Promise<Cancelled> {
    const idsOf = (status: RunStatus): string[] =>
      inFlight.filter((run) => run.status === status).map(({ run_id }) => run_id);
    const running = idsOf('running');
    if (running.length > 0) {
      await manager.query(
        `UPDATE runs SET cancel_action = $2, cancel_reason = $3, updated_at = now() WHERE run_id = ANY($1)`,
        [running, action, reason],
      );
      await manager.query(`SELECT pg_notify('${RUN_CANCEL_CHANNEL}', run_id::text) FROM unnest($1::uuid[]) AS run_id`, [
        running,
      ]);
    }
    const deliveries: DeliveryReference[] = [];
    for (const runId of idsOf('pending')) {
      const run = await manager.findOneByOrFail(RunEntity, { runId });
      deliveries.push(...(await this.endNow(manager, run, action, reason)));
    }
    return { running, deliveries };
  }

  /** Not left to a worker: a run that hasn't begun has none. One that is on the run can write nothing more of it. */
  private async endNow(
    manager: EntityManager,
    run: RunEntity,
    action: CancelAction,
    cancelReason: CancelReason,
  ): Promise<DeliveryReference[]> {
    const endedAt = new Date();
    const change = { status: 'interrupted' as const, cancelReason, endedAt, updatedAt: endedAt };
    if (action === 'rollback') await manager.delete(RunEntity, { runId: run.runId });
    else await manager.update(RunEntity, { runId: run.runId }, change);
    await placeUnstarted(manager, run);
    await appendEnd(manager, run, { status: action === 'rollback' ? 'deleted' : 'interrupted', result: {} });
    return this.listeners.ended(manager, { ...run, ...change }, completedEnding('interrupted', undefined));
  }
}

const LOCK_THREAD = prepared(
  'lock-thread',
  `SELECT ${columnsOf(ThreadEntity, 'threads')} FROM threads WHERE tenant_id = $1 AND thread_id = $2 FOR UPDATE`,
);

/** Takes the thread's row lock: everything that concerns the order of a thread's runs happens under it. */
export async function lockThread(
  manager: EntityManager,
  tenantId: string,
  threadId: string,
): Promise<ThreadEntity | null> {
  const [thread]: ThreadEntity[] = await manager.query(LOCK_THREAD, [tenantId, threadId]);
  return thread ?? null;
}

/**
 * Gives the runs of a thread that ended before their turn their places in its stream: after what was emitted so far, and one
 * after the other. While a run is on the thread they wait for its end, which has to be emitted before.
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

/** Writes the end of a run's log, which closes its streams, and notifies the readers. */
export async function appendEnd(manager: EntityManager, run: RunEntity, end: RunEnd): Promise<void> {
  await manager.query(
    `INSERT INTO run_events (run_id, seq, tenant_id, event, data)
     SELECT $1, coalesce(max(seq), -1) + 1, $2, $3, $4 FROM run_events WHERE run_id = $1`,
    [run.runId, run.tenantId, END_EVENT, JSON.stringify(end)],
  );
  await manager.query(`SELECT pg_notify('${RUN_EVENTS_CHANNEL}', $1)`, [run.runId + END_HINT]);
}

/** The oldest run of the thread that is due, unless one is running. */
export async function nextRun(manager: EntityManager, { tenantId, threadId }: ThreadKey): Promise<RunEntity | null> {
  return manager
    .createQueryBuilder(RunEntity, 'r')
    .where('r.tenantId = :tenantId AND r.threadId = :threadId', { tenantId, threadId })
    .andWhere(`r.status = 'pending' AND r.scheduledAt <= clock_timestamp()`)
    .andWhere(
      `NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = :tenantId AND o.thread_id = :threadId AND o.status = 'running')`,
    )
    .orderBy('r.scheduledAt')
    .addOrderBy('r.runId')
    .getOne();
}

/** A thread whose last run in flight went away without running is no longer busy. */
export async function releaseThread(manager: EntityManager, { tenantId, threadId }: ThreadKey): Promise<void> {
  await manager.query(
    `UPDATE threads SET updated_at = now(), status = settled_status,
       delete_after = CASE WHEN temporary THEN now() ELSE delete_after END
     WHERE tenant_id = $1 AND thread_id = $2
       AND NOT EXISTS (SELECT 1 FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND ${IN_FLIGHT})`,
    [tenantId, threadId],
  );
}

/** @throws {ApiError} 404 when the user may not run on this thread: to him it isn't there */
async function checkAccess(manager: EntityManager, tenantId: TenantId, { threadId, thread }: NewRun): Promise<void> {
  if (!thread.access) return;
  const parameters: string[] = [tenantId, threadId];
  const sql = accessSql(thread.access, 'metadata', (value) => `$${parameters.push(value)}`);
  const found: unknown[] = await manager.query(
    `SELECT 1 FROM threads WHERE tenant_id = $1 AND thread_id = $2 AND (${sql})`,
    parameters,
  );
  if (found.length === 0) throw threadErrors.notFound(threadId);
}

const INSERT_BUSY_THREAD = prepared(
  'insert-busy-thread',
  `INSERT INTO threads (thread_id, tenant_id, status, metadata, config, temporary, ttl_strategy, ttl_minutes)
   VALUES ($1, $2, 'busy', $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING ${columnsOf(ThreadEntity, 'threads')}`,
);

/** Resolves to null when the id is taken. */
async function insertThread(manager: EntityManager, tenantId: TenantId, run: NewRun): Promise<ThreadEntity | null> {
  const [inserted]: ThreadEntity[] = await manager.query(INSERT_BUSY_THREAD, [
    run.threadId,
    tenantId,
    JSON.stringify({ ...run.metadata, graph_id: run.graphId, assistant_id: run.assistantId }),
    JSON.stringify(run.kwargs.config ?? {}),
    run.thread.temporary,
    run.thread.ttl?.strategy,
    run.thread.ttl?.minutes,
  ]);
  return inserted ?? null;
}

const OCCUPY_THREAD = prepared(
  'occupy-thread',
  `UPDATE threads SET status = 'busy', settled_status = CASE WHEN status = 'busy' THEN settled_status ELSE status END,
     metadata = metadata || $3, config = config || $4, updated_at = now()
   WHERE tenant_id = $1 AND thread_id = $2`,
);

async function occupyThread(manager: EntityManager, run: NewRun, thread: ThreadEntity): Promise<void> {
  const stamp = thread.status === 'busy' ? {} : { graph_id: run.graphId, assistant_id: run.assistantId };
  const config = thread.status === 'busy' ? {} : (run.kwargs.config ?? {});
  await manager.query(OCCUPY_THREAD, [thread.tenantId, thread.threadId, JSON.stringify(stamp), JSON.stringify(config)]);
}

/** SQL for the number of a tenant's pending runs, counted up to the limit. */
function countWaiting(tenantId: string, limit: string): string {
  return `(SELECT count(*) FROM (SELECT FROM runs WHERE tenant_id = ${tenantId} AND status = 'pending' LIMIT ${limit}) AS waiting)`;
}

const INSERTING_RUN = `
  INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, metadata, kwargs, multitask_strategy, webhook,
    scheduled_at, created_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + $10 * interval '1 millisecond', clock_timestamp()
  WHERE ${countWaiting('$2', '$11::bigint')} < $11::bigint
  RETURNING scheduled_at AS "scheduledAt", created_at AS "createdAt", updated_at AS "updatedAt"`;
const INSERT_RUN = prepared('insert-run', INSERTING_RUN);
const INSERT_DUE_RUN = prepared(
  'insert-due-run',
  `${INSERTING_RUN}, pg_notify('${RUN_DUE_CHANNEL}', run_id || ' ' || tenant_id)`,
);

/**
 * @param isDue whether it can begin at once: workers are notified then
 * @param limit of the tenant's runs that wait
 * @throws {ApiError} 429 when there are as many
 */
async function insertRun(
  manager: EntityManager,
  tenantId: TenantId,
  run: NewRun,
  threadMetadata: JsonObject,
  { isDue, limit }: { isDue: boolean; limit: number },
): Promise<RunEntity> {
  const { runId, threadId, assistantId, graphId, kwargs, multitaskStrategy, webhook } = run;
  const metadata = {
    ...run.assistantMetadata,
    ...threadMetadata,
    ...run.metadata,
    graph_id: graphId,
    assistant_id: assistantId,
    revision_id: run.revision,
  };
  const [inserted]: RunEntity[] = await manager.query(isDue ? INSERT_DUE_RUN : INSERT_RUN, [
    runId,
    tenantId,
    threadId,
    assistantId,
    graphId,
    JSON.stringify(metadata),
    JSON.stringify(kwargs),
    multitaskStrategy,
    webhook,
    run.delayMs,
    limit,
  ]);
  if (!inserted) throw runErrors.tooManyPending(limit);
  const { scheduledAt, createdAt, updatedAt } = inserted;
  return Object.assign(new RunEntity(), {
    scheduledAt,
    createdAt,
    updatedAt,
    runId,
    tenantId,
    threadId,
    assistantId,
    graphId,
    metadata,
    kwargs,
    multitaskStrategy,
    webhook,
    status: 'pending',
    attempt: 0,
    taskQueue: null,
    cancelAction: null,
    cancelReason: null,
    error: null,
    startedAt: null,
    endedAt: null,
  });
}
