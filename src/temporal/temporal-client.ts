import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import {
  ActivityNotFoundError,
  Client,
  Connection,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type {
  ScheduleOptions,
  ScheduleOptionsStartWorkflowAction,
  Workflow,
  WorkflowStartOptions,
} from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes';
import { AppConfig } from '../config/config';
import { telemetry } from '../telemetry/start-telemetry';
import { toDate, toPendingActivity, type WorkflowState } from './workflow-state';

/** Time within which all caches of the server know new attributes. */
const ATTRIBUTE_ATTEMPTS = 8;
const ATTRIBUTE_WAIT_MS = 1_000;
/** Changes to Schedules are made under a row's lock: a server that doesn't answer must not hold it for long. */
const SCHEDULE_TIMEOUT_MS = 5_000;
const GRPC_NOT_FOUND = 5;

const { INDEXED_VALUE_TYPE_KEYWORD } = temporal.api.enums.v1.IndexedValueType;
const { TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;
/** A poll is open for a minute when there is nothing to do; the server forgets a poller after five. */
const POLLER_SEEN_SECONDS = 120;

/** The process's only Temporal client. Orchestrators beside it are what features see; no handle leaves this folder. */
@Injectable()
export class TemporalClient implements OnModuleDestroy {
  private readonly logger = new Logger(TemporalClient.name);
  private readonly connection: Connection;
  private readonly client: Client;
  /** Names of search attributes that the namespace lacks and that couldn't be registered. */
  private readonly leftOut = new Set<string>();

  constructor(config: AppConfig) {
    const { address, namespace, apiKey, tls } = config.temporal;
    // Lazy: the API starts, answers reads and accepts runs while Temporal is away. The sweep starts them later.
    this.connection = Connection.lazy({ address, ...(apiKey && { apiKey }), ...(tls && { tls }) });
    const traces = telemetry()?.temporal;
    this.client = new Client({ connection: this.connection, namespace, ...(traces && { plugins: [traces] }) });
  }

  /** Starts a workflow once: a second start under the same id is success. Resolves to whether this call started it. */
  startOnce<T extends Workflow>(type: string, options: WorkflowStartOptions<T>): Promise<boolean> {
    return this.labelled(() => this.start(type, options));
  }

  /** Creates a Schedule, or replaces the one with this id. */
  async putSchedule<T extends Workflow>(
    options: ScheduleOptions<ScheduleOptionsStartWorkflowAction<T>>,
  ): Promise<void> {
    await this.labelled(() => this.inTime(() => this.createOrUpdate(options)));
  }

  /** Deletes a Schedule; one that isn't there is success. */
  async deleteSchedule(scheduleId: string): Promise<void> {
    try {
      await this.inTime(() => this.client.schedule.getHandle(scheduleId).delete());
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }

  /** Undefined when there is none. */
  async describeSchedule(scheduleId: string): Promise<{ paused: boolean; note: string } | undefined> {
    try {
      const { state } = await this.inTime(() => this.client.schedule.getHandle(scheduleId).describe());
      return { paused: state.paused, note: state.note ?? '' };
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    }
  }

  /** All Schedules of the namespace according to the visibility store, which lags by a moment. */
  async *listSchedules(): AsyncIterable<{ scheduleId: string; paused: boolean; note: string }> {
    for await (const { scheduleId, state } of this.client.schedule.list({ pageSize: 1_000 })) {
      yield { scheduleId, paused: state.paused, note: state.note ?? '' };
    }
  }

  private inTime<T>(call: () => Promise<T>): Promise<T> {
    return this.connection.withDeadline(Date.now() + SCHEDULE_TIMEOUT_MS, call);
  }

  private async createOrUpdate<T extends Workflow>(
    options: ScheduleOptions<ScheduleOptionsStartWorkflowAction<T>>,
  ): Promise<void> {
    const { typedSearchAttributes, action, ...rest } = options;
    const { typedSearchAttributes: actionAttributes, ...plainAction } = action;
    const schedule = {
      ...rest,
      ...this.known(typedSearchAttributes),
      action: { ...plainAction, ...this.known(actionAttributes) } as ScheduleOptionsStartWorkflowAction<T>,
    } as typeof options;
    try {
      await this.client.schedule.create(schedule as never);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await this.client.schedule
        .getHandle(options.scheduleId)
        .update<T>(() => ({ ...schedule, state: { ...rest.state } }));
    }
  }

  /** Registers the search attributes if the server reports that they are missing, and retries. */
  private async labelled<T>(call: () => Promise<T>): Promise<T> {
    let registered: boolean | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        const missing = this.missingAttributes(error);
        if (missing.length === 0) throw error;
        registered ??= await this.registerSearchAttributes();
        if (!registered || attempt >= ATTRIBUTE_ATTEMPTS) this.leaveOut(missing);
        else if (attempt > 1) await sleep(ATTRIBUTE_WAIT_MS);
      }
    }
  }

  /** The attributes that the server doesn't know: those that its answer names, or all in use where it names none. */
  private missingAttributes(error: unknown): string[] {
    const reported = unknownSearchAttribute(error);
    if (reported === undefined) return [];
    const all = SEARCH_ATTRIBUTES.map(({ name }) => name);
    const named = all.filter((name) => reported.includes(name));
    return named.length > 0 ? named : all.filter((name) => !this.leftOut.has(name));
  }

  private leaveOut(names: string[]): void {
    // Another call may have left them out since this one was sent.
    const added = names.filter((name) => !this.leftOut.has(name));
    if (added.length === 0) return;
    for (const name of added) this.leftOut.add(name);
    this.logger.warn(`The namespace lacks search attributes, without which workflows start: ${added.join(', ')}`);
  }

  private known(attributes: WorkflowStartOptions['typedSearchAttributes']) {
    const pairs = Array.isArray(attributes) ? attributes : (attributes?.getAll() ?? []);
    const known = pairs.filter(({ key }) => !this.leftOut.has(key.name));
    return known.length > 0 && { typedSearchAttributes: new TypedSearchAttributes(known) };
  }

  private async start<T extends Workflow>(
    type: string,
    options: WorkflowStartOptions<T>,
    workflows = this.client.workflow,
  ): Promise<boolean> {
    const { typedSearchAttributes, ...plain } = options;
    try {
      await workflows.start<T>(type, { ...plain, ...this.known(typedSearchAttributes) } as WorkflowStartOptions<T>);
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  /** Registers the search attributes in the namespace. Resolves to false if the account may not do that, which the log reports. */
  private async registerSearchAttributes(): Promise<boolean> {
    try {
      await this.connection.operatorService.addSearchAttributes({
        namespace: this.client.options.namespace,
        searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map(({ name }) => [name, INDEXED_VALUE_TYPE_KEYWORD])),
      });
      return true;
    } catch (error) {
      this.logger.warn({ err: error }, 'Search attributes could not be registered');
      return false;
    }
  }

  /** Asks a workflow to cancel; one that has ended or never began is left alone. */
  async cancel(workflowId: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(workflowId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Sends a signal; resolves to false when the workflow has ended or never began. */
  async signal(workflowId: string, signal: string, ...args: unknown[]): Promise<boolean> {
    try {
      await this.client.workflow.getHandle(workflowId).signal(signal, ...args);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Whether the workflow is there and hasn't closed. */
  async isOpen(workflowId: string): Promise<boolean> {
    try {
      const { status } = await this.client.workflow.getHandle(workflowId).describe();
      return status.name === 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** State of a workflow; undefined when there is none with this id. Rejects when the server doesn't answer in time. */
  async describe(workflowId: string, timeoutMs: number): Promise<WorkflowState | undefined> {
    try {
      const { status, raw } = await this.connection.withDeadline(Date.now() + timeoutMs, () =>
        this.client.workflow.getHandle(workflowId).describe(),
      );
      const { pendingWorkflowTask: task } = raw;
      return {
        status: status.name,
        activities: (raw.pendingActivities ?? []).map(toPendingActivity),
        hasTask: Boolean(task),
        ...(task?.startedTime && { taskTakenAt: toDate(task.startedTime) }),
      };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /**
   * Fails an activity of a lost worker, so that the workflow needn't wait for its heartbeat timeout; the workflow task that
   * follows goes to any worker instead of the one that had the workflow in memory. Resolves to false when the activity isn't
   * there any more.
   */
  async failActivity(workflowId: string, activityId: string, message: string): Promise<boolean> {
    const { namespace } = this.client.options;
    try {
      await this.inTime(async () => {
        await this.connection.workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId } });
        await this.client.activity.fail(
          { workflowId, activityId },
          ApplicationFailure.create({ message, type: 'WorkerLost' }),
        );
      });
      return true;
    } catch (error) {
      if (error instanceof ActivityNotFoundError || isNotFound(error)) return false;
      throw error;
    }
  }

  /** How many processes have polled the queue for activities lately. Rejects when the server doesn't answer in time. */
  async countWorkers(taskQueue: string, timeoutMs: number): Promise<number> {
    const { pollers } = await this.connection.withDeadline(Date.now() + timeoutMs, () =>
      this.connection.workflowService.describeTaskQueue({
        namespace: this.client.options.namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
      }),
    );
    const since = Date.now() / 1000 - POLLER_SEEN_SECONDS;
    const recent = pollers.filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > since);
    return new Set(recent.map(({ identity }) => identity)).size;
  }

  /**
   * The build id of a Worker Deployment's current version; undefined when there is none.
   * Rejects while the server doesn't know the deployment, which it does from its workers' first polls on.
   */
  async currentVersion(deploymentName: string): Promise<string | undefined> {
    const { workerDeploymentInfo } = await this.inTime(() =>
      this.connection.workflowService.describeWorkerDeployment({
        namespace: this.client.options.namespace,
        deploymentName,
      }),
    );
    return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId ?? undefined;
  }

  /** Routes new work to workers of this version. Rejects while none of them has polled. */
  async setCurrentVersion(deploymentName: string, buildId: string): Promise<void> {
    await this.inTime(() =>
      this.connection.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: this.client.options.namespace,
        deploymentName,
        buildId,
      }),
    );
  }

  /** Rejects when the server can't be reached within the time. */
  async check(timeoutMs: number): Promise<void> {
    await this.connection.withDeadline(Date.now() + timeoutMs, () => this.connection.ensureConnected());
    await this.connection.withDeadline(Date.now() + timeoutMs, () => this.connection.workflowService.getSystemInfo({}));
  }

  /** Version of the server, and the namespace that is used. Rejects when there is none, or no answer in time. */
  async describeServer(timeoutMs: number): Promise<{ version: string; namespace: string }> {
    const namespace = this.client.options.namespace;
    return this.connection.withDeadline(Date.now() + timeoutMs, async () => {
      const { serverVersion: version } = await this.connection.workflowService.getSystemInfo({});
      await this.connection.workflowService.describeNamespace({ namespace });
      return { version, namespace };
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.connection.close();
  }
}

function isNotFound(error: unknown): boolean {
  return isGrpcServiceError(error) && Number(error.code) === GRPC_NOT_FOUND;
}

/** The server's message, if it is about a search attribute that it doesn't know. */
function unknownSearchAttribute(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return /search attribute/i.test(cause) ? cause : undefined;
}
