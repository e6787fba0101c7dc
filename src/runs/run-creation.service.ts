import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { IdempotencyKeys } from './idempotency-keys';
import type { NewRun } from './new-run';
import {
  type Alongside,
  type Created,
  type CreatedRun,
  type RunClaim,
  RunCreationRepository,
} from './run-creation.repository';
import type { RunOrigin } from './run-origin';
import { type CronStamp, type RunDraft, RunPreparation } from './run-preparation';
import { RunWorkflows } from './run-workflows';
import type { RunEntity } from './run.entity';
import { runErrors } from './run.errors';
import { RunsRepository } from './runs.repository';
import type { CreateRun } from './runs.schemas';

export interface CreateRunRequest extends RunOrigin, Omit<RunDraft, 'cron'> {
  /**
   * Written in the transaction that inserts the run, in place of what its listeners write; not called for a replayed
   * run.
   */
  alongside?: Alongside;
}

/** A tick of a cron, which creates exactly one run. */
export interface CronRunRequest {
  tenantId: TenantId;
  /** The cron's thread; absent if each of its runs gets a new one. */
  threadId?: string | undefined;
  body: CreateRun;
  /** Chosen before by the tick, so that a repeated attempt creates the same run. */
  runId: string;
  cron: CronStamp;
  /** Claims the tick for the run on this thread. */
  claim: (threadId: string) => RunClaim;
}

/** Creates runs. The row is the intent: a committed run is executed, whichever process dies. */
@Injectable()
export class RunCreationService {
  constructor(
    private readonly repository: RunCreationRepository,
    private readonly runs: RunsRepository,
    private readonly preparation: RunPreparation,
    private readonly workflows: RunWorkflows,
    private readonly idempotencyKeys: IdempotencyKeys,
  ) {}

  /**
   * Creates a run on a thread or, without `threadId`, on a new one.
   * @throws {ApiError} 404 for an unknown thread or assistant, 409 by `reject`, 422 for a webhook that the policy refuses and
   *   for a thread of the other language, 429 when the tenant has too many pending runs
   */
  async createRun(request: CreateRunRequest): Promise<RunEntity> {
    const { tenantId, idempotency, alongside } = request;
    const run = await this.preparation.prepareRun(request);
    const claim = this.claimOf(tenantId, run, idempotency);
    return this.finish(request, await this.repository.insertRun(tenantId, run, { claim, alongside }), run.delayMs);
  }

  /**
   * Creates stateless runs: all of them or, if one is invalid, none. The idempotency key of each is the request's with its
   * position.
   */
  async createRunBatch(origin: RunOrigin, bodies: CreateRun[]): Promise<RunEntity[]> {
    const runs: NewRun[] = [];
    // One after the other, since each reads the database: hundreds at once would keep other callers waiting for a connection.
    for (const body of bodies) runs.push(await this.preparation.prepareRun({ ...origin, body }));
    const { tenantId, idempotency } = origin;
    const created = await this.repository.insertRuns(
      tenantId,
      runs.map((run, index) => {
        const own = idempotency && { ...idempotency, route: `${idempotency.route}#${index}` };
        return { run, claim: this.claimOf(tenantId, run, own) };
      }),
    );
    const batch: RunEntity[] = [];
    for (const [index, each] of created.entries()) batch.push(await this.finish(origin, each, runs[index].delayMs));
    return batch;
  }

  /**
   * Creates the run of a cron's tick. Resolves to null when the tick has its run.
   * @throws {ApiError} as `createRun` does
   */
  async createCronRun({ claim, ...draft }: CronRunRequest): Promise<RunEntity | null> {
    const run = await this.preparation.prepareRun({ ...draft, headers: {} });
    const created = await this.repository.insertRun(draft.tenantId, run, { claim: claim(run.threadId) });
    if (created.outcome === 'replayed') return null;
    this.start(created, run.delayMs);
    return created.run;
  }

  /** Starts what was created, or finds the run that an earlier request created. */
  private async finish({ tenantId, idempotency }: RunOrigin, created: Created, delayMs: number): Promise<RunEntity> {
    if (created.outcome === 'created') {
      this.start(created, delayMs);
      return created.run;
    }
    const earlier = await this.runs.findRun(tenantId, created.runId);
    if (!earlier) throw runErrors.idempotentRunGone();
    idempotency?.onReplay();
    return earlier;
  }

  private start({ run, first, cancelled }: CreatedRun, delayMs: number): void {
    this.workflows.finishCancellation(cancelled);
    // A delayed run has its own timer; if the thread is busy when it is due, it queues like the others.
    if (delayMs > 0) this.workflows.startRun(run, delayMs);
    else if (first) this.workflows.startDueRun(run);
  }

  private claimOf(tenantId: TenantId, { runId }: NewRun, idempotency: RunOrigin['idempotency']): RunClaim | undefined {
    return idempotency && ((manager) => this.idempotencyKeys.take(manager, tenantId, idempotency, runId));
  }
}
