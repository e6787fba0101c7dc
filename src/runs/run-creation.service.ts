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

/** A tick of a cron, which makes one run and no other. */
export interface CronRunRequest {
  tenantId: TenantId;
  /** The cron's thread; absent when each of its runs has one of its own. */
  threadId?: string | undefined;
  body: CreateRun;
  /** The tick has it from before, so that a repeated attempt makes the same run. */
  runId: string;
  cron: CronStamp;
  /** Takes the tick for the run on this thread. */
  claim: (threadId: string) => RunClaim;
}

/** Creating runs. The row is the intent: what is committed here is carried out, whichever process dies. */
@Injectable()
export class RunCreationService {
  constructor(
    private readonly repository: RunCreationRepository,
    private readonly runs: RunsRepository,
    private readonly preparation: RunPreparation,
    private readonly workflows: RunWorkflows,
  ) {}

  /**
   * Creates a run on a thread or, without `threadId`, on one of its own.
   * @throws {ApiError} 404 for an unknown thread or assistant, 409 by `reject`, 422 for a webhook that the policy refuses and
   *   for a thread of the other language, 429 when the tenant has as many runs that wait as it may
   */
  async createRun(request: CreateRunRequest): Promise<RunEntity> {
    return this.insert(request, await this.preparation.prepareRun(request), request.alongside);
  }

  /** Creates stateless runs: all of them or, when one is wrong, none. Each has the request's idempotency key with its position. */
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
    // A delayed run has a timer of its own; when it is due and the thread is taken, it waits its turn like the others.
    if (created.first || run.delayMs > 0) this.workflows.startRun(created.run, run.delayMs);
    return created;
  }
}
