import { Body, Controller, ExecutionContext, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { RouteTags } from '../http/route-tags';
import { AskedContext, CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { EVENT_STREAM } from '../http/event-stream';
import { WebSocketRoute } from '../http/web-sockets';
import { Origin, type RunOrigin } from '../runs/run-origin';
import { CommandsService } from './commands.service';
import { bodyOf, EnvelopePipe } from './envelope.pipe';
import {
  type CommandReply,
  commandReplySchema,
  type EventStreamRequest,
  eventStreamSchema,
  type ProtocolCommand,
  protocolCommandSchema,
  threadParam,
} from './event-protocol.schemas';
import { viewOf } from './protocol-event';
import { ThreadEventsService } from './thread-events.service';
import { ThreadSocketsService } from './thread-sockets.service';

type ThreadParam = z.infer<typeof threadParam>;

/** The event protocol of the newest clients: commands beside streams of a whole thread. */
@RouteTags('Event Streaming')
@CustomAuthDecides()
@Controller('threads/:thread_id')
export class EventProtocolController {
  constructor(
    private readonly commands: CommandsService,
    private readonly events: ThreadEventsService,
    private readonly sockets: ThreadSocketsService,
  ) {}

  /** `run.start`, `input.respond`, `state.get`, `agent.getTree`. Failures are reported in the answer, with status 200. */
  @Post('commands')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send a command of the event protocol' })
  @ApiBody({ schema: bodyOf(protocolCommandSchema) })
  @ApiOkResponse({ standardSchema: commandReplySchema })
  @ApiResponse({ status: 400, description: 'No command' })
  command(
    @Origin() origin: RunOrigin,
    @Param({ schema: threadParam }) { thread_id: threadId }: ThreadParam,
    @Body(new EnvelopePipe(protocolCommandSchema)) command: ProtocolCommand,
  ): Promise<CommandReply> {
    return this.commands.handle({ ...origin, threadId }, command);
  }

  /**
   * The events of the thread's runs on the channels that are asked for, after `since` or `Last-Event-ID`; without either from
   * the last run on. Continues until the client disconnects.
   */
  @Post('stream/events')
  @HttpCode(200)
  @ApiOperation({ summary: 'Stream the events of a thread' })
  @ApiBody({ schema: bodyOf(eventStreamSchema) })
  @ApiOkResponse(EVENT_STREAM)
  @ApiResponse({ status: 400, description: 'No such channel, or another field of the wrong shape' })
  stream(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParam }) { thread_id: threadId }: ThreadParam,
    @Body(new EnvelopePipe(eventStreamSchema)) request: EventStreamRequest,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Headers('user-agent') userAgent: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.events.stream(tenantId, threadId, request, reply, { lastEventId, view: viewOf(userAgent) });
  }

  /**
   * A WebSocket for both: commands as above, with `subscription.subscribe`, whose `params` are the body of the stream, and
   * `subscription.unsubscribe`. Replies and events are messages of JSON.
   */
  @Get('stream/events')
  @WebSocketRoute()
  @ApiOperation({ summary: 'Open a WebSocket for the commands and events of a thread' })
  @ApiResponse({ status: 101, description: 'The protocol is switched to that of WebSockets (RFC 6455)' })
  @ApiResponse({ status: 403, description: 'http.cors does not name the origin of the page' })
  @ApiResponse({ status: 426, description: 'The request is not a WebSocket handshake' })
  open(
    @Origin() origin: RunOrigin,
    @Param({ schema: threadParam }) { thread_id: threadId }: ThreadParam,
    @AskedContext() context: ExecutionContext,
    @Res() reply: FastifyReply,
  ): void {
    // One key would stand for every command of the socket.
    this.sockets.accept(context, reply, { ...origin, threadId, idempotency: undefined });
  }
}
