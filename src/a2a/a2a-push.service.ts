import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import type { PushTarget } from '../webhooks/push-target';
import { WebhookPolicy } from '../webhooks/webhook-policy';
import { WebhookSettings } from '../webhooks/webhook-settings';
import { toPushConfig } from './a2a-push';
import { A2aTasksRepository, type PushConfigRow } from './a2a-tasks.repository';
import { a2aErrors } from './a2a.errors';

/** Receivers of push notifications. A configuration is stored sealed, under the policy of webhooks. */
@Injectable()
export class A2aPushService {
  constructor(
    private readonly tasks: A2aTasksRepository,
    private readonly policy: WebhookPolicy,
    private readonly settings: WebhookSettings,
    private readonly secrets: SecretBox,
  ) {}

  get isOffered(): boolean {
    return !this.settings.config.disabled;
  }

  /** @throws PushNotificationNotSupportedError when webhooks are turned off; {ApiError} 422 for a URL that breaks a rule */
  async checkConfig({ url }: TaskPushNotificationConfig): Promise<void> {
    this.checkOffered();
    await this.policy.check(url, 'url');
  }

  checkOffered(): void {
    if (!this.isOffered) throw a2aErrors.noPush();
  }

  /** Stores a configuration, in the caller's transaction if there is one. One with the same id is replaced. */
  async putConfig(
    tenantId: TenantId,
    taskId: string,
    config: TaskPushNotificationConfig,
    protocolVersion: string,
    manager?: EntityManager,
  ): Promise<TaskPushNotificationConfig> {
    // Without ids of their own, clients of 0.3 set the one configuration of a task.
    const configId = config.id !== '' ? config.id : protocolVersion === '0.3' ? taskId : uuidv7();
    const { url, token, authentication } = config;
    const target: PushTarget = { url, token, authentication: authentication ?? null };
    const sealed = this.secrets.seal(
      JSON.stringify(target),
      SEALED_FIELDS.pushConfig.context(tenantId, taskId, configId),
    );
    await this.tasks.putPushConfig(tenantId, { taskId, configId, protocolVersion, sealed }, manager);
    return toPushConfig(taskId, configId, target);
  }

  /**
   * @param configId empty for the first one, as clients of 0.3 may ask
   * @throws TaskNotFoundError
   */
  async getConfig(tenantId: TenantId, taskId: string, configId: string): Promise<TaskPushNotificationConfig> {
    const configs = await this.listConfigs(tenantId, taskId);
    const found = configId === '' ? configs[0] : configs.find(({ id }) => id === configId);
    if (!found) throw a2aErrors.pushConfigNotFound(taskId, configId);
    return found;
  }

  async listConfigs(tenantId: TenantId, taskId: string): Promise<TaskPushNotificationConfig[]> {
    const rows = await this.tasks.pushConfigs(tenantId, taskId);
    return rows.map((row) => toPushConfig(taskId, row.configId, this.open(tenantId, row)));
  }

  /** Deleting an unknown configuration is no error. */
  deleteConfig(tenantId: TenantId, taskId: string, configId: string): Promise<void> {
    return this.tasks.deletePushConfig(tenantId, taskId, configId);
  }

  private open(tenantId: TenantId, { taskId, configId, sealed }: PushConfigRow): PushTarget {
    return JSON.parse(
      this.secrets.open(sealed, SEALED_FIELDS.pushConfig.context(tenantId, taskId, configId)),
    ) as PushTarget;
  }
}
