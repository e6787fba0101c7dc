import { Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiAcceptedResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AgentCardRoute, CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { Origin, type RunOrigin } from '../runs/run-origin';
import { CONTENT_TYPE_NOT_SUPPORTED } from './a2a.errors';
import { A2aExchange } from './a2a-exchange';
import { agentCardSchema, agentParam, cardQuery, rpcAnswerSchema, rpcCallSchema } from './a2a.schemas';
import { RouteTags } from '../http/route-tags';

type AgentParam = z.infer<typeof agentParam>;

/** The handler reads the body itself, so its description is written down here. */
const RPC_BODY = { schema: z.toJSONSchema(z.union([rpcCallSchema, z.array(rpcCallSchema)])) } as Parameters<
  typeof ApiBody
>[0];

export const VERSION_HEADER = {
  name: 'A2A-Version',
  required: false,
  description: 'Version of the protocol, as Major.Minor: 1.0 or 0.3; none means that of the method, and 0.3 for cards',
};

/** Assistants as agents to other agents. A graph's name is accepted wherever an assistant's id is. */
@RouteTags('A2A')
@CustomAuthDecides()
@Controller()
export class A2aController {
  constructor(private readonly exchange: A2aExchange) {}

  /** The card of the agent that `assistant_id` names, or else of the default one. */
  @Get('.well-known/agent-card.json')
  @AgentCardRoute()
  @ApiOperation({ summary: "An agent's card, at the well-known address" })
  @ApiHeader(VERSION_HEADER)
  @ApiOkResponse({ standardSchema: agentCardSchema })
  wellKnownCard(
    @Tenant() tenantId: TenantId,
    @Query({ schema: cardQuery }) { assistant_id }: z.infer<typeof cardQuery>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.exchange.card(tenantId, assistant_id, request, reply);
  }

  @AgentCardRoute()
  @Get([
    'a2a/:assistant_id',
    'a2a/:assistant_id/.well-known/agent-card.json',
    'a2a/:assistant_id/.well-known/agent.json',
  ])
  @ApiOperation({ summary: "An agent's card" })
  @ApiHeader(VERSION_HEADER)
  @ApiOkResponse({ standardSchema: agentCardSchema })
  card(
    @Tenant() tenantId: TenantId,
    @Param({ schema: agentParam }) { assistant_id }: AgentParam,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.exchange.card(tenantId, assistant_id, request, reply);
  }

  /**
   * JSON-RPC 2.0: one call or a batch. Streaming methods answer with server-sent events, each of them a JSON-RPC response. A
   * malformed call is answered with a JSON-RPC error and status 200, an unknown assistant with status 404.
   */
  @Post('a2a/:assistant_id')
  @RouteConfig({ bodyAsText: true, jsonOnly: CONTENT_TYPE_NOT_SUPPORTED })
  @ApiOperation({ summary: 'Call an agent (A2A 1.0 and 0.3)' })
  @ApiHeader(VERSION_HEADER)
  @ApiBody(RPC_BODY)
  @ApiOkResponse({ standardSchema: z.union([rpcAnswerSchema, z.array(rpcAnswerSchema)]) })
  @ApiAcceptedResponse({ description: 'Notifications alone: there is nothing to answer' })
  call(
    @Origin() origin: RunOrigin,
    @Param({ schema: agentParam }) { assistant_id }: AgentParam,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.exchange.callRpc(assistant_id, origin, request, reply);
  }
}
