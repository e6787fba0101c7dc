import { AuthenticationInfo, type StreamResponse, type Task, type TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import type { PushConfigRow } from './a2a-tasks.repository';

/** Sealed part of a receiver's configuration: everything, since a URL may contain a token. */
export interface PushTarget {
  url: string;
  token: string;
  authentication: { scheme: string; credentials: string } | null;
}

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

/** The POST that informs a receiver of a task, in the form of the protocol version that it registered with. */
export function toNotification(
  task: Task,
  { protocolVersion }: PushConfigRow,
  { token, authentication }: PushTarget,
): { headers: Record<string, string>; body: string } {
  const shown: StreamResponse = { payload: { $case: 'task', value: task } };
  const serializer =
    protocolVersion === '0.3' ? new V03PushNotificationSerializer() : new V1PushNotificationSerializer();
  return {
    body: serializer.serialize(shown, task).body,
    headers: {
      ...(authentication && {
        authorization: `${authentication.scheme} ${authentication.credentials}`.trim(),
      }),
      ...(token !== '' && { 'x-a2a-notification-token': token }),
    },
  };
}
