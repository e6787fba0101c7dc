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
import { deriveKey } from '../crypto/derive-key';
import { isUnstorableText, UNSTORABLE_TEXT } from '../database/unstorable-text';
import { ApiError } from '../http/api-error';
import type { RunEntity } from '../runs/run.entity';
import { RunStreamsService } from '../runs/run-streams.service';
import { RunsService } from '../runs/runs.service';
import type { RunEnd, RunEvent } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import { CallProgress } from './call-progress';
import { interruptsOf, toCallResult } from './call-result';
import { CallStream } from './call-stream';
import { shownError } from './mcp.errors';
import { McpMetrics, type ToolOutcome } from './mcp.metrics';
import { McpRunsService } from './mcp-runs.service';
import { ownerOfCall } from './mcp-session';
import { type AssistantTool, McpToolsService } from './mcp-tools.service';
import { answerable, isAble, type Question, resumeOf, toQuestions } from './questions';
import { McpTasksService } from './tasks/mcp-tasks.service';
import { type CreateTaskResult, declaresTasks, tasksRequired } from './tasks/task-wire';
import { toToolError } from './tool-result';

/** Time that a run waits for the answer of a client's user. */
const WAITING_HOURS = 24;

/** How long a call that may become a task is waited for: what ends within it is answered at once. */
const QUICK_MS = 500;

type CallOutcome = CallToolResult | InputRequiredResult | CreateTaskResult;

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
  /** Whether the client reads structured content: it came with revision 2025-06-18. */
  knowsStructure: boolean;
  /** Whether the end of a call's signal means that the caller wants the run to end as well. */
  isCancelled: (signal: AbortSignal) => boolean;
}

/** A tool call is a run like any other: created by the same service, executed by the workers, reported from its event log. */
@Injectable()
export class McpCallsService {
  private codec: RequestStateCodec<CallState> | undefined;
  private readonly stateKey: Buffer;
  private readonly logger = new Logger(McpCallsService.name);

  constructor(
    config: AppConfig,
    private readonly tools: McpToolsService,
    private readonly calls: McpRunsService,
    private readonly tasks: McpTasksService,
    private readonly runs: RunsService,
    private readonly streams: RunStreamsService,
    private readonly threads: ThreadsService,
    private readonly metrics: McpMetrics,
  ) {
    this.stateKey = deriveKey(config.secrets.key, 'gantry mcp request state');
  }

  get states(): RequestStateCodec<CallState> {
    this.codec ??= createRequestStateCodec<CallState>({
      key: this.stateKey,
      ttlSeconds: WAITING_HOURS * 3600,
      bind: ownerOfCall,
    });
    return this.codec;
  }

  /**
   * Runs the assistant and answers with its output, or with its questions.
   * @throws {ProtocolError} for an unknown tool; errors of the run are results with `isError`
   */
  async call(
    caller: Caller,
    { name, arguments: args = {} }: CallToolRequest['params'],
    context: ServerContext,
  ): Promise<CallOutcome> {
    let graph = 'none';
    let outcome: ToolOutcome = 'refused';
    try {
      const result = await this.tools
        .getTool(caller.tenantId, name)
        .then((tool) => {
          graph = tool.assistant.graphId;
          return this.converse(caller, tool, args, context);
        })
        .catch(toRefusal);
      outcome = outcomeOf(result);
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
  ): Promise<CallOutcome> {
    const { tenantId } = caller;
    const stream = CallStream.of(context);
    const progress = CallProgress.of(context);
    const responses = { ...context.mcpReq.inputResponses };
    let asTask = becomesTask(caller, tool);
    const begun = await this.beginCall(tenantId, tool, args, context);
    if (!begun) return toToolError('The question is not waiting for an answer any more');
    if ('content' in begun) return begun;
    let run: RunEntity = begun;
    // The question that the call asks itself comes before the task.
    const asksFirst = asTask && tool.mcp.questions === 'call';
    for (;;) {
      stream?.moveTo(run.runId);
      if (asTask && !(asksFirst && run === begun)) {
        const task = await this.task(caller, tool, run, context);
        if (task) return task;
        // It has ended meanwhile.
        asTask = false;
      }
      const end = await this.follow(caller, run, context, progress);
      const interrupts = interruptsOf(end);
      if (interrupts.length === 0) return toCallResult(tool, end, caller.knowsStructure);
      // The answer may have come before the client lost the stream that it takes up.
      const goesOn = stream?.isResumed ? await this.calls.findAnswer(tenantId, run) : undefined;
      if (goesOn) {
        run = goesOn;
        continue;
      }
      const questions = toQuestions(interrupts);
      const resume = resumeOf(questions, responses, caller.capabilities);
      if (resume === 'unanswered') return this.ask(caller, tool, run, questions, context);
      if (resume === 'declined') return toToolError('The question of the agent was declined');
      const next = await this.calls.answerRun(tenantId, run, resume, context);
      if (!next) return toToolError('The question is not waiting for an answer any more');
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
      return (
        run ?? toToolError('The connection was lost before the run was created, or the run was deleted: call again')
      );
    }
    const checked = tool.schemas.checkInput(args);
    if (!checked.valid) return toToolError(`Invalid arguments: ${checked.errorMessage}`);
    return this.calls.startRun(tenantId, tool, args, context, stream?.runId);
  }

  /** The run as a task, unless it ends at once: undefined then. */
  private async task(
    caller: Caller,
    tool: AssistantTool,
    run: RunEntity,
    context: ServerContext,
  ): Promise<CreateTaskResult | undefined> {
    const { signal } = context.mcpReq;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(QUICK_MS)]);
    const end = await this.streams.awaitEnd(caller.tenantId, run, patience);
    if (end && interruptsOf(end).length === 0) return undefined;
    // A caller that has gone knows of no task.
    if (signal.aborted) return undefined;
    return this.tasks.beginTask(caller.tenantId, tool, run);
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
}

/** @throws {MissingRequiredClientCapabilityError} for a tool that is a task and a client that knows none */
function becomesTask({ era, capabilities }: Caller, { mcp }: AssistantTool): boolean {
  // The older revisions have no such extension: their clients wait.
  if (era === 'legacy' || mcp.tasks === 'forbidden') return false;
  const isDeclared = declaresTasks(capabilities);
  if (mcp.tasks === 'required' && !isDeclared) throw tasksRequired();
  return isDeclared;
}

function outcomeOf(result: CallOutcome): ToolOutcome {
  if (result.resultType === 'task') return 'task';
  if (!('content' in result)) return 'asked';
  return result.isError ? 'error' : 'ok';
}

/** Refusals of the run services are shown to the caller of the tool, which can correct the call. */
function toRefusal(error: unknown): CallToolResult {
  if (error instanceof ApiError && error.status < 500) return toToolError(error.detail);
  if (isUnstorableText(error)) return toToolError(UNSTORABLE_TEXT);
  throw error;
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
