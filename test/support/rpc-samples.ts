import { v7 as uuidv7 } from 'uuid';

export interface RpcSample {
  method: string;
  params: Record<string, unknown>;
}

export interface SampleResources {
  /** Id of a task of A2A that has ended. */
  task: string;
  /** Id of its configuration of push notifications. */
  config: string;
  /** URL that receives push notifications. */
  receiver: string;
}

/** Calls of every method of A2A 1.0 with every parameter that it has. */
export function samplesOf10({ task, config, receiver }: SampleResources): RpcSample[] {
  const pushConfig = { url: receiver, token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } };
  const send = {
    message: {
      messageId: uuidv7(),
      contextId: uuidv7(),
      taskId: null,
      role: 'ROLE_USER',
      metadata: { a: 1 },
      extensions: ['https://example.com/extension'],
      referenceTaskIds: [task],
      parts: [
        { text: 'hello', mediaType: 'text/plain', metadata: { a: 1 } },
        { data: { a: 1 }, mediaType: 'application/json' },
        { raw: 'aGVsbG8=', mediaType: 'image/png', filename: 'x.png' },
        { url: 'https://example.com/x.png', mediaType: 'image/png' },
      ],
    },
    configuration: {
      acceptedOutputModes: ['text/plain'],
      historyLength: 1,
      returnImmediately: true,
      taskPushNotificationConfig: { id: 'c', ...pushConfig },
    },
    metadata: { a: 1 },
  };
  const samples = [
    { method: 'SendMessage', params: send },
    { method: 'SendStreamingMessage', params: send },
    { method: 'GetTask', params: { id: task, historyLength: 1 } },
    {
      method: 'ListTasks',
      params: {
        contextId: uuidv7(),
        status: 'TASK_STATE_COMPLETED',
        pageSize: 1,
        pageToken: null,
        historyLength: 1,
        statusTimestampAfter: '2026-01-01T00:00:00Z',
        includeArtifacts: true,
      },
    },
    { method: 'CancelTask', params: { id: task, metadata: {} } },
    { method: 'SubscribeToTask', params: { id: task } },
    { method: 'CreateTaskPushNotificationConfig', params: { taskId: task, id: config, ...pushConfig } },
    { method: 'GetTaskPushNotificationConfig', params: { taskId: task, id: config } },
    { method: 'ListTaskPushNotificationConfigs', params: { taskId: task, pageSize: 1, pageToken: null } },
    { method: 'DeleteTaskPushNotificationConfig', params: { taskId: task, id: 'another' } },
    { method: 'GetExtendedAgentCard', params: {} },
  ];
  return samples.map(({ method, params }) => ({ method, params: { ...params, tenant: 'x' } }));
}

/** The same of A2A 0.3. */
export function samplesOf03({ task, config, receiver }: SampleResources): RpcSample[] {
  const pushConfig = { url: receiver, token: 't', authentication: { schemes: ['Bearer'], credentials: 'c' } };
  const send = {
    message: {
      kind: 'message',
      messageId: uuidv7(),
      contextId: uuidv7(),
      taskId: null,
      role: 'user',
      metadata: { a: 1 },
      extensions: ['https://example.com/extension'],
      referenceTaskIds: [task],
      parts: [
        { kind: 'text', text: 'hello', metadata: { a: 1 } },
        { kind: 'data', data: { a: 1 } },
        { kind: 'file', file: { bytes: 'aGVsbG8=', mimeType: 'image/png', name: 'x.png' } },
        { kind: 'file', file: { uri: 'https://example.com/x.png', mimeType: 'image/png' } },
      ],
    },
    configuration: {
      acceptedOutputModes: ['text/plain'],
      historyLength: 1,
      blocking: false,
      pushNotificationConfig: { id: 'c', ...pushConfig },
    },
    metadata: { a: 1 },
  };
  return [
    { method: 'message/send', params: send },
    { method: 'message/stream', params: send },
    { method: 'tasks/get', params: { id: task, historyLength: 1, metadata: {} } },
    { method: 'tasks/cancel', params: { id: task } },
    { method: 'tasks/resubscribe', params: { id: task } },
    {
      method: 'tasks/pushNotificationConfig/set',
      params: { taskId: task, pushNotificationConfig: { id: config, ...pushConfig } },
    },
    { method: 'tasks/pushNotificationConfig/get', params: { id: task, pushNotificationConfigId: config } },
    { method: 'tasks/pushNotificationConfig/list', params: { id: task } },
    { method: 'tasks/pushNotificationConfig/delete', params: { id: task, pushNotificationConfigId: 'another' } },
    { method: 'agent/getAuthenticatedExtendedCard', params: {} },
  ];
}

/** Requests and notifications of MCP before its revision 2026-07-28, which belong to a session. */
export const MCP_SESSION_SAMPLES: RpcSample[] = [
  {
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {}, roots: { listChanged: true }, experimental: { a: {} } },
      clientInfo: { name: 'c', version: '1', title: 'C' },
    },
  },
  { method: 'notifications/initialized', params: { _meta: {} } },
  { method: 'notifications/cancelled', params: { requestId: 1, reason: 'r' } },
  { method: 'notifications/progress', params: { progressToken: 1, progress: 1, total: 2, message: 'm' } },
  { method: 'ping', params: { _meta: { progressToken: 1 } } },
  { method: 'tools/list', params: { cursor: 'c', _meta: { progressToken: 1 } } },
  { method: 'tools/call', params: { name: 'nested', arguments: { text: 'hello' }, _meta: { progressToken: 1 } } },
  { method: 'tools/call', params: { name: 'echo', arguments: { messages: [{ role: 'user', content: 'hello' }] } } },
  { method: 'logging/setLevel', params: { level: 'info' } },
  { method: 'resources/read', params: { uri: 'x:y' } },
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'v' } },
  },
];

/** Requests of MCP 2026-07-28; `_meta` has what its sessions said before. */
export function mcpModernSamples(task: string): RpcSample[] {
  const key = 'io.modelcontextprotocol';
  const _meta = {
    [`${key}/protocolVersion`]: '2026-07-28',
    [`${key}/clientInfo`]: { name: 'c', version: '1' },
    [`${key}/clientCapabilities`]: { elicitation: {}, extensions: { [`${key}/tasks`]: {} } },
    progressToken: 1,
  };
  return [
    { method: 'server/discover', params: { _meta } },
    { method: 'tools/list', params: { cursor: 'c', _meta } },
    {
      method: 'tools/call',
      params: {
        name: 'nested',
        arguments: { text: 'hello' },
        inputResponses: { a: { action: 'accept', content: {} } },
        requestState: 's',
        _meta,
      },
    },
    { method: 'tools/call', params: { name: 'nested', arguments: { text: 'hello' }, _meta } },
    { method: 'tasks/get', params: { taskId: task, _meta } },
    { method: 'tasks/update', params: { taskId: task, inputResponses: { a: { action: 'accept' } }, _meta } },
    { method: 'tasks/cancel', params: { taskId: task, _meta } },
  ];
}
