import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { takeIdempotencyKey } from './idempotency';
import {
  type Alongside,
  type Companions,
  type Created,
  type NewRun,
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
  ) {}

  /**
   * Creates a run on a thread or, without `threadId`, on a new one.
   * @throws {ApiError} 404 for an unknown thread or assistant, 409 by `reject`, 422 for a webhook that the policy refuses and
   *   for a thread of the other language, 429 when the tenant has too many pending runs
   */
  async createRun(request: CreateRunRequest): Promise<RunEntity> {
    return this.insert(request, await this.preparation.prepareRun(request), request.alongside);
  }

  /**
   * Creates stateless runs: all of them or, if one is invalid, none. The idempotency key of each is the request's with its
   * position.
   */
  async createRunBatch(origin: RunOrigin, bodies: CreateRun[]): Promise<RunEntity[]> {
    const runs = await Promise.all(bodies.map((body) => this.preparation.prepareRun({ ...origin, body })));
    await this.repository.checkRoom(origin.tenantId, runs.length);
    const { idempotency } = origin;
    return Promise.all(
      runs.map((run, index) => {
        const own = idempotency && { ...idempotency, route: `${idempotency.route}#${index}` };
        return this.insert({ ...origin, idempotency: own }, run);
      }),
    );
  }

  /**
   * Creates the run of a cron's tick. Resolves to null when the tick has its run.
   * @throws {ApiError} as `createRun` does
   */
  async createCronRun({ claim, ...draft }: CronRunRequest): Promise<RunEntity | null> {
    const run = await this.preparation.prepareRun({ ...draft, headers: {} });
    const created = await this.insertRun(draft.tenantId, run, { claim: claim(run.threadId) });
    return created.outcome === 'created' ? created.run : null;
  }

  private async insert({ tenantId, idempotency }: RunOrigin, run: NewRun, alongside?: Alongside): Promise<RunEntity> {
    const claim: RunClaim | undefined =
      idempotency && ((manager) => takeIdempotencyKey(manager, tenantId, idempotency, run.runId));
    const created = await this.insertRun(tenantId, run, { claim, alongside });
    if (created.outcome === 'created') return created.run;
    const earlier = await this.runs.findRun(tenantId, created.runId);
    if (!earlier) throw runErrors.idempotentRunGone();
    idempotency?.onReplay();
    return earlier;
  }

  private async insertRun(tenantId: TenantId, run: NewRun, companions: Companions): Promise<Created> {
    const created = await this.repository.insertRun(tenantId, run, companions);
    if (created.outcome === 'replayed') return created;
    await this.workflows.finishCancellation(created.cancelled);
    // A delayed run has its own timer; if the thread is busy when it is due, it queues like the others.
    if (created.first || run.delayMs > 0) this.workflows.startRun(created.run, run.delayMs);
    return created;
  }
}
