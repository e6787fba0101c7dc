import { AuthenticationInfo, type StreamResponse, type Task, type TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import type { PushTarget } from '../webhooks/push-target';
import type { PushConfigRow } from './a2a-tasks.repository';

/** A configuration as clients read it: with its URL, without its secrets. */
export function toPushConfig(taskId: string, configId: string, target: PushTarget): TaskPushNotificationConfig {
  const { url, authentication } = target;
  return {
    tenant: '',
    id: configId,
    taskId,
    url,
    token: '',
    authentication: authentication ? AuthenticationInfo.fromJSON({ scheme: authentication.scheme }) : undefined,
  };
}

/** The body of the POST that informs a receiver of a task, in the form of the protocol version that it registered with. */
export function toNotification(task: Task, { protocolVersion }: PushConfigRow): string {
  const shown: StreamResponse = { payload: { $case: 'task', value: task } };
  const serializer =
    protocolVersion === '0.3' ? new V03PushNotificationSerializer() : new V1PushNotificationSerializer();
  return serializer.serialize(shown, task).body;
}
