import { type Artifact, Message, type SendMessageRequest, type Task } from '@a2a-js/sdk';
import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { validate as isUuid, v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import { currentScope } from '../database/request-scope';
import { ApiError } from '../http/api-error';
import { RunCreationService } from '../runs/run-creation.service';
import type { RunOrigin } from '../runs/run-origin';
import type { RunEntity } from '../runs/run.entity';
import { createRunSchema } from '../runs/runs.schemas';
import { RunsService } from '../runs/runs.service';
import { type DeliveryReference, WebhookOrchestrator } from '../temporal/webhook-orchestrator';
import { ThreadsService } from '../threads/threads.service';
import type { Agent } from './a2a-agents.service';
import { answerOf, checkModes, inputOf, type Interrupt } from './a2a-input';
import { A2aPushService } from './a2a-push.service';
import { isTerminal, lastOfAgent, parseMessages, toTask } from './a2a-task.mapper';
import { A2aTasksRepository, type TaskCursor, type TaskFilter, type TaskRow } from './a2a-tasks.repository';
import { a2aErrors } from './a2a.errors';
import { A2aTurns, CONTEXT_KEY, TASK_KEY } from './a2a-turns';

/** Namespace of the ids of threads whose contexts have ids that are no UUIDs. */
const CONTEXT_NAMESPACE = '0b3f6a52-5f0c-4a57-9d0e-2f4f6f1f7c11';

/** Parts of the HTTP request for the run that a message creates. */
export type RunOptions = Omit<RunOrigin, 'tenantId'>;

interface TurnOptions extends RunOptions {
  /** Whether the request reads the run's events as they come. */
  isStreamed: boolean;
}

/** Parts of a task that the caller requests. */
export interface TaskOptions {
  /** Messages at the most; undefined for all. */
  historyLength?: number | undefined;
  withArtifacts?: boolean;
  /** The answer as far as it was streamed, for a running task. */
  answerSoFar?: Artifact | undefined;
}

/** Tasks as runs: a message creates a run, or answers the one that asked; tasks are always shown from rows. */
@Injectable()
export class A2aTasksService {
  private readonly logger = new Logger('A2a');

  constructor(
    private readonly tasks: A2aTasksRepository,
    private readonly creation: RunCreationService,
    private readonly runs: RunsService,
    private readonly threads: ThreadsService,
    private readonly turns: A2aTurns,
    private readonly deliveries: WebhookOrchestrator,
    private readonly push: A2aPushService,
    private readonly authorizer: Authorizer,
  ) {}

  /**
   * Accepts a message: a new task, or the next turn of one that waits for it.
   * @throws the protocol's errors; {ApiError} of the runs
   */
  async sendMessage(
    agent: Agent,
    { message, configuration }: SendMessageRequest,
    version: string,
    { idempotency, headers, isStreamed }: TurnOptions,
  ): Promise<TaskRow> {
    if (!message) throw a2aErrors.noInput();
    const outputModes = configuration?.acceptedOutputModes ?? [];
    checkModes(agent, message, outputModes);
    const push = configuration?.taskPushNotificationConfig;
    if (push) await this.push.checkConfig(push);
    const register = async (manager: EntityManager, taskId: string): Promise<void> => {
      if (push) await this.push.putConfig(agent.tenantId, taskId, push, version, manager);
    };
    const turn = { agent, message, outputModes, register, idempotency, headers, isStreamed };
    return message.taskId ? this.resumeTask(turn) : this.beginTask(turn);
  }

  /** @throws TaskNotFoundError, also for a task of another tenant or assistant, or one that the custom auth excludes */
  async getTask({ tenantId, assistant }: Agent, taskId: string): Promise<TaskRow> {
    const row = isUuid(taskId) ? await this.tasks.findTask(tenantId, taskId, assistant.assistantId) : null;
    if (!row || !(await this.isReadable(row))) throw a2aErrors.taskNotFound(taskId);
    return row;
  }

  async listTasks(
    { tenantId, assistant }: Agent,
    filter: TaskFilter,
    page: { size: number; after?: TaskCursor },
  ): Promise<{ rows: TaskRow[]; total: number }> {
    const access = await this.authorizer.authorizeSearch('threads', { metadata: {} });
    return this.tasks.listTasks(tenantId, assistant.assistantId, filter, page, access);
  }

  /**
   * Ends a task. One that waits ends at once; a running one ends when its worker has released it.
   * @throws TaskNotCancelableError
   */
  async cancelTask(task: TaskRow): Promise<void> {
    if (isTerminal(task)) throw a2aErrors.notCancelable(task.taskId, task.state);
    if (task.state === 'input-required') return this.cancelWaiting(task);
    try {
      await this.runs.cancelRun(task.tenantId, task.runId, { action: 'interrupt', threadId: task.threadId });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      // It has ended between the query and the cancellation.
      const now = await this.tasks.findTask(task.tenantId, task.taskId);
      if (now?.state === 'input-required') return this.cancelWaiting(now);
      throw a2aErrors.notCancelable(task.taskId, now?.state ?? 'gone');
    }
  }

  /** The tasks as the protocol has them. */
  async render(rows: TaskRow[], { historyLength, withArtifacts = true, answerSoFar }: TaskOptions): Promise<Task[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ taskId }) => taskId);
    // The question of a waiting task is part of its status, even if no history is requested.
    const texts = await this.tasks.messages(rows[0].tenantId, ids, historyLength && Math.max(historyLength, 1));
    const asking = historyLength === 0 ? rows.filter(({ state }) => state === 'input-required') : [];
    const questions = await this.tasks.messages(
      rows[0].tenantId,
      asking.map(({ taskId }) => taskId),
      1,
    );
    return rows.map((row) => {
      const messages = parseMessages(texts.get(row.taskId) ?? []);
      const question = lastOfAgent(messages) ?? lastOfAgent(parseMessages(questions.get(row.taskId) ?? []));
      const task = toTask(row, { messages, ...(question && { question }), withArtifacts });
      return answerSoFar ? { ...task, artifacts: [answerSoFar] } : task;
    });
  }

  private async beginTask({ agent, message, outputModes, register, ...options }: Turn): Promise<TaskRow> {
    const { tenantId } = agent;
    const contextId = message.contextId === '' ? uuidv7() : message.contextId;
    const threadId = await this.threadOf(tenantId, contextId);
    const input = inputOf(agent, message);
    let superseded: DeliveryReference[] = [];
    const alongside = async (manager: EntityManager, run: RunEntity): Promise<void> => {
      superseded = await this.turns.supersede(manager, tenantId, threadId);
      const { runId: taskId, assistantId } = run;
      await this.tasks.insertTask(manager, tenantId, { taskId, assistantId, threadId, contextId, outputModes });
      await this.remember(manager, agent, message, taskId, contextId);
      await register(manager, taskId);
    };
    const body = runBody(agent, { input, metadata: { [CONTEXT_KEY]: contextId } });
    const run = await this.creation
      .createRun({ tenantId, threadId, body, alongside, ...options })
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'thread_not_found') throw a2aErrors.contextRefused();
        throw error;
      });
    void this.deliveries.startStored(superseded);
    return this.rowOf(agent, run);
  }

  private async resumeTask({ agent, message, outputModes, register, ...options }: Turn): Promise<TaskRow> {
    const { tenantId } = agent;
    const task = await this.getTask(agent, message.taskId);
    const { taskId, contextId, threadId } = task;
    if (message.contextId !== '' && message.contextId !== contextId) throw a2aErrors.otherContext(taskId);
    if (isTerminal(task)) throw a2aErrors.taskEnded(taskId, task.state);
    if (task.state !== 'input-required') throw a2aErrors.taskRunning(taskId);
    const { interrupts } = await this.threads.getThread(tenantId, threadId);
    const answer = answerOf(message, Object.values(interrupts).flat() as Interrupt[]);
    const alongside = async (manager: EntityManager, run: RunEntity): Promise<void> => {
      if (!(await this.tasks.resume(manager, tenantId, task, run.runId, outputModes)))
        throw a2aErrors.taskRunning(taskId);
      await this.remember(manager, agent, message, taskId, contextId);
      await register(manager, taskId);
    };
    const metadata = { [TASK_KEY]: taskId, [CONTEXT_KEY]: contextId };
    const body = runBody(agent, { ...(answer ? { command: answer } : { input: null }), metadata });
    const request = { tenantId, threadId, body, alongside, ...options };
    return this.rowOf(agent, await this.creation.createRun(request));
  }

  /**
   * The id of a context's thread: always the same one for an id in a tenant, and for each user of a custom auth another one, since
   * clients of several users choose the same names.
   */
  private async threadOf(tenantId: TenantId, contextId: string): Promise<string> {
    if (isUuid(contextId)) return contextId.toLowerCase();
    const shared = uuidv5(`${tenantId}/${contextId}`, CONTEXT_NAMESPACE);
    const user = currentScope()?.user;
    if (!user) return shared;
    // Contexts of users were named like this as well, and continue.
    const isTheirs =
      (await this.threads.findThread(tenantId, shared)) && (await this.isReadable({ tenantId, threadId: shared }));
    return isTheirs ? shared : uuidv5(JSON.stringify([tenantId, user.identity, contextId]), CONTEXT_NAMESPACE);
  }

  /** A task belongs to the owner of its thread. */
  private async isReadable({ tenantId, threadId }: Pick<TaskRow, 'tenantId' | 'threadId'>): Promise<boolean> {
    const { filter } = await this.authorizer.authorize('threads', 'read', { thread_id: threadId });
    return this.threads.isAccessible(tenantId, threadId, filter);
  }

  private async rowOf(agent: Agent, { runId, metadata }: RunEntity): Promise<TaskRow> {
    return this.getTask(agent, (metadata[TASK_KEY] as string | undefined) ?? runId);
  }

  private async remember(
    manager: EntityManager,
    { tenantId }: Agent,
    message: Message,
    taskId: string,
    contextId: string,
  ): Promise<void> {
    const json = Message.toJSON({ ...message, taskId, contextId });
    await this.tasks.addMessage(manager, tenantId, taskId, JSON.stringify(json));
  }

  private async cancelWaiting(task: TaskRow): Promise<void> {
    const notifications = await this.tasks.transaction(async (manager) => {
      if (!(await this.tasks.cancelWaiting(manager, task))) throw a2aErrors.taskRunning(task.taskId);
      return this.turns.notify(manager, { ...task, state: 'canceled', superseded: false, statusAt: new Date() });
    });
    void this.deliveries.startStored(notifications);
    try {
      // The graph no longer waits for an answer, so its thread is free for the next task.
      await this.threads.updateState(task.tenantId, task.threadId, { as_node: '__end__' });
    } catch (error) {
      const { taskId: task_id, threadId: thread_id } = task;
      this.logger.warn({ err: error, task_id, thread_id }, 'The thread of a canceled task keeps its interrupt');
    }
  }
}

interface Turn extends TurnOptions {
  agent: Agent;
  message: Message;
  outputModes: string[];
  register: (manager: EntityManager, taskId: string) => Promise<void>;
}

function runBody({ assistant, talks }: Agent, given: Record<string, unknown>) {
  return createRunSchema.parse({
    assistant_id: assistant.assistantId,
    // Tokens show the progress of a graph that streams them, steps that of any other.
    stream_mode: [talks ? 'messages-tuple' : 'updates', 'custom'],
    multitask_strategy: 'enqueue',
    if_not_exists: 'create',
    ...given,
  });
}
