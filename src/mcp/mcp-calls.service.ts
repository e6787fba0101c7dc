import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import {
  type CallToolRequest,
  type CallToolResult,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { deriveKey } from '../crypto/derive-key';
import { isUnstorableText, UNSTORABLE_TEXT } from '../database/unstorable-text';
import { ApiError } from '../http/api-error';
import type { RunEntity } from '../runs/run.entity';
import { RunStreamsService } from '../runs/run-streams.service';
import { type CreateRun, createRunSchema } from '../runs/runs.schemas';
import { RunCreationService } from '../runs/run-creation.service';
import { RunsService } from '../runs/runs.service';
import type { RunEnd, RunEvent } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import { CallProgress, PROGRESS_MODES } from './call-progress';
import { CallStream } from './call-stream';
import { shownError } from './mcp.errors';
import { McpMetrics, type ToolOutcome } from './mcp.metrics';
import type { SessionOwner } from './mcp-session';
import { type AssistantTool, McpToolsService } from './mcp-tools.service';
import { answerable, type Interrupt, isAble, isAnswer, type Question, type Resume, toQuestions } from './questions';
import { toToolError, toToolResult } from './tool-result';
import { pickOutput, toGraphInput } from './tool-schemas';
import { isJsonObject } from '../database/json';

/** Time that a run waits for the answer of a client's user. */
const WAITING_HOURS = 24;
/** Runs of a thread that are searched for the one that an answer created. */
const ROUNDS = 100;

/** State that a client sends back with its answers: the run that asked. */
export interface CallState {
  runId: string;
  tool: string;
}

export interface Caller {
  tenantId: TenantId;
  /** `legacy`: a revision before 2026-07-28. */
  era: 'legacy' | 'modern';
  capabilities: ClientCapabilities | undefined;
  /** Whether the end of a call's signal means that the caller wants the run to end as well. */
  isCancelled: (signal: AbortSignal) => boolean;
}

/** A tool call is a run like any other: created by the same service, executed by the workers, reported from its event log. */
@Injectable()
export class McpCallsService {
  readonly states: RequestStateCodec<CallState>;
  private readonly logger = new Logger(McpCallsService.name);

  constructor(
    config: AppConfig,
    private readonly tools: McpToolsService,
    private readonly creation: RunCreationService,
    private readonly runs: RunsService,
    private readonly streams: RunStreamsService,
    private readonly threads: ThreadsService,
    private readonly settings: HttpSettings,
    private readonly metrics: McpMetrics,
  ) {
    this.states = createRequestStateCodec<CallState>({
      key: deriveKey(config.secrets.key, 'gantry mcp request state'),
      ttlSeconds: WAITING_HOURS * 3600,
      bind: ({ http }) => (http?.authInfo?.extra?.owner as SessionOwner | undefined) ?? '',
    });
  }

  /**
   * Runs the assistant and answers with its output, or with its questions.
   * @throws {ProtocolError} for an unknown tool; errors of the run are results with `isError`
   */
  async call(
    caller: Caller,
    { name, arguments: args = {} }: CallToolRequest['params'],
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    let graph = 'none';
    let outcome: ToolOutcome = 'refused';
    try {
      const result = await this.tools
        .get(caller.tenantId, name)
        .then((tool) => {
          graph = tool.assistant.graphId;
          return this.converse(caller, tool, args, context);
        })
        .catch(toRefusal);
      outcome = 'content' in result ? (result.isError ? 'error' : 'ok') : 'asked';
      return result;
    } catch (error) {
      if (context.mcpReq.signal.aborted) outcome = 'gone';
      else if (!(error instanceof ProtocolError)) outcome = 'failed';
      throw outcome === 'gone' ? error : shownError(error);
    } finally {
      this.metrics.toolCalled(graph, outcome);
    }
  }

  private async converse(
    caller: Caller,
    tool: AssistantTool,
    args: Record<string, unknown>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { tenantId } = caller;
    const stream = CallStream.of(context);
    const progress = CallProgress.of(context);
    const responses = { ...context.mcpReq.inputResponses };
    const begun = await this.beginCall(tenantId, tool, args, context);
    if (!begun) return toToolError('What was asked is not waiting for an answer any more');
    if ('content' in begun) return begun;
    let run: RunEntity = begun;
    for (;;) {
      stream?.moveTo(run.runId);
      const end = await this.follow(caller, run, context, progress);
      const interrupts = interruptsOf(end);
      if (interrupts.length === 0) return this.toResult(tool, end);
      // The answer may have arrived before the client lost the stream that it resumes.
      const goesOn = stream?.isResumed ? await this.answered(tenantId, run) : undefined;
      if (goesOn) {
        run = goesOn;
        continue;
      }
      const questions = toQuestions(interrupts);
      const resume = resumeOf(questions, responses, caller.capabilities);
      if (resume === 'unanswered') return this.ask(caller, tool, run, questions, context);
      if (resume === 'declined') return toToolError('The question of the agent was declined');
      const next = await this.answer(tenantId, run, resume, context);
      if (!next) return toToolError('What was asked is not waiting for an answer any more');
      run = next;
    }
  }

  /** The run of the call: a new one or, when the client comes back with answers, the one that asked. */
  private async beginCall(
    tenantId: TenantId,
    tool: AssistantTool,
    args: Record<string, unknown>,
    context: ServerContext,
  ): Promise<RunEntity | CallToolResult | null> {
    const state = context.mcpReq.requestState<CallState>();
    if (state !== undefined) return state.tool === tool.name ? this.runs.findRun(tenantId, state.runId) : null;
    const stream = CallStream.of(context);
    if (stream?.isResumed) {
      const run = await this.runs.findRun(tenantId, stream.runId);
      return run ?? toToolError('The connection was lost before the call was made, or its run is gone: call again');
    }
    const checked = tool.schemas.checkInput(args);
    if (!checked.valid) return toToolError(`Invalid arguments: ${checked.errorMessage}`);
    const { assistantId } = tool.assistant;
    const input = toGraphInput(args, tool.schemas.graphInput);
    return this.creation.createRun({
      tenantId,
      body: runRequest({ assistant_id: assistantId, input, metadata: { source: 'mcp', mcp_tool: tool.name } }, context),
      headers: this.headersOf(context),
      runId: stream?.runId,
    });
  }

  /** Request headers for the run's graph. */
  private headersOf({ http }: ServerContext): Record<string, string> {
    return this.settings.configurableHeaders.of(Object.fromEntries(http?.req?.headers ?? []));
  }

  private async follow(
    { tenantId, isCancelled }: Caller,
    run: RunEntity,
    context: ServerContext,
    progress: CallProgress | undefined,
  ): Promise<RunEnd> {
    const { signal } = context.mcpReq;
    const report = progress && ((events: RunEvent[]) => progress.reportProgress(events));
    const end = await this.streams.awaitEnd(tenantId, run, signal, {
      onEvents: report,
      after: CallStream.of(context)?.after,
    });
    if (end) return end;
    if (isCancelled(signal)) {
      this.logger.debug({ run_id: run.runId }, 'The caller of a tool has cancelled');
      await this.runs.cancelIfInFlight(tenantId, run.runId, 'interrupt');
    }
    throw signal.reason;
  }

  private async ask(
    { tenantId, capabilities, era }: Caller,
    tool: AssistantTool,
    run: RunEntity,
    questions: Question[],
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    await this.threads.keepFor(tenantId, run.threadId, WAITING_HOURS);
    const requests = questions.map((question) => answerable(question.requests, capabilities));
    const inputRequests: InputRequests = Object.assign({}, ...requests) as InputRequests;
    const unable = Object.values(inputRequests).find((request) => !isAble(request, capabilities));
    if (unable) {
      const error = cannotAsk(unable.method, run, questions);
      // The older revisions lack the error code, so there the tool reports the error.
      if (era === 'legacy') return toToolError(error.message);
      throw error;
    }
    const requestState = await this.states.mint({ runId: run.runId, tool: tool.name }, context);
    return inputRequired({ inputRequests, requestState });
  }

  /**
   * Continues the thread of the run that asked. A client that repeats its answer, because it missed the reply, gets the run
   * that the first one created.
   */
  private async answer(
    tenantId: TenantId,
    asked: RunEntity,
    resume: Resume[],
    context: ServerContext,
  ): Promise<RunEntity | undefined> {
    const thread = await this.threads.findThread(tenantId, asked.threadId);
    if (!thread) return undefined;
    if (thread.status !== 'interrupted') return this.answered(tenantId, asked);
    const values = resume.filter((each) => each.kind === 'resume').map(({ id, value }) => [id, value] as const);
    const key = `mcp-answer:${asked.runId}`;
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
      idempotency: {
        key,
        route: '/mcp',
        fingerprint: createHash('sha256').update(key).digest(),
        onReplay: () => undefined,
      },
      headers: this.headersOf(context),
    });
  }

  private async answered(tenantId: TenantId, asked: RunEntity): Promise<RunEntity | undefined> {
    const rounds = await this.runs.listRuns(tenantId, asked.threadId, { limit: ROUNDS, offset: 0, select: undefined });
    return rounds.find(({ metadata }) => metadata.mcp_answers === asked.runId);
  }

  private toResult(tool: AssistantTool, { status, result }: RunEnd): CallToolResult {
    const error = isJsonObject(result)
      ? (result.__error__ as { error: string; message: string } | undefined)
      : undefined;
    if (error) return toToolError(`${error.error}: ${error.message}`);
    if (status !== 'success') return toToolError(`The run was ended before it was done (${status})`);
    const { output: schema, checkOutput } = tool.schemas;
    const output = pickOutput(isJsonObject(result) ? result : { result }, schema);
    const checked = checkOutput?.(output);
    if (checked?.valid === false) {
      return toToolError(
        `The graph's output is not what its schema says (${checked.errorMessage}): ${JSON.stringify(output)}`,
      );
    }
    return toToolResult(output);
  }
}

/** Refusals of the run services are shown to the caller of the tool, which can correct the call. */
function toRefusal(error: unknown): CallToolResult {
  if (error instanceof ApiError && error.status < 500) return toToolError(error.detail);
  if (isUnstorableText(error)) return toToolError(UNSTORABLE_TEXT);
  throw error;
}

/** A client that requested progress gets everything that a run streams. */
function runRequest(body: Partial<CreateRun>, { mcpReq }: ServerContext): CreateRun {
  const withProgress = mcpReq._meta?.progressToken !== undefined;
  return createRunSchema.parse({ ...body, stream_mode: withProgress ? [...PROGRESS_MODES] : ['updates'] });
}

function interruptsOf({ result }: RunEnd): Interrupt[] {
  return isJsonObject(result) && Array.isArray(result.__interrupt__) ? (result.__interrupt__ as Interrupt[]) : [];
}

/** Value with which the run resumes; every response answers one question only. */
function resumeOf(
  questions: Question[],
  responses: Record<string, unknown>,
  capabilities: ClientCapabilities | undefined,
): Resume[] | 'unanswered' | 'declined' {
  const resume: Resume[] = [];
  const used: string[] = [];
  for (const question of questions) {
    const answers = Object.entries(answerable(question.requests, capabilities));
    if (!answers.every(([key, request]) => isAnswer(request, responses[key]))) return 'unanswered';
    const given = question.toResume(Object.fromEntries(answers.map(([key]) => [key, responses[key]])));
    if (!given) return 'declined';
    used.push(...answers.map(([key]) => key));
    resume.push(given);
  }
  for (const key of used) delete responses[key];
  return resume;
}

/** The run waits all the same: any client of the API can answer it. */
function cannotAsk(method: string, run: RunEntity, questions: Question[]): MissingRequiredClientCapabilityError {
  const capability = method === 'elicitation/create' ? 'elicitation' : method === 'roots/list' ? 'roots' : 'sampling';
  const asked = questions
    .flatMap(({ requests }) => Object.values(requests))
    .map(({ params }) => (params && 'message' in params ? params.message : ''));
  const where = `It waits on thread ${run.threadId} for ${WAITING_HOURS} hours: resume it with POST /threads/${run.threadId}/runs`;
  return new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { [capability]: {} } },
    `The agent asks, and this client doesn't declare ${capability}: ${asked.join(' ').trim()} ${where}`,
  );
}
