import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager, In } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { prepared } from '../patches/pg/prepared-statements';
import { IN_FLIGHT_STATUSES, inFlightSql, isInFlight, type RunStatus } from '../database/run-status';
import { RUN_CANCEL_CHANNEL } from '../streams/run-event';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import { deleteCheckpoints } from './run-checkpoints';
import { completedEnding } from './run-ending';
import { RunListeners } from './run-listeners';
import { inEncryptionContext } from '../database/at-rest';
import { appendEnd, forgetLog } from './run-log-end';
import { CancelAction, CancelReason, RunEntity } from './run.entity';
import { lockThread, releaseThread } from './thread-lock';
import { placeUnstarted } from './thread-positions.repository';

/** Results of a cancellation, to be carried out after the commit. */
export interface CancelledRuns {
  /** Ids of the runs that workers have to stop. */
  running: string[];
  /** Ids of runs that have ended before their time: their workflows would wait for it. */
  delayed: string[];
  /** Stored with the ends of the others, to be started now. */
  deliveries: DeliveryReference[];
}

export const nothingCancelled = (): CancelledRuns => ({ running: [], delayed: [], deliveries: [] });

export interface RunInFlight {
  run_id: string;
  status: RunStatus;
  /** Whether its scheduled time is still to come. */
  delayed: boolean;
}

const IN_FLIGHT_OF_THREAD = `
  SELECT run_id, status, scheduled_at > clock_timestamp() AS delayed FROM runs
  WHERE tenant_id = $1 AND thread_id = $2 AND ${inFlightSql()}`;
const SELECT_IN_FLIGHT = prepared('select-in-flight', IN_FLIGHT_OF_THREAD);

/** A rollback stays requested: its caller was promised that nothing of the run is kept. */
const REQUEST_END = `
  UPDATE runs SET updated_at = now(),
    cancel_action = CASE WHEN cancel_action = 'rollback' THEN cancel_action ELSE $2 END,
    cancel_reason = CASE WHEN cancel_action = 'rollback' THEN cancel_reason ELSE $3 END
  WHERE run_id = ANY($1)`;

/** Cancelling and deleting runs under the lock of their thread. */
@Injectable()
export class RunCancellationRepository {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly listeners: RunListeners,
  ) {}

  /** The runs of a locked thread that have not ended. */
  findInFlightOfThread(manager: EntityManager, tenantId: TenantId, threadId: string): Promise<RunInFlight[]> {
    return manager.query(SELECT_IN_FLIGHT, [tenantId, threadId]);
  }

  /**
   * Requests the end of runs. Those that haven't begun end here; running ones are marked, and their workers are notified.
   *
   * Each thread has its own transaction: one that had the rows of several running runs would be a deadlock with a worker that
   * writes events of the same runs in one statement. It would also keep all these runs from beginning and ending meanwhile.
   */
  async cancelRuns(
    tenantId: TenantId,
    runs: RunEntity[],
    action: CancelAction,
    reason: CancelReason,
  ): Promise<CancelledRuns> {
    const cancelled = nothingCancelled();
    for (const threadId of new Set(runs.map((run) => run.threadId))) {
      const runIds = runs.filter((run) => run.threadId === threadId).map(({ runId }) => runId);
      const { running, delayed, deliveries } = await this.database.transaction(async (manager) => {
        await lockThread(manager, tenantId, threadId);
        const inFlight: RunInFlight[] = await manager.query(`${IN_FLIGHT_OF_THREAD} AND run_id = ANY($3)`, [
          tenantId,
          threadId,
          runIds,
        ]);
        const ended = await this.cancelLocked(manager, inFlight, action, reason);
        await releaseThread(manager, { tenantId, threadId });
        return ended;
      });
      cancelled.running.push(...running);
      cancelled.delayed.push(...delayed);
      cancelled.deliveries.push(...deliveries);
    }
    return cancelled;
  }

  /** Interrupts all runs in flight of the tenant, notifying workers without waiting for them. */
  async interruptAll(tenantId: TenantId): Promise<CancelledRuns> {
    const inFlight = await this.database.getRepository(RunEntity).findBy({ tenantId, status: In(IN_FLIGHT_STATUSES) });
    const deliveries: DeliveryReference[] = [];
    for (const threadId of new Set(inFlight.map((run) => run.threadId))) {
      await this.database.transaction(async (manager) => {
        await lockThread(manager, tenantId, threadId);
        const runs = await manager.findBy(RunEntity, { tenantId, threadId, status: In(IN_FLIGHT_STATUSES) });
        for (const run of runs) {
          deliveries.push(...(await this.endNow(manager, run, 'interrupt', 'requested')));
          await manager.query(`SELECT pg_notify('${RUN_CANCEL_CHANNEL}', $1)`, [run.runId]);
        }
        await releaseThread(manager, { tenantId, threadId });
      });
    }
    return { running: inFlight.map(({ runId }) => runId), delayed: [], deliveries };
  }

  /**
   * Deletes a run, its events but the end of its log, and its checkpoints. A worker that holds it is fenced from now on.
   * @returns deliveries that were stored because the run was in flight, to be started now
   */
  deleteRun(tenantId: TenantId, { runId, threadId }: RunEntity): Promise<DeliveryReference[]> {
    return this.database.transaction(async (manager) => {
      await lockThread(manager, tenantId, threadId);
      const run = await manager.findOneBy(RunEntity, { tenantId, runId });
      if (!run) return [];
      await manager.delete(RunEntity, { tenantId, runId });
      await appendEnd(manager, run, { status: 'deleted', result: {} });
      await forgetLog(manager, runId);
      await deleteCheckpoints(manager, run, isInFlight(run.status));
      await placeUnstarted(manager, run);
      await releaseThread(manager, run);
      return isInFlight(run.status) ? this.listeners.deletedInFlight(manager, run) : [];
    });
  }

  /** Cancels runs of a thread whose lock the transaction has. */
  async cancelLocked(
    manager: EntityManager,
    inFlight: RunInFlight[],
    action: CancelAction,
    reason: CancelReason,
  ): Promise<CancelledRuns> {
    const idsOf = (status: RunStatus): string[] =>
      inFlight.filter((run) => run.status === status).map(({ run_id }) => run_id);
    const running = idsOf('running');
    if (running.length > 0) {
      await manager.query(REQUEST_END, [running, action, reason]);
      await manager.query(`SELECT pg_notify('${RUN_CANCEL_CHANNEL}', run_id::text) FROM unnest($1::uuid[]) AS run_id`, [
        running,
      ]);
    }
    const deliveries: DeliveryReference[] = [];
    for (const runId of idsOf('pending')) {
      const run = await manager.findOneByOrFail(RunEntity, { runId });
      deliveries.push(...(await this.endNow(manager, run, action, reason)));
    }
    const delayed = inFlight.filter((run) => run.status === 'pending' && run.delayed).map(({ run_id }) => run_id);
    return { running, delayed, deliveries };
  }

  /** Done here, since a run that hasn't begun has no worker. A worker that is just starting it can no longer write. */
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
    return inEncryptionContext(run.kwargs.encryption_context, async () => {
      await appendEnd(manager, run, { status: action === 'rollback' ? 'deleted' : 'interrupted', result: {} });
      return this.listeners.ended(manager, { ...run, ...change }, completedEnding('interrupted', undefined));
    });
  }
}
