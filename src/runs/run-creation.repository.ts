import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { type AccessFilter, accessSql } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import type { ThreadTtl } from '../config/thread-ttl';
import { storedJson } from '../database/at-rest';
import { columnsOf } from '../database/entity-columns';
import type { JsonObject } from '../database/json';
import { prepared } from '../patches/pg/prepared-statements';
import { GraphRegistry } from '../graphs/graph-registry';
import type { RunKwargs } from '../graphs/host/protocol';
import { RUN_DUE_CHANNEL } from '../streams/run-event';
import { ThreadEntity } from '../threads/thread.entity';
import { checkThreadLanguage } from '../threads/thread-language';
import { threadErrors } from '../threads/thread.errors';
import { type CancelledRuns, RunCancellationRepository } from './run-cancellation.repository';
import { MultitaskStrategy, RunEntity } from './run.entity';
import { runErrors } from './run.errors';
import { RunLimits } from './run-limits';
import { RunListeners } from './run-listeners';
import { lockThread } from './thread-lock';

export interface NewRun {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  /** Metadata of the request, for the run and for a thread that is created with it. */
  metadata: JsonObject;
  /** Metadata of the assistant; the thread's own takes precedence over it, and the request's over both. */
  assistantMetadata: JsonObject;
  /** Revision of the graphs' code, until the worker that takes the run sets its own. */
  revision: string;
  kwargs: RunKwargs;
  /** Sealed. */
  webhook: string | null;
  multitaskStrategy: MultitaskStrategy;
  delayMs: number;
  thread: {
    /** Whether the thread is created with the run if it doesn't exist. */
    create: boolean;
    temporary: boolean;
    /** Time to live of a thread that is created with the run. */
    ttl?: ThreadTtl | undefined;
    /** Condition on the metadata of an existing thread. */
    access?: AccessFilter | undefined;
  };
}

export interface CreatedRun {
  outcome: 'created';
  run: RunEntity;
  /** Whether no other run of its thread is before it. */
  first: boolean;
  /** Runs of its thread that it cancelled, and every delivery that was stored. */
  cancelled: CancelledRuns;
}

export type Created = { outcome: 'replayed'; runId: string } | CreatedRun;

/**
 * Called inside the transaction that inserts a run, before the insert: claims something that only one run may have. Resolves to
 * the id of the run that has claimed it already, or to undefined if this one is the first.
 */
export type RunClaim = (manager: EntityManager) => Promise<string | undefined>;

/**
 * Called inside the transaction that inserts a run, in place of the listeners and with the thread as it was before: an error
 * rolls the run back.
 */
export type Alongside = (manager: EntityManager, run: RunEntity, thread: ThreadEntity) => Promise<void>;

/** Callbacks in the transaction that inserts a run. */
export interface Companions {
  claim?: RunClaim | undefined;
  alongside?: Alongside | undefined;
}

/** Inserts runs, and changes their threads accordingly. */
@Injectable()
export class RunCreationRepository {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly cancellation: RunCancellationRepository,
    private readonly limits: RunLimits,
    private readonly listeners: RunListeners,
    private readonly graphs: GraphRegistry,
  ) {}

  /**
   * Inserts a run as the strategy of its thread allows, under the thread's row lock: two callers on one thread are serialized.
   * The claim and the run are one transaction, so a refused run leaves no claim.
   * @throws {ApiError} 404 when there is no such thread, 409 by `reject`, 422 for a thread of the other language, 429 when the
   *   tenant has too many pending runs, and the errors of the claim
   */
  insertRun(tenantId: TenantId, run: NewRun, companions: Companions = {}): Promise<Created> {
    return this.database.transaction((manager) => this.insertWithin(manager, tenantId, run, companions));
  }

  /**
   * Inserts runs in one transaction: all, or none if one of them is refused. They occupy one connection, so that a batch leaves
   * the others of the pool to other callers.
   * @throws {ApiError} as `insertRun` does
   */
  insertRuns(tenantId: TenantId, runs: (Companions & { run: NewRun })[]): Promise<Created[]> {
    return this.database.transaction(async (manager) => {
      const created: Created[] = [];
      for (const { run, ...companions } of runs) {
        created.push(await this.insertWithin(manager, tenantId, run, companions));
      }
      // The inserts counted no batch of another transaction that had not been committed yet.
      await checkPending(manager, tenantId, this.limits.pending);
      return created;
    });
  }

  private async insertWithin(
    manager: EntityManager,
    tenantId: TenantId,
    run: NewRun,
    { claim, alongside }: Companions,
  ): Promise<Created> {
    const earlier = await claim?.(manager);
    if (earlier) return { outcome: 'replayed', runId: earlier };
    const newThread = run.thread.create ? await insertThread(manager, tenantId, run) : null;
    const isNew = newThread !== null;
    const thread = newThread ?? (await lockThread(manager, tenantId, run.threadId));
    if (!thread || (thread.temporary && !isNew)) throw threadErrors.notFound(run.threadId);
    if (!isNew) {
      await checkAccess(manager, tenantId, run);
      await checkThreadLanguage(manager, this.graphs, { tenantId, threadId: run.threadId }, run.graphId);
    }
    const inFlight = isNew ? [] : await this.cancellation.findInFlightOfThread(manager, tenantId, run.threadId);
    if (inFlight.length > 0 && run.multitaskStrategy === 'reject') throw runErrors.rejected();
    const cancelled: CancelledRuns =
      run.multitaskStrategy === 'interrupt' || run.multitaskStrategy === 'rollback'
        ? await this.cancellation.cancelLocked(
            manager,
            inFlight,
            run.multitaskStrategy,
            'multitask: another run took its place',
          )
        : { running: [], deliveries: [] };
    // Pending runs have just been cancelled, unless this run is to queue; runs that are not due yet delay no other.
    const queues = run.multitaskStrategy === 'enqueue';
    const ahead = inFlight.filter(({ status, delayed }) => status === 'running' || (queues && !delayed));
    const first = ahead.length === 0;
    const isDue = first && run.delayMs === 0;
    const row = await insertRow(manager, tenantId, run, thread.metadata, { isDue, limit: this.limits.pending });
    if (alongside) await alongside(manager, row, thread);
    else cancelled.deliveries.push(...(await this.listeners.created(manager, row, thread)));
    if (!isNew) await occupyThread(manager, run, thread);
    return { outcome: 'created', run: row, first, cancelled };
  }
}

/** @throws {ApiError} 404 when the user may not run on this thread, as if it didn't exist */
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

/** Resolves to null if the id exists already. */
async function insertThread(manager: EntityManager, tenantId: TenantId, run: NewRun): Promise<ThreadEntity | null> {
  const [inserted]: ThreadEntity[] = await manager.query(INSERT_BUSY_THREAD, [
    run.threadId,
    tenantId,
    storedJson(
      'thread',
      'metadata',
      JSON.stringify({ ...run.metadata, graph_id: run.graphId, assistant_id: run.assistantId }),
    ),
    storedJson('thread', 'config', JSON.stringify(run.kwargs.config ?? {})),
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
  await manager.query(OCCUPY_THREAD, [
    thread.tenantId,
    thread.threadId,
    storedJson('thread', 'metadata', JSON.stringify(stamp)),
    storedJson('thread', 'config', JSON.stringify(config)),
  ]);
}

/** Serializes the counts of a tenant's batches until their commits; each counts by a later statement, to see those before it. */
const LOCK_PENDING = `SELECT pg_advisory_xact_lock(hashtextextended('gantry-pending-runs:' || $1, 0))`;

/** @throws {ApiError} 429 when the tenant has more pending runs than the limit */
async function checkPending(manager: EntityManager, tenantId: TenantId, limit: number): Promise<void> {
  await manager.query(LOCK_PENDING, [tenantId]);
  const [{ waiting }]: [{ waiting: number }] = await manager.query(
    `SELECT ${countWaiting('$1', '$2::bigint')}::int AS waiting`,
    [tenantId, limit + 1],
  );
  if (waiting > limit) throw runErrors.tooManyPending(limit);
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
 * @param isDue whether it can begin at once, so that workers are notified
 * @param limit maximum of the tenant's pending runs
 * @throws {ApiError} 429 when the limit is reached
 */
async function insertRow(
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
    storedJson('run', 'metadata', JSON.stringify(metadata)),
    storedJson('run', 'kwargs', JSON.stringify(kwargs)),
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
