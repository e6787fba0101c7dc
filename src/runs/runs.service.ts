import { Injectable } from '@nestjs/common';
import { Authorizer } from '../auth/custom/authorizer';
import type { AuthAction } from '../auth/custom/protocol';
import type { TenantId } from '../auth/tenant';
import { IN_FLIGHT_STATUSES, isInFlight } from '../database/run-status';
import { ThreadsService } from '../threads/threads.service';
import { RunCancellationRepository } from './run-cancellation.repository';
import { RunWorkflows } from './run-workflows';
import { CancelAction, CancelReason, RunEntity } from './run.entity';
import { runErrors } from './run.errors';
import { RunsRepository } from './runs.repository';
import type { CancelMany, ListRuns } from './runs.schemas';

export interface Cancellation {
  action: CancelAction;
  /** Thread that the run must be on. */
  threadId?: string;
  /** `requested` unless given. */
  reason?: CancelReason;
}

/** Reading, cancelling and deleting runs. */
@Injectable()
export class RunsService {
  constructor(
    private readonly repository: RunsRepository,
    private readonly cancellation: RunCancellationRepository,
    private readonly workflows: RunWorkflows,
    private readonly threads: ThreadsService,
    private readonly authorizer: Authorizer,
  ) {}

  /** Finds a run without asking the custom auth, for callers who were authorised for it already. */
  findRun(tenantId: TenantId, runId: string, threadId?: string): Promise<RunEntity | null> {
    return this.repository.findRun(tenantId, runId, threadId);
  }

  /** Whether a run is over: it has ended, or was deleted. */
  async isOver(tenantId: TenantId, runId: string): Promise<boolean> {
    const now = await this.findRun(tenantId, runId);
    return !now || !isInFlight(now.status);
  }

  getRun(tenantId: TenantId, runId: string, threadId?: string): Promise<RunEntity> {
    return this.authorized('read', {}, tenantId, runId, threadId);
  }

  /** The latest run of a thread, alone in a list; none when there is no run. */
  latestOf(tenantId: TenantId, threadId: string): Promise<RunEntity[]> {
    return this.repository.listRuns(tenantId, threadId, { limit: 1, offset: 0, select: undefined });
  }

  async listRuns(tenantId: TenantId, threadId: string, query: ListRuns): Promise<RunEntity[]> {
    await this.threads.getThread(tenantId, threadId);
    return this.repository.listRuns(tenantId, threadId, query);
  }

  /** @throws 404 when there is no such run, or it has ended. */
  async cancelRun(tenantId: TenantId, runId: string, cancellation: Cancellation): Promise<void> {
    const { action, threadId, reason = 'requested' } = cancellation;
    const run = await this.authorized('update', { action }, tenantId, runId, threadId);
    if (!isInFlight(run.status)) throw runErrors.alreadyEnded(run.status);
    await this.cancelAll(tenantId, [run], action, reason);
  }

  /** Cancels the run of a client that disconnected; a run that has ended meanwhile is left as it is. */
  async cancelIfInFlight(tenantId: TenantId, runId: string, action: CancelAction): Promise<void> {
    const run = await this.findRun(tenantId, runId);
    if (run) await this.cancelAll(tenantId, [run], action, 'disconnected');
  }

  /** @throws 404 when nothing that could be cancelled matched. */
  async cancelRuns(tenantId: TenantId, selection: CancelMany, action: CancelAction): Promise<void> {
    const requested = { action, metadata: {}, ...('status' in selection ? {} : { thread_id: selection.thread_id }) };
    const { filter } = await this.authorizer.authorize('threads', 'update', requested);
    const runs =
      'status' in selection
        ? await this.repository.findRunsByStatus(
            tenantId,
            selection.status === 'all' ? IN_FLIGHT_STATUSES : [selection.status],
            filter,
          )
        : !(await this.threads.isAccessible(tenantId, selection.thread_id, filter))
          ? []
          : await this.repository.findRunsOfThread(tenantId, selection.thread_id, selection.run_ids);
    const inFlight = runs.filter(({ status }) => isInFlight(status));
    if (inFlight.length === 0) throw runErrors.nothingToCancel();
    await this.cancelAll(tenantId, inFlight, action, 'requested');
  }

  /** Interrupts the runs in flight of an assistant, without those that the custom auth doesn't let the user cancel. */
  async cancelOfAssistant(tenantId: TenantId, assistantId: string): Promise<void> {
    const runs = await this.repository.findRunsOfAssistant(tenantId, assistantId, IN_FLIGHT_STATUSES);
    const cancellable = new Set<string>();
    for (const threadId of new Set(runs.map((run) => run.threadId))) {
      if (await this.isCancellable(tenantId, threadId)) cancellable.add(threadId);
    }
    const allowed = runs.filter(({ threadId }) => cancellable.has(threadId));
    await this.cancelAll(tenantId, allowed, 'interrupt', 'assistant deleted');
  }

  /** When this resolves, all runs in flight have ended and write nothing more. */
  async interruptAll(tenantId: TenantId): Promise<void> {
    this.workflows.finishCancellation(await this.cancellation.interruptAll(tenantId));
  }

  /** Deletes the run and what it wrote; a run in flight is stopped by it. */
  async deleteRun(tenantId: TenantId, runId: string, threadId: string): Promise<void> {
    const run = await this.authorized('delete', {}, tenantId, runId, threadId);
    this.workflows.startDeliveries(await this.cancellation.deleteRun(tenantId, run));
    this.workflows.cancelWorkflows([runId]);
    await this.workflows.startNextRun(run);
  }

  /** The run, if the custom auth allows the user this action on its thread. */
  private async authorized(
    action: AuthAction,
    requested: object,
    tenantId: TenantId,
    runId: string,
    threadId?: string,
  ): Promise<RunEntity> {
    const run = await this.findRun(tenantId, runId, threadId);
    const value = { ...requested, thread_id: run?.threadId ?? threadId, run_id: runId, metadata: {} };
    const { filter } = await this.authorizer.authorize('threads', action, value);
    if (!run || !(await this.threads.isAccessible(tenantId, run.threadId, filter))) throw runErrors.notFound();
    return run;
  }

  private async isCancellable(tenantId: TenantId, threadId: string): Promise<boolean> {
    const requested = { action: 'interrupt', thread_id: threadId, metadata: {} };
    const allowed = await this.authorizer.authorizeIfAllowed('threads', 'update', requested);
    return allowed !== undefined && this.threads.isAccessible(tenantId, threadId, allowed.filter);
  }

  private async cancelAll(
    tenantId: TenantId,
    runs: RunEntity[],
    action: CancelAction,
    reason: CancelReason,
  ): Promise<void> {
    this.workflows.finishCancellation(await this.cancellation.cancelRuns(tenantId, runs, action, reason));
    for (const threadId of new Set(runs.map((run) => run.threadId))) {
      await this.workflows.startNextRun({ tenantId, threadId });
    }
  }

  /** Stops the workers of runs whose rows are gone. */
  stopWorkers(runIds: string[]): void {
    this.workflows.cancelWorkflows(runIds);
  }
}
