import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { AssistantEntity } from '../assistants/assistant.entity';
import { AssistantsService } from '../assistants/assistants.service';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import { SecretValues } from '../crypto/secret-values';
import { encryptionContext } from '../database/at-rest';
import { currentScope } from '../database/request-scope';
import { GraphRegistry } from '../graphs/graph-registry';
import type { Durability, RunKwargs } from '../graphs/host/protocol';
import { checkContext, isGiven } from '../runnable-config/check-context';
import { maskUrl } from '../webhooks/mask-url';
import { WebhookPolicy } from '../webhooks/webhook-policy';
import type { NewRun } from './new-run';
import { runErrors } from './run.errors';
import { RunHeaders } from './run-headers';
import { RunWebhooks } from './run-webhooks';
import type { CreateRun } from './runs.schemas';

/** Properties of a run that only the event protocol can set. */
export type ProtocolRun = Pick<RunKwargs, 'event_protocol'>;

/** Ids that the run of a cron's tick carries. */
export interface CronStamp {
  cronId: string;
  /** Time of the tick, as the API writes times. */
  scheduledAt: string;
}

/** Input from which a run is created. */
export interface RunDraft {
  tenantId: TenantId;
  body: CreateRun & ProtocolRun;
  /** Headers of the request that the run's graph finds in its `configurable`. */
  headers: Record<string, string>;
  /** Absent for a stateless run: it gets a thread of its own, which goes with it unless `on_completion` is `keep`. */
  threadId?: string | undefined;
  /** Chosen by a caller that has reported it already. */
  runId?: string | undefined;
  cron?: CronStamp;
  /** Whether the request reads the run's events as they come; false if absent. */
  isStreamed?: boolean;
}

/** Turns what a caller asks for into the run that is stored: checked, authorised, merged with its assistant, sealed. */
@Injectable()
export class RunPreparation {
  constructor(
    private readonly assistants: AssistantsService,
    private readonly webhookPolicy: WebhookPolicy,
    private readonly webhooks: RunWebhooks,
    private readonly headers: RunHeaders,
    private readonly graphs: GraphRegistry,
    private readonly authorizer: Authorizer,
    private readonly secretValues: SecretValues,
  ) {}

  /**
   * @throws {ApiError} 404 for an unknown assistant, 400 for `context` beside `config.configurable` and for a stateless run
   *   that resumes, 422 for a webhook that the policy refuses, 403 when the custom auth refuses the run
   */
  async prepareRun(draft: RunDraft): Promise<NewRun> {
    const { tenantId, body, headers, threadId, cron, runId = uuidv7(), isStreamed = false } = draft;
    const stateless = threadId === undefined;
    if (stateless && !cron && body.command?.resume != null) throw runErrors.resumeWithoutThread();
    const assistant = await this.assistants.getForRun(tenantId, body.assistant_id);
    checkContext(body);
    if (body.webhook) await this.webhookPolicy.check(body.webhook);
    const temporary = stateless && body.on_completion === 'delete';
    const sealedHeaders = this.headers.seal(tenantId, runId, headers);
    const kwargs = toKwargs(body, assistant, temporary, cron);
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
    const encryption = await encryptionContext();
    return {
      runId,
      threadId: threadId ?? uuidv7(),
      assistantId: assistant.assistantId,
      graphId: assistant.graphId,
      metadata: { ...value.metadata, ...(cron && { created_by: 'system', cron_id: cron.cronId }) },
      revision: this.graphs.revision,
      assistantMetadata: assistant.metadata,
      kwargs: {
        ...kwargs,
        config: this.secretValues.seal(tenantId, kwargs.config),
        ...(kwargs.context && { context: this.secretValues.seal(tenantId, kwargs.context) }),
        ...(this.graphs.isTracing && { session_name: body.langsmith_tracer?.project_name ?? assistant.graphId }),
        ...(sealedHeaders && { sealed_headers: sealedHeaders }),
        ...(encryption && { encryption_context: encryption }),
        ...(user && { auth_user: this.secretValues.seal(tenantId, user) }),
      },
      webhook: body.webhook ? this.webhooks.seal(tenantId, runId, body.webhook) : null,
      multitaskStrategy: body.multitask_strategy,
      delayMs: Math.max(0, Math.round(body.after_seconds * 1000)),
      isStreamed,
      thread: {
        create: stateless || body.if_not_exists === 'create',
        isNew: stateless,
        temporary,
        ...(!temporary && { ttl: this.graphs.threadTtl.default }),
        access: filter,
      },
    };
  }
}

function toKwargs(
  body: CreateRun & ProtocolRun,
  assistant: AssistantEntity,
  temporary: boolean,
  cron: CronStamp | undefined,
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
        ...(cron && { cron_id: cron.cronId, cron_scheduled_at: cron.scheduledAt }),
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
