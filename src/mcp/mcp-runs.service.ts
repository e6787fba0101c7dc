import { Injectable } from '@nestjs/common';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { TenantId } from '../auth/tenant';
import { HttpSettings } from '../config/http-settings';
import type { RunEntity } from '../runs/run.entity';
import { checkIdempotencyKey, fingerprintOf, type IdempotencyRequest } from '../runs/idempotency';
import { RunCreationService } from '../runs/run-creation.service';
import { type CreateRun, createRunSchema } from '../runs/runs.schemas';
import { RunsService } from '../runs/runs.service';
import { ThreadsService } from '../threads/threads.service';
import { PROGRESS_MODES } from './call-progress';
import { ownerOfCall } from './mcp-session';
import type { AssistantTool } from './mcp-tools.service';
import type { Resume } from './questions';
import { toGraphInput } from './tool-schemas';

/** Runs of a thread that are looked through for the one that an answer made. */
const ROUNDS = 100;

/** The runs that tool calls and their answers make. */
@Injectable()
export class McpRunsService {
  constructor(
    private readonly creation: RunCreationService,
    private readonly runs: RunsService,
    private readonly threads: ThreadsService,
    private readonly settings: HttpSettings,
  ) {}

  /**
   * A call that is repeated with its `Idempotency-Key` gets the run that the first one made.
   * @param runId the id that the run was given before it is made
   * @throws {ApiError} 409 for a key of another call, 422 for an empty or overlong one
   */
  startRun(
    tenantId: TenantId,
    tool: AssistantTool,
    args: Record<string, unknown>,
    context: ServerContext,
    runId: string | undefined,
  ): Promise<RunEntity> {
    const { assistantId } = tool.assistant;
    const input = toGraphInput(args, tool.schemas.graphInput);
    return this.creation.createRun({
      tenantId,
      body: runRequest({ assistant_id: assistantId, input, metadata: { source: 'mcp', mcp_tool: tool.name } }, context),
      idempotency: idempotencyOf(context, [tool.name, args]),
      headers: this.headersOf(context),
      runId,
    });
  }

  /**
   * Goes on with the thread of the run that asked. A client that repeats its answer, because it missed the reply, gets the
   * run that the first one made; undefined when nothing waits.
   */
  async answerRun(
    tenantId: TenantId,
    asked: RunEntity,
    resume: Resume[],
    context: ServerContext,
  ): Promise<RunEntity | undefined> {
    const thread = await this.threads.findThread(tenantId, asked.threadId);
    if (!thread) return undefined;
    if (thread.status !== 'interrupted') return this.findAnswer(tenantId, asked);
    const values = resume.filter((each) => each.kind === 'resume').map(({ id, value }) => [id, value] as const);
    const key = `mcp-answer:${asked.runId}`;
    const idempotency = { key, route: '/mcp', fingerprint: fingerprintOf(key), onReplay: () => undefined };
    return this.creation.createRun({
      tenantId,
      threadId: asked.threadId,
      body: runRequest(
        {
          assistant_id: asked.assistantId,
          ...(values.length > 0 && { command: { resume: Object.fromEntries(values) } }),
          metadata: { source: 'mcp', mcp_answers: asked.runId },
          multitask_strategy: 'reject',
        },
        context,
      ),
      idempotency,
      headers: this.headersOf(context),
    });
  }

  /** The run that an answer to this one has made. */
  async findAnswer(tenantId: TenantId, asked: RunEntity): Promise<RunEntity | undefined> {
    const rounds = await this.runs.listRuns(tenantId, asked.threadId, { limit: ROUNDS, offset: 0, select: undefined });
    return rounds.find(({ metadata }) => metadata.mcp_answers === asked.runId);
  }

  /** Headers of the request that the run's graph is given. */
  private headersOf({ http }: ServerContext): Record<string, string> {
    return this.settings.configurableHeaders.of(Object.fromEntries(http?.req?.headers ?? []));
  }
}

/** A client that asked for progress gets all that a run streams; a task's status has what the graph writes. */
function runRequest(body: Partial<CreateRun>, { mcpReq }: ServerContext): CreateRun {
  const withProgress = mcpReq._meta?.progressToken !== undefined;
  return createRunSchema.parse({ ...body, stream_mode: withProgress ? [...PROGRESS_MODES] : ['updates', 'custom'] });
}

/** The request's `Idempotency-Key`, which belongs to its caller. @param call what is the same when the call is repeated */
function idempotencyOf(context: ServerContext, call: unknown): IdempotencyRequest | undefined {
  const key = context.http?.req?.headers.get('idempotency-key') ?? undefined;
  if (key === undefined) return undefined;
  return {
    key: checkIdempotencyKey(key),
    route: `/mcp tools/call ${ownerOfCall(context)}`,
    fingerprint: fingerprintOf(JSON.stringify(call)),
    onReplay: () => undefined,
  };
}
