import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { accessSql } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { GraphRegistry } from '../graphs/graph-registry';
import { ThreadEntity } from '../threads/thread.entity';
import { checkThreadLanguage } from '../threads/thread-language';
import { threadErrors } from '../threads/thread.errors';
import { countWaiting, insertOnIdleThread, insertRow, insertThread, type NewRun, occupyThread } from './new-run';
import { type CancelledRuns, nothingCancelled, RunCancellationRepository } from './run-cancellation.repository';
import type { RunEntity } from './run.entity';
import { runErrors } from './run.errors';
import { RunInserts } from './run-inserts';
import { RunLimits } from './run-limits';
import { RunListeners } from './run-listeners';
import { lockThread } from './thread-lock';

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
  private readonly inserts: RunInserts;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly cancellation: RunCancellationRepository,
    private readonly limits: RunLimits,
    private readonly listeners: RunListeners,
    private readonly graphs: GraphRegistry,
  ) {
    this.inserts = new RunInserts(database, limits.pending);
  }

  /**
   * Inserts a run as the strategy of its thread allows, under the thread's row lock: two callers on one thread are serialized.
   * The claim and the run are one transaction, so a refused run leaves no claim.
   * @throws {ApiError} 404 when there is no such thread, 409 by `reject`, 422 for a thread of the other language, 429 when the
   *   tenant has too many pending runs, and the errors of the claim
   */
  async insertRun(tenantId: TenantId, run: NewRun, companions: Companions = {}): Promise<Created> {
    const isAlone = !companions.claim && !companions.alongside;
    const inserted = isAlone ? await this.insertWithoutWaiting(tenantId, run) : undefined;
    if (inserted) {
      return { outcome: 'created', run: inserted, first: true, cancelled: nothingCancelled() };
    }
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

  /** One statement for the common cases. Resolves to undefined where only the transaction can decide. */
  private insertWithoutWaiting(tenantId: TenantId, run: NewRun): Promise<RunEntity | undefined> {
    const { pending } = this.limits;
    if (run.thread.isNew) return this.inserts.insertWithThread(tenantId, run);
    const isChecked = run.thread.access !== undefined || this.graphs.hasPython;
    return isChecked ? Promise.resolve(undefined) : insertOnIdleThread(this.database, tenantId, run, pending);
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
        : nothingCancelled();
    // Pending runs have just been cancelled, unless this run is to queue; runs that are not due yet delay no other.
    const queues = run.multitaskStrategy === 'enqueue';
    const ahead = inFlight.filter(({ status, delayed }) => status === 'running' || (queues && !delayed));
    const first = ahead.length === 0;
    const isDue = first && run.delayMs === 0;
    const row = await insertRow(manager, tenantId, run, thread.metadata, { isDue, limit: this.limits.pending });
    if (alongside) await alongside(manager, row, thread);
    else if (thread.status === 'interrupted') {
      cancelled.deliveries.push(...(await this.listeners.createdOnInterrupted(manager, row)));
    }
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
