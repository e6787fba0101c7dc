import { Artifact, Message, Role } from '@a2a-js/sdk';
import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { isCarried, SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import type { RunEnding } from '../runs/run-ending';
import type { RunEntity } from '../runs/run.entity';
import { ListensToRuns, type RunListener } from '../runs/run-listeners';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import { DeliveriesService } from '../webhooks/deliveries.service';
import { type PushTarget, pushHeaders } from '../webhooks/push-target';
import { partOf } from './a2a-content';
import { type Outcome, outcomeOf } from './a2a-outcome';
import { toNotification } from './a2a-push';
import { lastOfAgent, parseMessages, taskMessage, toTask } from './a2a-task.mapper';
import { A2aTasksRepository, type PushConfigRow, type TaskRow } from './a2a-tasks.repository';

/** Key in a run's metadata of the task that it is a turn of. */
export const TASK_KEY = 'a2a_task_id';
export const CONTEXT_KEY = 'a2a_context_id';

/** Consequences of the runs of a thread for its A2A tasks. */
@Injectable()
@ListensToRuns(1)
export class A2aTurns implements RunListener {
  private readonly logger = new Logger('A2a');

  constructor(
    private readonly tasks: A2aTasksRepository,
    private readonly deliveries: DeliveriesService,
    private readonly secrets: SecretBox,
  ) {}

  follows({ metadata }: RunEntity): boolean {
    return metadata[TASK_KEY] !== undefined || metadata[CONTEXT_KEY] !== undefined;
  }

  /** Stores the answer and the question, and enqueues the push notifications. */
  async ended(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<DeliveryReference[]> {
    const tenantId = run.tenantId as TenantId;
    const { awaitsInput, artifacts, question } = this.outcome(run, ending);
    const json = JSON.stringify(artifacts.map((artifact) => Artifact.toJSON(artifact)));
    const task = await this.tasks.closeTurn(manager, tenantId, run.runId, { awaitsInput, artifacts: json });
    if (!task) return [];
    if (question.length > 0) {
      const asked = taskMessage(task, Role.ROLE_AGENT, `${run.runId}/question`, question);
      await this.tasks.addMessage(manager, tenantId, task.taskId, JSON.stringify(Message.toJSON(asked)));
    }
    return this.notify(manager, task);
  }

  /**
   * A run that no agent sent, on a thread where a task may wait: without input of its own it resumes where the task has
   * stopped and so is the task's next turn, whichever client answered; with new input it abandons the question.
   */
  async createdOnInterrupted(manager: EntityManager, run: RunEntity): Promise<DeliveryReference[]> {
    const tenantId = run.tenantId as TenantId;
    if (run.kwargs.input !== null) return this.supersede(manager, tenantId, run.threadId);
    const task = await this.tasks.adopt(manager, run);
    if (!task) return [];
    run.metadata = { ...run.metadata, [TASK_KEY]: task.taskId, [CONTEXT_KEY]: task.contextId };
    await this.tasks.keepMetadata(manager, run);
    const answer = run.kwargs.command?.resume;
    if (answer === undefined) return [];
    const asked = taskMessage(task, Role.ROLE_USER, `${run.runId}/answer`, [partOf(answer)]);
    await this.tasks.addMessage(manager, tenantId, task.taskId, JSON.stringify(Message.toJSON(asked)));
    return [];
  }

  /** Withdraws the waiting task of the thread, because its conversation continues without an answer. */
  async supersede(manager: EntityManager, tenantId: TenantId, threadId: string): Promise<DeliveryReference[]> {
    const started: DeliveryReference[] = [];
    for (const task of await this.tasks.supersede(manager, tenantId, threadId)) {
      started.push(...(await this.notify(manager, task)));
    }
    return started;
  }

  /** Reports the task's state to each of its receivers, in the caller's transaction. */
  async notify(manager: EntityManager, task: TaskRow): Promise<DeliveryReference[]> {
    const { tenantId, taskId, runId, threadId } = task;
    const configs = await this.tasks.pushConfigs(tenantId, taskId, manager);
    if (configs.length === 0) return [];
    const texts = (await this.tasks.messages(tenantId, [taskId], undefined, manager)).get(taskId) ?? [];
    const messages = parseMessages(texts);
    const shown = toTask(task, { messages, question: lastOfAgent(messages), withArtifacts: true });
    const started: DeliveryReference[] = [];
    for (const config of configs) {
      const receiver = this.receiver(task, config);
      if (!receiver) continue;
      const delivery = { tenantId, runId, threadId, ...receiver, body: toNotification(shown, config) };
      const deliveryId = await this.deliveries.enqueueNotification(manager, delivery);
      if (deliveryId) started.push({ deliveryId, tenantId, runId, threadId });
    }
    return started;
  }

  /** A run's end must not fail because of a receiver whose sealing key is gone, or only missing in this process. */
  private receiver(
    { tenantId, taskId }: TaskRow,
    { configId, sealed }: PushConfigRow,
  ): { url: string; headers: Record<string, string> } | undefined {
    const target = this.secrets.openOrCarry(sealed, SEALED_FIELDS.pushConfig.context(tenantId, taskId, configId));
    if (target === undefined) {
      this.logger.error({ task_id: taskId, config_id: configId }, 'Push notification skipped: it cannot be decrypted');
      return undefined;
    }
    if (isCarried(target)) return { url: target, headers: {} };
    const opened = JSON.parse(target) as PushTarget;
    return { url: opened.url, headers: pushHeaders(opened) };
  }

  /** A run's end must not fail because of a state that can't be read as an answer. */
  private outcome(run: RunEntity, ending: RunEnding): Outcome {
    try {
      return outcomeOf(ending);
    } catch (error) {
      this.logger.error({ err: error, run_id: run.runId }, 'The answer of the task could not be read from its state');
      return { awaitsInput: false, artifacts: [], question: [] };
    }
  }
}
