import { Injectable } from '@nestjs/common';
import type { ClientCapabilities, InputRequest, ServerContext } from '@modelcontextprotocol/server';
import type { TenantId } from '../../auth/tenant';
import { isInFlight } from '../../database/run-status';
import { ApiError } from '../../http/api-error';
import { isUuid } from '../../http/uuid';
import type { RunEntity } from '../../runs/run.entity';
import { RunStreamsService } from '../../runs/run-streams.service';
import { RunsService } from '../../runs/runs.service';
import { EventLogRepository } from '../../streams/event-log.repository';
import { ThreadsService } from '../../threads/threads.service';
import { toCallResult } from '../call-result';
import { stepsOf } from '../call-progress';
import { McpRunsService } from '../mcp-runs.service';
import { type AssistantTool, McpToolsService } from '../mcp-tools.service';
import { answerable, type Interrupt, isAnswer, type Question, resumeOf, toQuestions } from '../questions';
import { answersTo, McpTasksRepository, type TaskRow } from './mcp-tasks.repository';
import {
  type CreateTaskResult,
  declaresTasks,
  type DetailedTask,
  type TaskEnvelope,
  type TaskStatus,
  tasksRequired,
  unknownTask,
} from './task-wire';

/** How long a task can be read; begins again while it runs or waits. */
const KEPT_MS = 7 * 24 * 3_600_000;
const POLL_MS = 1_000;
/** How long a cancellation waits for the run's end. */
const CANCEL_WAIT_MS = 10_000;
const INTERNAL_ERROR = -32_603;
/** Errors of runs that are not the tool's: its process was lost again and again, or the graph speaks the protocol itself. */
const PROTOCOL_ERRORS = new Set(['RunLost', 'McpError']);

/** Caller that asks for a task. */
export interface TaskCaller {
  tenantId: TenantId;
  capabilities: ClientCapabilities | undefined;
}

/** A task with its latest run, and what that asks. */
interface Standing {
  task: TaskRow;
  run: RunEntity;
  questions: Question[];
}

/** Tool calls as tasks: a task is a run, or several, each answer to a question being one. Its id is its first run's. */
@Injectable()
export class McpTasksService {
  constructor(
    private readonly tasks: McpTasksRepository,
    private readonly tools: McpToolsService,
    private readonly calls: McpRunsService,
    private readonly runs: RunsService,
    private readonly streams: RunStreamsService,
    private readonly threads: ThreadsService,
    private readonly log: EventLogRepository,
  ) {}

  /** Makes a task of the run of a call; undefined when it is gone. */
  async beginTask(tenantId: TenantId, tool: AssistantTool, run: RunEntity): Promise<CreateTaskResult | undefined> {
    const { runId: taskId, threadId } = run;
    const task = await this.tasks.insertTask(tenantId, { taskId, threadId, tool: tool.name }, KEPT_MS);
    if (!task) return undefined;
    const standing = await this.standingOf(tenantId, task);
    return { resultType: 'task', content: [], ...envelopeOf(standing, statusOf(standing)) };
  }

  /** @throws {ProtocolError} -32602 for an unknown task */
  async getTask(caller: TaskCaller, taskId: string, context: ServerContext): Promise<DetailedTask> {
    const { tenantId, capabilities } = caller;
    let standing = await this.find(caller, taskId);
    let status = statusOf(standing);
    const answers = answersTo(standing.task, standing.run.runId);
    // A process may have ended between the last answer and the run that continues with it.
    if (status === 'input_required' && (await this.goOn(caller, standing, answers, context))) {
      standing = await this.standingOf(tenantId, standing.task);
      status = statusOf(standing);
    }
    const { task, run, questions } = standing;
    const envelope = envelopeOf(standing, status);
    if (status === 'working' || status === 'input_required') {
      await this.tasks.keepThread(tenantId, task.threadId, KEPT_MS);
    }
    if (status === 'working') return { ...envelope, ...(await this.progressOf(run)) };
    if (status === 'input_required') {
      return { ...envelope, inputRequests: pending(questions, capabilities, answersTo(task, run.runId)) };
    }
    if (status === 'cancelled') {
      return { ...envelope, ...(task.declined && { statusMessage: 'The question of the agent was declined' }) };
    }
    if (status === 'failed') return { ...envelope, error: { code: INTERNAL_ERROR, message: messageOf(run) } };
    return { ...envelope, result: await this.resultOf(caller, standing, context) };
  }

  /** Takes answers to what the task asks; it continues when it has all of them. Unknown keys, and what answers nothing, are left out. */
  async updateTask(
    caller: TaskCaller,
    taskId: string,
    responses: Record<string, unknown>,
    context: ServerContext,
  ): Promise<void> {
    const standing = await this.find(caller, taskId);
    if (statusOf(standing) !== 'input_required') return;
    const { task, run, questions } = standing;
    const asked = pending(questions, caller.capabilities, {});
    const given = Object.fromEntries(
      Object.entries(responses).filter(([key, value]) => Object.hasOwn(asked, key) && isAnswer(asked[key], value)),
    );
    const answers = await this.tasks.addAnswers(caller.tenantId, task.taskId, run.runId, given);
    await this.goOn(caller, standing, answers, context);
  }

  /** Cancels what runs or waits; what has ended stays as it is. */
  async cancelTask(caller: TaskCaller, taskId: string): Promise<void> {
    const patience = AbortSignal.timeout(CANCEL_WAIT_MS);
    while (!patience.aborted) {
      const standing = await this.find(caller, taskId);
      const status = statusOf(standing);
      if (status === 'input_required') return this.tasks.cancelTask(caller.tenantId, taskId, false);
      if (status !== 'working') return;
      await this.cancelRun(caller.tenantId, standing.run);
      // The graph may ask at this moment: the task then waits, and is cancelled as one that waits.
      await this.streams.awaitEnd(caller.tenantId, standing.run, patience);
    }
    // The run has not ended yet, and may still ask: as the protocol says, the task stays cancelled however it ends.
    await this.tasks.cancelTask(caller.tenantId, taskId, false);
  }

  private async cancelRun(tenantId: TenantId, { runId, threadId }: RunEntity): Promise<void> {
    try {
      await this.runs.cancelRun(tenantId, runId, { action: 'interrupt', threadId });
    } catch (error) {
      // It has ended between the look and the cancellation.
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
    }
  }

  private async find({ tenantId, capabilities }: TaskCaller, taskId: string): Promise<Standing> {
    if (!declaresTasks(capabilities)) throw tasksRequired();
    const task = isUuid(taskId) ? await this.tasks.findTask(tenantId, taskId) : null;
    if (!task) throw unknownTask(taskId);
    // The custom auth decides about the thread; to its users what they may not see is not there.
    await this.threads.getThread(tenantId, task.threadId).catch(() => {
      throw unknownTask(taskId);
    });
    return this.standingOf(tenantId, task);
  }

  private async standingOf(tenantId: TenantId, { taskId }: TaskRow): Promise<Standing> {
    for (;;) {
      const task = await this.tasks.findTask(tenantId, taskId);
      const [run] = task ? await this.runs.latestOf(tenantId, task.threadId) : [];
      if (!task || !run) throw unknownTask(taskId);
      if (isInFlight(run.status)) return { task, run, questions: [] };
      // Read after the run has ended: before, the thread doesn't have the question yet, and the task would count as completed.
      const thread = await this.threads.findThread(tenantId, task.threadId);
      if (!thread) throw unknownTask(taskId);
      const [latest] = await this.runs.latestOf(tenantId, task.threadId);
      // Another run has begun meanwhile, whose thread this is.
      if (latest?.runId !== run.runId) continue;
      const interrupts =
        thread.status === 'interrupted' ? (Object.values(thread.interrupts).flat() as Interrupt[]) : [];
      return { task, run, questions: toQuestions(interrupts) };
    }
  }

  /** Resumes the run with the answers; false while there are not enough of them. */
  private async goOn(
    { tenantId, capabilities }: TaskCaller,
    { task, run, questions }: Standing,
    answers: Record<string, unknown>,
    context: ServerContext,
  ): Promise<boolean> {
    const resume = resumeOf(questions, { ...answers }, capabilities);
    if (resume === 'unanswered') return false;
    if (resume === 'declined') await this.tasks.cancelTask(tenantId, task.taskId, true);
    else await this.calls.answerRun(tenantId, run, resume, context);
    return true;
  }

  private async resultOf({ tenantId }: TaskCaller, { task, run }: Standing, context: ServerContext) {
    const tool = await this.tools.ofAssistant(tenantId, run.assistantId, task.tool);
    const end = await this.streams.awaitEnd(tenantId, run, context.mcpReq.signal);
    if (!end) throw context.mcpReq.signal.reason;
    return toCallResult(tool, end, true);
  }

  /** The last step that the run reported, in its own words if it writes any. */
  private async progressOf({ runId }: RunEntity): Promise<{ statusMessage?: string }> {
    const last = await this.log.lastOf(runId, ['custom', 'updates']);
    const message = last && stepsOf(last).at(-1)?.message;
    return message === undefined ? {} : { statusMessage: message };
  }
}

function statusOf({ task, run, questions }: Standing): TaskStatus {
  if (task.canceledAt) return 'cancelled';
  if (isInFlight(run.status)) return 'working';
  if (run.status === 'interrupted') return 'cancelled';
  if (run.error && PROTOCOL_ERRORS.has(run.error.error)) return 'failed';
  return run.status === 'success' && questions.length > 0 ? 'input_required' : 'completed';
}

function envelopeOf({ task, run }: Standing, status: TaskStatus): TaskEnvelope {
  return {
    taskId: task.taskId,
    status,
    createdAt: task.createdAt.toISOString(),
    lastUpdatedAt: (task.canceledAt ?? run.updatedAt).toISOString(),
    ttlMs: KEPT_MS,
    pollIntervalMs: POLL_MS,
  };
}

function messageOf({ error }: RunEntity): string {
  return error ? `${error.error}: ${error.message}` : 'The run failed';
}

/** Requests that have no answer yet. */
function pending(
  questions: Question[],
  capabilities: ClientCapabilities | undefined,
  answers: Record<string, unknown>,
): Record<string, InputRequest> {
  const requests = questions.flatMap((question) => Object.entries(answerable(question.requests, capabilities)));
  return Object.fromEntries(requests.filter(([key]) => !Object.hasOwn(answers, key)));
}
