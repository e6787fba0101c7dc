import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { jsonRpcMessage } from './mcp.schemas';
import { McpEndpoint } from './mcp-endpoint.service';
import { RouteTags } from '../http/route-tags';

/** The Model Context Protocol: every assistant is a tool. */
@RouteTags('MCP')
@CustomAuthDecides()
@Controller('mcp')
export class McpController {
  constructor(private readonly endpoint: McpEndpoint) {}

  @Post()
  @HttpCode(200)
  @RouteConfig({ bodyAsText: true })
  @ApiOperation({
    summary: 'Model Context Protocol, streamable HTTP: revisions 2024-10-07 to 2025-11-25, and 2026-07-28',
  })
  @ApiBody({ schema: jsonRpcMessage })
  @ApiOkResponse({
    description: 'The answer, alone or at the end of a stream of events',
    content: {
      'application/json': { schema: jsonRpcMessage },
      'text/event-stream': { schema: { type: 'string' } },
    },
  })
  @ApiResponse({ status: 202, description: 'The notification or answer was accepted' })
  post(@Tenant() tenantId: TenantId, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(tenantId, request, reply);
  }

  /** The rest of a call's answer, for a client that lost the connection. There is no stream beside the answers: 405. */
  @Get()
  @ApiOperation({ summary: 'Resume the stream of a call after the event in Last-Event-ID; 405 without that header' })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Id of the last event of the call that the client received',
  })
  @ApiOkResponse({
    description: 'The events after that one',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  })
  @ApiResponse({ status: 405, description: 'Use POST' })
  get(@Tenant() tenantId: TenantId, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(tenantId, request, reply);
  }

  /** A session is no more than its id: there is nothing to end. */
  @Delete()
  @HttpCode(405)
  @ApiOperation({ summary: 'Sessions are stateless and cannot be ended: 405' })
  @ApiResponse({ status: 405, description: 'Use POST' })
  delete(@Tenant() tenantId: TenantId, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(tenantId, request, reply);
  }

  private async answer(tenantId: TenantId, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await reply.send(await this.endpoint.handle(tenantId, request, reply));
  }
}
