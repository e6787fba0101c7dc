import { z } from 'zod';
import { isStorable, STORABLE_RULE } from '../database/storable-text';
import { jsonObject } from '../runnable-config/runnable-config.schemas';

const id = z.string().min(1);
const media = z.string().nullish();
const historyLength = z.number().int().min(0).nullish();

/** Parameters of A2A 1.0. Fields that may be absent or null in the protocol's JSON are optional; unknown fields are ignored. */
const params = <Shape extends z.ZodRawShape>(fields: Shape) =>
  z.looseObject({ tenant: z.string().nullish(), ...fields });

const CONTENT = ['text', 'raw', 'url', 'data'] as const;
const part = z
  .looseObject({
    text: z.string().nullish(),
    raw: z.base64().nullish(),
    url: z.string().min(1).nullish(),
    data: z.unknown().optional(),
    mediaType: media,
    filename: z.string().nullish(),
    metadata: jsonObject.nullish(),
  })
  .refine((given) => CONTENT.filter((name) => given[name] != null || (name === 'data' && name in given)).length === 1, {
    message: `must hold exactly one of ${CONTENT.join(', ')}`,
  });

const messageFields = {
  messageId: id,
  contextId: z.string().max(255).refine(isStorable, STORABLE_RULE).nullish(),
  taskId: z.string().nullish(),
  metadata: jsonObject.nullish(),
  extensions: z.array(z.string()).nullish(),
  referenceTaskIds: z.array(z.string()).nullish(),
};

const authentication = z.looseObject({ scheme: z.string().min(1), credentials: z.string().nullish() });
const pushConfig = params({
  id: z.string().max(255).nullish(),
  taskId: z.string().nullish(),
  url: z.string().min(1),
  token: z.string().nullish(),
  authentication: authentication.nullish(),
});

const sendParams = params({
  message: z.looseObject({
    ...messageFields,
    role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
    parts: z.array(part).min(1, 'must hold at least one part'),
  }),
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(z.string()).nullish(),
      historyLength,
      returnImmediately: z.boolean().nullish(),
      taskPushNotificationConfig: pushConfig.nullish(),
    })
    .nullish(),
  metadata: jsonObject.nullish(),
});

/** In the order of their numbers. */
export const ROLES = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'] as const;

/** In the order of their numbers. */
export const TASK_STATE = [
  'TASK_STATE_UNSPECIFIED',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;

const taskParams = params({ id });
const pushConfigParams = params({ taskId: id, id });

/** The methods of A2A 1.0 and their parameters. */
export const METHODS_1_0: Record<string, z.ZodType> = {
  SendMessage: sendParams,
  SendStreamingMessage: sendParams,
  GetTask: params({ id, historyLength }),
  ListTasks: params({
    contextId: z.string().nullish(),
    status: z.enum(TASK_STATE).nullish(),
    pageSize: z.number().int().min(1).max(100).nullish(),
    pageToken: z.string().nullish(),
    historyLength,
    statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
    includeArtifacts: z.boolean().nullish(),
  }),
  CancelTask: taskParams,
  SubscribeToTask: taskParams,
  CreateTaskPushNotificationConfig: pushConfig.extend({ taskId: id }),
  GetTaskPushNotificationConfig: pushConfigParams,
  ListTaskPushNotificationConfigs: params({
    taskId: id,
    pageSize: z.number().int().min(0).nullish(),
    pageToken: z.string().nullish(),
  }),
  DeleteTaskPushNotificationConfig: pushConfigParams,
  GetExtendedAgentCard: params({}).optional(),
};

const legacyPart = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string(), metadata: jsonObject.nullish() }),
  z.looseObject({
    kind: z.literal('file'),
    file: z
      .looseObject({
        bytes: z.base64().optional(),
        uri: z.string().min(1).optional(),
        mimeType: media,
        name: z.string().nullish(),
      })
      .refine(({ bytes, uri }) => (bytes === undefined) !== (uri === undefined), {
        message: 'must hold either bytes or uri',
      }),
    metadata: jsonObject.nullish(),
  }),
  z.looseObject({ kind: z.literal('data'), data: z.unknown(), metadata: jsonObject.nullish() }),
]);

const legacyPushConfig = z.looseObject({
  id: z.string().max(255).nullish(),
  url: z.string().min(1),
  token: z.string().nullish(),
  authentication: z.looseObject({ schemes: z.array(z.string()), credentials: z.string().nullish() }).nullish(),
});

const legacySendParams = z.looseObject({
  message: z.looseObject({
    ...messageFields,
    role: z.enum(['user', 'agent']),
    parts: z.array(legacyPart).min(1, 'must hold at least one part'),
  }),
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(z.string()).nullish(),
      historyLength,
      blocking: z.boolean().nullish(),
      pushNotificationConfig: legacyPushConfig.nullish(),
    })
    .nullish(),
  metadata: jsonObject.nullish(),
});

const legacyTaskParams = z.looseObject({ id });

/** The methods of A2A 0.3 and their parameters. */
export const METHODS_0_3: Record<string, z.ZodType> = {
  'message/send': legacySendParams,
  'message/stream': legacySendParams,
  'tasks/get': z.looseObject({ id, historyLength }),
  'tasks/cancel': legacyTaskParams,
  'tasks/resubscribe': legacyTaskParams,
  'tasks/pushNotificationConfig/set': z.looseObject({ taskId: id, pushNotificationConfig: legacyPushConfig }),
  'tasks/pushNotificationConfig/get': z.looseObject({ id, pushNotificationConfigId: z.string().nullish() }),
  'tasks/pushNotificationConfig/list': legacyTaskParams,
  'tasks/pushNotificationConfig/delete': z.looseObject({ id, pushNotificationConfigId: id }),
  'agent/getAuthenticatedExtendedCard': z.looseObject({}).optional(),
};

/** The description of a request whose shape is right: one JSON-RPC call. */
export const rpcRequest = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string().min(1),
  id: z.union([z.string(), z.number().int(), z.null()]).optional(),
});

export const agentParam = z.object({ assistant_id: z.string().min(1) });
export const taskPath = agentParam.extend({ task_id: z.string().min(1) });
export const pushConfigPath = taskPath.extend({ config_id: z.string().min(1) });
export const cardQuery = z.object({ assistant_id: z.string().min(1).optional() });

/** Described for people and generators; what is checked is the method's own schema above. */
export const rpcCallSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
  method: z.enum([...Object.keys(METHODS_1_0), ...Object.keys(METHODS_0_3)] as [string, ...string[]]),
  params: jsonObject.optional(),
});

export const rpcAnswerSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]),
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({ id: 'A2aAnswer' });

/** Result of a method in the HTTP+JSON binding: a task, a message, a page of tasks or a configuration, in ProtoJSON. */
export const restResultSchema = jsonObject.meta({ id: 'A2aResult' });

export const agentCardSchema = z
  .looseObject({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.looseObject({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
    ),
    capabilities: jsonObject,
    defaultInputModes: z.array(z.string()),
    defaultOutputModes: z.array(z.string()),
    skills: z.array(jsonObject),
  })
  .meta({ id: 'AgentCard' });
