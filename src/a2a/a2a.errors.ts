import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { ApiError } from '../http/api-error';

/** The protocol's code for an unsupported media type. */
export const CONTENT_TYPE_NOT_SUPPORTED = -32_005;

/** The protocol's errors, with advice for the caller. */
export const a2aErrors = {
  taskNotFound: (taskId: string) =>
    new TaskNotFoundError({ message: `Task ${taskId} not found`, metadata: { taskId } }),
  pushConfigNotFound: (taskId: string, configId: string) =>
    new TaskNotFoundError({
      message: `Task ${taskId} has no push notification configuration ${configId}`,
      metadata: { taskId, configId },
    }),
  notCancelable: (taskId: string, state: string) =>
    new TaskNotCancelableError({ message: `Task ${taskId} is ${state} already`, metadata: { taskId } }),
  taskEnded: (taskId: string, state: string) =>
    new UnsupportedOperationError({
      message: `Task ${taskId} is ${state} and takes no more messages: send one without taskId for a new task in its context`,
      metadata: { taskId },
    }),
  taskRunning: (taskId: string) =>
    new UnsupportedOperationError({
      message: `Task ${taskId} is still running: wait for it or cancel it first, or send a message without taskId to queue a new task in its context`,
      metadata: { taskId },
    }),
  nothingToSubscribe: (taskId: string, state: string) =>
    new UnsupportedOperationError({
      message: `Task ${taskId} is ${state}: there is nothing left to stream; GetTask has its result`,
      metadata: { taskId },
    }),
  otherContext: (taskId: string) =>
    new RequestMalformedError({ message: `message.contextId is not the context of task ${taskId}` }),
  contextRefused: () =>
    new RequestMalformedError({
      message: 'message.contextId: this id cannot be used; omit it to get a new context',
    }),
  noText: (fields: string[]) =>
    new RequestMalformedError({
      message: `message.parts: this agent takes no text or files; send one data part with its fields: ${fields.join(', ') || 'none'}`,
    }),
  dataNotObject: () =>
    new RequestMalformedError({ message: 'message.parts: data for this agent must be an object of its input fields' }),
  noInput: () => new RequestMalformedError({ message: 'message.parts: must not be empty' }),
  mediaType: (mediaType: string, modes: string[]) =>
    new ContentTypeNotSupportedError({
      message: `Media type ${mediaType} is not supported; the agent takes ${modes.join(', ')}`,
      metadata: { mediaType },
    }),
  outputModes: (modes: string[]) =>
    new ContentTypeNotSupportedError({
      message: `None of the accepted output modes is supported; the agent answers in ${modes.join(', ')}`,
    }),
  badPageToken: () => new RequestMalformedError({ message: 'pageToken: was not returned by ListTasks for this query' }),
  noPush: () =>
    new PushNotificationNotSupportedError({ message: 'Push notifications are turned off (http.disable_webhooks)' }),
  noExtendedCard: () =>
    new UnsupportedOperationError({ message: 'There is no extended card: the public one is complete' }),
  version: (asked: string, supported: string[]) =>
    new VersionNotSupportedError({
      message: `A2A version ${asked} is not supported; this agent speaks ${supported.join(' and ')}`,
      metadata: { supportedVersions: supported.join(',') },
    }),
  invalid: (detail: string) => new RequestMalformedError({ message: detail }),
  noAgentNamed: () =>
    new ApiError(
      400,
      'agent_not_named',
      'Several agents are served here: name one with ?assistant_id=, or set GANTRY_A2A_ASSISTANT to the one for this address',
    ),
};
