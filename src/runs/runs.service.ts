import { Injectable, Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { AssistantEntity } from '../assistants/assistant.entity';
import { AssistantsService } from '../assistants/assistants.service';
import { Authorizer } from '../auth/custom/authorizer';
import type { AuthAction } from '../auth/custom/protocol';
import type { TenantId } from '../auth/tenant';
import type { JsonObject } from '../database/json';
import { SecretValues } from '../crypto/secret-values';
import { currentScope } from '../database/request-scope';
import { GraphRegistry } from '../graphs/graph-registry';
import type { Durability, RunKwargs } from '../graphs/host/protocol';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import type { ThreadKey } from '../threads/thread-key';
import { ThreadsService } from '../threads/threads.service';
import { maskUrl } from '../webhooks/mask-url';
import { WebhookPolicy } from '../webhooks/webhook-policy';
import { type IdempotencyRequest, takeIdempotencyKey } from './idempotency';
import { CancelAction, CancelReason, RunEntity } from './run.entity';
import { runErrors } from './run.errors';
import { RunHeaders } from './run-headers';
import { RunWebhooks } from './run-webhooks';
import {
  type Alongside,
  type Created,
  type NewRun,
  type RunClaim,
  RunsRepository,
  type StartedRun,
} from './runs.repository';
import type { CancelMany, CreateRun, ListRuns } from './runs.schemas';

/** A tick of a cron, which makes one run and no other. */
export interface CronOccasion {
  /** The tick has it from before, so that a repeated attempt makes the same run. */
  runId: string;
  cronId: string;
  scheduledAt: string;
  /** Takes the tick for the run on this thread. */
  claim: (threadId: string) => RunClaim;
}

/** What the event protocol says of a run, and no request body can. */
export type ProtocolRun = Pick<RunKwargs, 'event_protocol'>;

/** Creating, reading and ending runs. The row is the intent: what is committed here is carried out, whichever process dies. */
@Injectable()
export class RunsService {
  private readonly logger = new Logger(RunsService.name);

  constructor(
    private readonly repository: RunsRepository,
    private readonly assistants: AssistantsService,
    private readonly threads: ThreadsService,
    private readonly orchestrator: RunOrchestrator,
    private readonly webhookPolicy: WebhookPolicy,
    private readonly webhooks: RunWebhooks,
    private readonly headers: RunHeaders,
    private readonly graphs: GraphRegistry,
    private readonly authorizer: Authorizer,
    private readonly deliveries: WebhookOrchestrator,
    private readonly secretValues: SecretValues,
  ) {}

  /**
   * @param headers what the run's graph finds in its `configurable` beside the body's
   * @param alongside what is written in the transaction that inserts the run, in place of what its listeners write; not
   *   called for a replayed one
   * @throws 404 for an unknown thread or assistant, 409 by `reject`, 422 for a webhook that the policy refuses, 429 when the
   *   tenant has as many runs that wait as it may
   */
  async create(
    tenantId: TenantId,
    threadId: string,
    body: CreateRun & ProtocolRun,
    idempotency?: IdempotencyRequest,
    headers: Record<string, string> = {},
    alongside?: Alongside,
  ): Promise<RunEntity> {
    return this.insert(tenantId, await this.prepare(tenantId, body, headers, threadId), idempotency, alongside);
  }

  /**
   * A run on a thread of its own, which goes with it unless `on_completion` is `keep`.
   * @param runId chosen by a caller that has reported it already
   */
  async createStateless(
    tenantId: TenantId,
    body: CreateRun,
    idempotency?: IdempotencyRequest,
    headers: Record<string, string> = {},
    runId?: string,
  ): Promise<RunEntity> {
    return this.insert(tenantId, await this.prepareStateless(tenantId, body, headers, runId), idempotency);
  }

  /** All of them or, when one is wrong, none. Each has the request's idempotency key with its position. */
  async createBatch(
    tenantId: TenantId,
    bodies: CreateRun[],
    idempotency?: IdempotencyRequest,
    headers: Record<string, string> = {},
  ): Promise<RunEntity[]> {
    const runs = await Promise.all(bodies.map((body) => this.prepareStateless(tenantId, body, headers)));
    await this.repository.checkRoom(tenantId, runs.length);
    return Promise.all(
      runs.map((run, index) =>
        this.insert(tenantId, run, idempotency && { ...idempotency, route: `${idempotency.route}#${index}` }),
      ),
    );
  }

  /**
   * The run of a cron's tick, on the cron's thread or on one of its own. Resolves to null when the tick has its run.
   * @throws as `create` and `createStateless` do.
   */
  async createForCron(
    tenantId: TenantId,
    threadId: string | null,
    body: CreateRun,
    occasion: CronOccasion,
  ): Promise<RunEntity | null> {
    const run = await this.prepare(tenantId, body, {}, threadId ?? undefined, occasion);
    const created = await this.insertClaimed(tenantId, run, occasion.claim(run.threadId));
    return created.outcome === 'created' ? created.run : null;
  }

  /** Finds a run without asking the custom auth, for callers who were authorised for it already. */
  find(tenantId: TenantId, runId: string, threadId?: string): Promise<RunEntity | null> {
    return this.repository.find(tenantId, runId, threadId);
  }

  get(tenantId: TenantId, runId: string, threadId?: string): Promise<RunEntity> {
    return this.authorized('read', {}, tenantId, runId, threadId);
  }

  findStarted(tenantId: TenantId, threadId: string, position: number): Promise<StartedRun | null> {
    return this.repository.findStarted(tenantId, threadId, position);
  }

  currentPosition(tenantId: TenantId, threadId: string): Promise<number> {
    return this.repository.currentPosition(tenantId, threadId);
  }

  positionOf(tenantId: TenantId, threadId: string, number: number): Promise<number> {
    return this.repository.positionOf(tenantId, threadId, number);
  }

  recentPosition(tenantId: TenantId, threadId: string, seconds: number): Promise<number> {
    return this.repository.recentPosition(tenantId, threadId, seconds);
  }

  positionBefore(tenantId: TenantId, run: RunEntity): Promise<number> {
    return this.repository.positionBefore(tenantId, run);
  }

  async list(tenantId: TenantId, threadId: string, query: ListRuns): Promise<RunEntity[]> {
    await this.threads.get(tenantId, threadId);
    return this.repository.list(tenantId, threadId, query);
  }

  /** @throws 404 when there is no such run, or it has ended. */
  async cancel(
    tenantId: TenantId,
    runId: string,
    action: CancelAction,
    threadId?: string,
    reason: CancelReason = 'requested',
  ): Promise<void> {
    const run = await this.authorized('update', { action }, tenantId, runId, threadId);
    if (run.status !== 'pending' && run.status !== 'running') throw runErrors.alreadyEnded(run.status);
    await this.cancelAll(tenantId, [run], action, reason);
  }

  /** Cancels the run of a client that disconnected; a run that has ended meanwhile is left as it is. */
  async cancelIfInFlight(tenantId: TenantId, runId: string, action: CancelAction): Promise<void> {
    const run = await this.find(tenantId, runId);
    if (run) await this.cancelAll(tenantId, [run], action, 'disconnected');
  }

  /** @throws 404 when nothing that could be cancelled matched. */
  async cancelMany(tenantId: TenantId, selection: CancelMany, action: CancelAction): Promise<void> {
    const wish = { action, metadata: {}, ...('status' in selection ? {} : { thread_id: selection.thread_id }) };
    const { filter } = await this.authorizer.authorize('threads', 'update', wish);
    const runs =
      'status' in selection
        ? await this.repository.findInFlight(
            tenantId,
            selection.status === 'all' ? ['pending', 'running'] : [selection.status],
            { access: filter },
          )
        : !(await this.threads.isAccessible(tenantId, selection.thread_id, filter))
          ? []
          : await this.repository.findMany(tenantId, selection.thread_id, selection.run_ids);
    const inFlight = runs.filter(({ status }) => status === 'pending' || status === 'running');
    if (inFlight.length === 0) throw runErrors.nothingToCancel();
    await this.cancelAll(tenantId, inFlight, action, 'requested');
  }

  /** Interrupts what is in flight of an assistant. */
  async cancelOfAssistant(tenantId: TenantId, assistantId: string): Promise<void> {
    const runs = await this.repository.findInFlight(tenantId, ['pending', 'running'], { assistantId });
    await this.cancelAll(tenantId, runs, 'interrupt', 'assistant deleted');
  }

  /** Whatever is in flight has ended when this resolves, and writes nothing any more. */
  async interruptAll(tenantId: TenantId): Promise<void> {
    const { running, deliveries } = await this.repository.interruptAll(tenantId);
    void this.deliveries.startStored(deliveries);
    await this.tellWorkers(running);
  }

  /** Deletes the run and what it wrote; a run in flight is stopped by it. */
  async delete(tenantId: TenantId, runId: string, threadId: string): Promise<void> {
    const run = await this.authorized('delete', {}, tenantId, runId, threadId);
    await this.repository.delete(tenantId, run);
    await this.tellWorkers([runId]);
    await this.startNext(run);
  }

  /** The run, if the custom auth lets the user do this with its thread. */
  private async authorized(
    action: AuthAction,
    wish: object,
    tenantId: TenantId,
    runId: string,
    threadId?: string,
  ): Promise<RunEntity> {
    const run = await this.find(tenantId, runId, threadId);
    const value = { ...wish, thread_id: run?.threadId ?? threadId, run_id: runId, metadata: {} };
    const { filter } = await this.authorizer.authorize('threads', action, value);
    if (!run || !(await this.threads.isAccessible(tenantId, run.threadId, filter))) throw runErrors.notFound();
    return run;
  }

  private async cancelAll(
    tenantId: TenantId,
    runs: RunEntity[],
    action: CancelAction,
    reason: CancelReason,
  ): Promise<void> {
    const { running, deliveries } = await this.repository.cancel(tenantId, runs, action, reason);
    void this.deliveries.startStored(deliveries);
    await this.tellWorkers(running);
    for (const threadId of new Set(runs.map((run) => run.threadId))) await this.startNext({ tenantId, threadId });
  }

  private async startNext(thread: ThreadKey): Promise<void> {
    const next = await this.repository.nextOf(thread);
    if (next) this.start(next);
  }

  private async prepareStateless(
    tenantId: TenantId,
    body: CreateRun,
    headers: Record<string, string>,
    runId?: string,
  ): Promise<NewRun> {
    if (body.command?.resume !== undefined) throw runErrors.resumeWithoutThread();
    return this.prepare(tenantId, body, headers, undefined, undefined, runId);
  }

  private async prepare(
    tenantId: TenantId,
    body: CreateRun & ProtocolRun,
    headers: Record<string, string>,
    threadId?: string,
    occasion?: CronOccasion,
    runId = occasion?.runId ?? uuidv7(),
  ): Promise<NewRun> {
    const assistant = await this.assistants.getForRun(tenantId, body.assistant_id);
    if (isGiven(body.context) && isGiven(body.config?.configurable)) throw runErrors.configAndContext();
    if (body.webhook) await this.webhookPolicy.check(body.webhook);
    const stateless = threadId === undefined;
    const temporary = stateless && body.on_completion === 'delete';
    const sealedHeaders = this.headers.seal(tenantId, runId, headers);
    const kwargs = toKwargs(body, assistant, temporary, occasion);
    const { value, filter } = await this.authorizer.authorize('threads', 'create_run', {
      thread_id: threadId,
      assistant_id: assistant.assistantId,
      run_id: runId,
      status: 'pending',
      metadata: { ...body.config?.metadata, ...body.metadata },
      multitask_strategy: body.multitask_strategy,
      if_not_exists: body.if_not_exists,
      after_seconds: body.after_seconds,
      kwargs,
    });
    const user = currentScope()?.user;
    return {
      runId,
      threadId: threadId ?? uuidv7(),
      assistantId: assistant.assistantId,
      graphId: assistant.graphId,
      metadata: { ...value.metadata, ...(occasion && { created_by: 'system', cron_id: occasion.cronId }) },
      revision: this.graphs.revision,
      assistantMetadata: assistant.metadata,
      kwargs: {
        ...kwargs,
        config: this.secretValues.seal(tenantId, kwargs.config),
        ...(kwargs.context && { context: this.secretValues.seal(tenantId, kwargs.context) }),
        ...(this.graphs.isTracing && { session_name: body.langsmith_tracer?.project_name ?? assistant.graphId }),
        ...(sealedHeaders && { sealed_headers: sealedHeaders }),
        ...(user && { auth_user: this.secretValues.seal(tenantId, user) }),
      },
      webhook: body.webhook ? this.webhooks.seal(tenantId, runId, body.webhook) : null,
      multitaskStrategy: body.multitask_strategy,
      delayMs: Math.max(0, Math.round(body.after_seconds * 1000)),
      thread: {
        create: stateless || body.if_not_exists === 'create',
        temporary,
        ...(!temporary && { ttl: this.graphs.threadTtl.default }),
        access: filter,
      },
    };
  }

  private async insert(
    tenantId: TenantId,
    run: NewRun,
    idempotency?: IdempotencyRequest,
    alongside?: Alongside,
  ): Promise<RunEntity> {
    const claim: RunClaim | undefined =
      idempotency && ((manager) => takeIdempotencyKey(manager, tenantId, idempotency, run.runId));
    const created = await this.insertClaimed(tenantId, run, claim, alongside);
    if (created.outcome === 'created') return created.run;
    const earlier = await this.find(tenantId, created.runId);
    if (!earlier) throw runErrors.idempotentRunGone();
    idempotency?.onReplay();
    return earlier;
  }

  private async insertClaimed(
    tenantId: TenantId,
    run: NewRun,
    claim: RunClaim | undefined,
    alongside?: Alongside,
  ): Promise<Created> {
    const created = await this.repository.create(tenantId, run, claim, alongside);
    if (created.outcome === 'replayed') return created;
    void this.deliveries.startStored(created.deliveries);
    if (created.cancelled.length > 0) await this.tellWorkers(created.cancelled);
    // A delayed run has a timer of its own; when it is due and the thread is taken, it waits its turn like the others.
    if (created.first || run.delayMs > 0) this.start(created.run, run.delayMs);
    return created;
  }

  /** Doesn't wait for Temporal: the run is stored. */
  private start(run: RunEntity, delayMs = 0): void {
    void startOrLeaveToSweep('Run', { run_id: run.runId }, () => this.orchestrator.start(run, delayMs));
  }

  /** The notification has reached the worker already; the workflow's cancellation is for a worker that was away. */
  async tellWorkers(runIds: string[]): Promise<void> {
    await Promise.all(
      runIds.map((runId) =>
        this.orchestrator.cancel(runId).catch((error: unknown) => {
          this.logger.warn({ err: error, run_id: runId }, 'Cancellation did not reach Temporal; the worker has it');
        }),
      ),
    );
  }
}

const isGiven = (object: JsonObject | undefined): boolean => Object.keys(object ?? {}).length > 0;

function toKwargs(
  body: CreateRun & ProtocolRun,
  assistant: AssistantEntity,
  temporary: boolean,
  occasion: CronOccasion | undefined,
): RunKwargs {
  const { config = {}, context } = body;
  const base = assistant.config as RunKwargs['config'];
  const checkpoint = { ...body.checkpoint, ...(body.checkpoint_id && { checkpoint_id: body.checkpoint_id }) };
  // Two names for the same thing, of two generations of graphs and clients: each is read whichever was written.
  const values = { ...base?.configurable, ...assistant.context, ...config.configurable, ...context };
  return {
    input: body.input ?? null,
    ...(body.command && { command: withoutNulls(body.command) }),
    ...(body.strict_resume && { strict_resume: true }),
    config: {
      ...base,
      ...config,
      configurable: {
        ...values,
        ...(occasion && { cron_id: occasion.cronId, cron_scheduled_at: occasion.scheduledAt }),
      },
      ...((base?.tags ?? config.tags) && { tags: [...new Set([...(base?.tags ?? []), ...(config.tags ?? [])])] }),
    },
    ...(isGiven(values) && { context: values }),
    stream_mode: body.stream_mode,
    stream_subgraphs: body.stream_subgraphs,
    stream_resumable: body.stream_resumable,
    ...(body.event_protocol && { event_protocol: true }),
    ...(body.interrupt_before && { interrupt_before: body.interrupt_before }),
    ...(body.interrupt_after && { interrupt_after: body.interrupt_after }),
    ...(Object.keys(checkpoint).length > 0 && { checkpoint }),
    durability: body.durability ?? durabilityOf(body.checkpoint_during),
    ...(body.feedback_keys && { feedback_keys: body.feedback_keys }),
    ...(body.langsmith_tracer && { langsmith_tracer: body.langsmith_tracer }),
    ...(body.webhook && { webhook: maskUrl(body.webhook) }),
    on_completion: body.on_completion,
    temporary,
  };
}

function durabilityOf(checkpointDuring: boolean | undefined): Durability {
  return checkpointDuring === false ? 'exit' : 'async';
}

function withoutNulls(command: NonNullable<CreateRun['command']>): RunKwargs['command'] {
  const { update, resume, goto } = command;
  return {
    ...(update != null && { update }),
    ...(resume !== undefined && { resume }),
    ...(goto != null && { goto }),
  };
}
