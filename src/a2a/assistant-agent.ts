import {
  type AgentCard,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { Logger } from '@nestjs/common';
import { isUnstorableText, UNSTORABLE_TEXT } from '../database/unstorable-text';
import { ApiError } from '../http/api-error';
import type { Agent } from './a2a-agents.service';
import type { A2aPushService } from './a2a-push.service';
import type { A2aStreamsService } from './a2a-streams.service';
import { isTerminal, phaseOf, toReply } from './a2a-task.mapper';
import type { TaskCursor, TaskFilter, TaskRow } from './a2a-tasks.repository';
import type { A2aTasksService, RunOptions } from './a2a-tasks.service';
import type { ProtocolVersion } from './a2a-version';
import { a2aErrors } from './a2a.errors';

const PAGE_SIZE = 50;
/** Time that a cancellation waits for the worker to stop, before it answers with the current task. */
const CANCEL_WAIT_MS = 10_000;

/** How long the stream of an agent that replies with messages waits for one, before it shows the task. */
const REPLY_WAIT_MS = 5_000;

export interface AgentServices {
  tasks: A2aTasksService;
  streams: A2aStreamsService;
  push: A2aPushService;
  card: (agent: Agent) => AgentCard;
}

export interface AgentCall extends RunOptions {
  version: ProtocolVersion;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** Called when the answer has to wait for a run, which may take hours. */
  onWaiting: () => void;
}

/** One assistant in one call, as the protocol's library sees an agent: it speaks the protocol, this maps the operations. */
export class AssistantAgent implements A2ARequestHandler {
  private readonly logger = new Logger('A2a');

  constructor(
    private readonly agent: Agent,
    private readonly services: AgentServices,
    private readonly call: AgentCall,
  ) {}

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.services.card(this.agent));
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(a2aErrors.noExtendedCard());
  }

  sendMessage(request: SendMessageRequest): Promise<Message | Task> {
    return this.guarded(async () => {
      const { configuration } = request;
      const sent = await this.send(request, false);
      if (configuration?.returnImmediately) return this.render(sent, configuration.historyLength);
      const task = await this.settled(sent, this.call.signal);
      return this.replyTo(request, task) ?? this.render(task, configuration?.historyLength);
    });
  }

  async *sendMessageStream(request: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const historyLength = request.configuration?.historyLength;
    const sent = await this.guarded(() => this.send(request, true));
    const reply = this.mayReply(request) ? await this.guarded(() => this.quickReply(request, sent)) : undefined;
    if (reply) yield { payload: { $case: 'message', value: reply } };
    else yield* this.follow(sent, historyLength, false);
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const task = await this.guarded(() => this.find(id));
    if (isTerminal(task)) throw a2aErrors.nothingToSubscribe(id, task.state);
    yield* this.follow(task, undefined, true);
  }

  getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.guarded(async () => this.render(await this.find(id), historyLength));
  }

  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return this.guarded(async () => {
      const { contextId, status, statusTimestampAfter, historyLength = 0, includeArtifacts = false } = request;
      const pageSize = request.pageSize ?? PAGE_SIZE;
      const after = request.pageToken === '' ? undefined : parseCursor(request.pageToken);
      const state = phaseOf(status);
      // The states that no task of a graph can be in.
      if (status !== TaskState.TASK_STATE_UNSPECIFIED && !state)
        return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
      const filter: TaskFilter = {
        ...(contextId !== '' && { contextId }),
        ...(state && { state }),
        ...(statusTimestampAfter && { since: new Date(statusTimestampAfter) }),
      };
      // One more than requested shows whether there is a next page.
      const { rows, total } = await this.services.tasks.listTasks(this.agent, filter, {
        size: pageSize + 1,
        ...(after && { after }),
      });
      const page = rows.slice(0, pageSize);
      const tasks = await this.services.tasks.render(page, { historyLength, withArtifacts: includeArtifacts });
      const nextPageToken = rows.length > pageSize ? toCursor(page[page.length - 1]) : '';
      return { tasks, nextPageToken, pageSize, totalSize: total };
    });
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.guarded(async () => {
      const task = await this.find(id);
      await this.services.tasks.cancelTask(task);
      const patience = AbortSignal.any([this.call.signal, AbortSignal.timeout(CANCEL_WAIT_MS)]);
      const settled = await this.settled(await this.find(id), patience);
      if (settled.state !== 'input-required') return this.render(settled);
      // The graph asked at the moment of the cancellation: the task waits, and is cancelled as one that waits.
      await this.services.tasks.cancelTask(settled);
      return this.render(await this.find(id));
    });
  }

  createTaskPushNotificationConfig(config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    return this.guarded(async () => {
      this.services.push.checkOffered();
      const { tenantId, taskId } = await this.find(config.taskId);
      await this.services.push.checkConfig(config);
      return this.services.push.putConfig(tenantId, taskId, config, this.call.version);
    });
  }

  getTaskPushNotificationConfig(request: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    return this.guarded(async () => {
      this.services.push.checkOffered();
      const { tenantId, taskId } = await this.find(request.taskId);
      return this.services.push.getConfig(tenantId, taskId, request.id);
    });
  }

  listTaskPushNotificationConfigs(
    request: ListTaskPushNotificationConfigsRequest,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.guarded(async () => {
      this.services.push.checkOffered();
      const { tenantId, taskId } = await this.find(request.taskId);
      return { configs: await this.services.push.listConfigs(tenantId, taskId), nextPageToken: '' };
    });
  }

  deleteTaskPushNotificationConfig(request: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    return this.guarded(async () => {
      this.services.push.checkOffered();
      const { tenantId, taskId } = await this.find(request.taskId);
      await this.services.push.deleteConfig(tenantId, taskId, request.id);
    });
  }

  private send(request: SendMessageRequest, isStreamed: boolean): Promise<TaskRow> {
    return this.services.tasks.sendMessage(this.agent, request, this.call.version, { ...this.call, isStreamed });
  }

  /** A client that names a task expects the task. */
  private mayReply({ message }: SendMessageRequest): boolean {
    return this.agent.repliesPlainly && !message?.taskId;
  }

  private replyTo(request: SendMessageRequest, task: TaskRow): Message | undefined {
    if (!this.mayReply(request) || task.state !== 'completed') return undefined;
    const reply = toReply(task);
    return reply.parts.length > 0 ? reply : undefined;
  }

  private async quickReply(request: SendMessageRequest, sent: TaskRow): Promise<Message | undefined> {
    const patience = AbortSignal.any([this.call.signal, AbortSignal.timeout(REPLY_WAIT_MS)]);
    return this.replyTo(request, await this.services.streams.settled(this.agent, sent, patience));
  }

  private find(taskId: string): Promise<TaskRow> {
    return this.services.tasks.getTask(this.agent, taskId);
  }

  private settled(task: TaskRow, signal: AbortSignal): Promise<TaskRow> {
    this.call.onWaiting();
    return this.services.streams.settled(this.agent, task, signal);
  }

  private async render(task: TaskRow, historyLength?: number): Promise<Task> {
    const [rendered] = await this.services.tasks.render([task], { historyLength });
    return rendered;
  }

  private async *follow(
    task: TaskRow,
    historyLength: number | undefined,
    throughQuestions: boolean,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { signal } = this.call;
    try {
      yield* this.services.streams.stream(this.agent, task, { historyLength, throughQuestions, signal });
    } catch (error) {
      throw this.toShownError(error);
    }
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.toShownError(error);
    }
  }

  /** The part of an error that a caller may see. The library would show the text of any error. */
  private toShownError(error: unknown): Error {
    if (error instanceof A2AError) return error;
    if (error instanceof ApiError && error.status < 500) return a2aErrors.invalid(error.detail);
    if (isUnstorableText(error)) return a2aErrors.invalid(UNSTORABLE_TEXT);
    const { tenantId, assistant } = this.agent;
    this.logger.error(
      { err: error, tenant_id: tenantId, assistant_id: assistant.assistantId },
      'A2A call failed unexpectedly',
    );
    return new Error('Internal error');
  }
}

/** A page token: the task that the page ended with. */
function toCursor({ statusAt, taskId }: TaskRow): string {
  return Buffer.from(`${statusAt.toISOString()} ${taskId}`).toString('base64url');
}

function parseCursor(token: string): TaskCursor {
  const [, statusAt, taskId] =
    /^(\d{4}-[\dT:.-]+Z) ([0-9a-f-]{36})$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (!statusAt || !taskId || Number.isNaN(Date.parse(statusAt))) throw a2aErrors.badPageToken();
  return { statusAt, taskId };
}
