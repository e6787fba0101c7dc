import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CustomAuthDecides } from '../auth/tenant';
import { isJsonObject } from '../database/json';
import { Origin, type RunOrigin } from '../runs/run-origin';
import { EVENT_STREAM } from '../http/event-stream';
import { RouteTags } from '../http/route-tags';
import { CONTENT_TYPE_NOT_SUPPORTED } from './a2a.errors';
import { paramsOfQuery } from './a2a-bindings';
import { A2aExchange } from './a2a-exchange';
import { agentParam, METHODS_1_0, pushConfigPath, restResultSchema, taskPath } from './a2a.schemas';
import { VERSION_HEADER } from './a2a.controller';

type AgentParam = z.infer<typeof agentParam>;
type TaskPath = z.infer<typeof taskPath>;
type PushConfigPath = z.infer<typeof pushConfigPath>;

/** A method's parameters in the body. They are checked where JSON-RPC's are, so that errors are those of the protocol. */
const bodyOf = (method: keyof typeof METHODS_1_0) =>
  ApiBody({ schema: z.toJSONSchema(METHODS_1_0[method]) } as Parameters<typeof ApiBody>[0]);

const JSON_BODY = RouteConfig({ jsonOnly: CONTENT_TYPE_NOT_SUPPORTED });
const RESULT = { standardSchema: restResultSchema };
const TASK_VERB = 'a2a/:assistant_id/tasks/:task_id(^[^:/]+)';
const PUSH_CONFIGS = 'a2a/:assistant_id/tasks/:task_id/pushNotificationConfigs';

/** Assistants as agents by A2A's HTTP+JSON binding: each route is one method of A2A 1.0, with the method's result as its answer. */
@RouteTags('A2A')
@CustomAuthDecides()
@ApiHeader(VERSION_HEADER)
@Controller()
export class A2aRestController {
  constructor(private readonly exchange: A2aExchange) {}

  @Post('a2a/:assistant_id/message::send')
  @HttpCode(200)
  @JSON_BODY
  @ApiOperation({ summary: 'Send a message to an agent, and wait for its task or reply' })
  @bodyOf('SendMessage')
  @ApiOkResponse(RESULT)
  sendMessage(
    @Origin() origin: RunOrigin,
    @Param({ schema: agentParam }) { assistant_id }: AgentParam,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.exchange.callRest({ method: 'SendMessage', params: body ?? {} }, assistant_id, origin, request, reply);
  }

  @Post('a2a/:assistant_id/message::stream')
  @HttpCode(200)
  @JSON_BODY
  @ApiOperation({ summary: 'Send a message to an agent, and stream the events of its task' })
  @bodyOf('SendStreamingMessage')
  @ApiOkResponse(EVENT_STREAM)
  streamMessage(
    @Origin() origin: RunOrigin,
    @Param({ schema: agentParam }) { assistant_id }: AgentParam,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { method: 'SendStreamingMessage', params: body ?? {} };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  @Get('a2a/:assistant_id/tasks')
  @ApiOperation({ summary: 'Tasks of an agent, the one that changed last first' })
  @ApiQuery({ name: 'contextId', required: false, type: String })
  @ApiQuery({ name: 'status', required: false, type: String })
  @ApiQuery({ name: 'pageSize', required: false, type: Number })
  @ApiQuery({ name: 'pageToken', required: false, type: String })
  @ApiQuery({ name: 'historyLength', required: false, type: Number })
  @ApiQuery({ name: 'statusTimestampAfter', required: false, type: String })
  @ApiQuery({ name: 'includeArtifacts', required: false, type: Boolean })
  @ApiOkResponse(RESULT)
  listTasks(
    @Origin() origin: RunOrigin,
    @Param({ schema: agentParam }) { assistant_id }: AgentParam,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.exchange.callRest(
      { method: 'ListTasks', params: paramsOfQuery(query) },
      assistant_id,
      origin,
      request,
      reply,
    );
  }

  @Get('a2a/:assistant_id/tasks/:task_id')
  @ApiOperation({ summary: "An agent's task" })
  @ApiQuery({ name: 'historyLength', required: false, type: Number })
  @ApiOkResponse(RESULT)
  getTask(
    @Origin() origin: RunOrigin,
    @Param({ schema: taskPath }) { assistant_id, task_id }: TaskPath,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { method: 'GetTask', params: { ...query, id: task_id } };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  @Post(`${TASK_VERB}::cancel`)
  @HttpCode(200)
  @JSON_BODY
  @ApiOperation({ summary: "Cancel an agent's task" })
  @ApiOkResponse(RESULT)
  cancelTask(
    @Origin() origin: RunOrigin,
    @Param({ schema: taskPath }) { assistant_id, task_id }: TaskPath,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { method: 'CancelTask', params: { id: task_id } };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  @Get(`${TASK_VERB}::subscribe`)
  @ApiOperation({ summary: 'Stream the events of a task in flight, from its present state' })
  @ApiOkResponse(EVENT_STREAM)
  subscribeToTask(
    @Origin() origin: RunOrigin,
    @Param({ schema: taskPath }) { assistant_id, task_id }: TaskPath,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { method: 'SubscribeToTask', params: { id: task_id } };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  /** The same as with GET: clients use either. */
  @Post(`${TASK_VERB}::subscribe`)
  @HttpCode(200)
  @JSON_BODY
  @ApiOperation({ summary: 'Stream the events of a task in flight, from its present state' })
  @ApiOkResponse(EVENT_STREAM)
  subscribeByPost(
    @Origin() origin: RunOrigin,
    @Param({ schema: taskPath }) path: TaskPath,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.subscribeToTask(origin, path, request, reply);
  }

  @Post(PUSH_CONFIGS)
  @JSON_BODY
  @ApiOperation({ summary: 'Add a receiver of push notifications to a task' })
  @bodyOf('CreateTaskPushNotificationConfig')
  @ApiCreatedResponse(RESULT)
  createPushConfig(
    @Origin() origin: RunOrigin,
    @Param({ schema: taskPath }) { assistant_id, task_id }: TaskPath,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const params = isJsonObject(body) ? { ...body, taskId: task_id } : body;
    const call = { method: 'CreateTaskPushNotificationConfig', params: params ?? {}, status: 201 };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  @Get(PUSH_CONFIGS)
  @ApiOperation({ summary: 'Receivers of push notifications of a task' })
  @ApiOkResponse(RESULT)
  listPushConfigs(
    @Origin() origin: RunOrigin,
    @Param({ schema: taskPath }) { assistant_id, task_id }: TaskPath,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { method: 'ListTaskPushNotificationConfigs', params: { taskId: task_id } };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  @Get(`${PUSH_CONFIGS}/:config_id`)
  @ApiOperation({ summary: 'One receiver of push notifications of a task' })
  @ApiOkResponse(RESULT)
  getPushConfig(
    @Origin() origin: RunOrigin,
    @Param({ schema: pushConfigPath }) { assistant_id, task_id, config_id }: PushConfigPath,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { method: 'GetTaskPushNotificationConfig', params: { taskId: task_id, id: config_id } };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }

  @Delete(`${PUSH_CONFIGS}/:config_id`)
  @ApiOperation({ summary: 'Remove a receiver of push notifications from a task' })
  @ApiNoContentResponse()
  deletePushConfig(
    @Origin() origin: RunOrigin,
    @Param({ schema: pushConfigPath }) { assistant_id, task_id, config_id }: PushConfigPath,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const params = { taskId: task_id, id: config_id };
    const call = { method: 'DeleteTaskPushNotificationConfig', params, status: 204 };
    return this.exchange.callRest(call, assistant_id, origin, request, reply);
  }
}
