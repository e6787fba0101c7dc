import { Body, Controller, Get, Header, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { paginate, project } from '../http/pagination';
import { RouteTags } from '../http/route-tags';
import { SearchRoute } from '../http/search-route';
import { toAssistant, toAssistantVersion } from './assistant.mapper';
import {
  type Assistant,
  type AssistantFilter,
  assistantIdParam,
  assistantSchema,
  assistantVersionSchema,
  graphDrawingSchema,
  graphSchemasSchema,
  subgraphsSchema,
  type AssistantVersion,
  countAssistantsSchema,
  type CreateAssistant,
  createAssistantSchema,
  type PatchAssistant,
  patchAssistantSchema,
  type SearchAssistants,
  searchAssistantsSchema,
  type SearchVersions,
  searchVersionsSchema,
  recurseQuery,
  setLatestSchema,
  subgraphParam,
  xrayQuery,
} from './assistants.schemas';
import { AssistantsService } from './assistants.service';

type IdParam = z.infer<typeof assistantIdParam>;

/** Configured instances of graphs. A graph's name is accepted wherever an assistant's id is. */
@RouteTags('Assistants')
@CustomAuthDecides()
@Controller('assistants')
export class AssistantsController {
  constructor(private readonly assistants: AssistantsService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create an assistant' })
  @ApiOkResponse({ standardSchema: assistantSchema })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createAssistantSchema }) body: CreateAssistant,
  ): Promise<Assistant> {
    return toAssistant(await this.assistants.createAssistant(tenantId, body));
  }

  @Post('search')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Search assistants' })
  @ApiOkResponse({ standardSchema: z.array(assistantSchema.partial()) })
  async search(
    @Tenant() tenantId: TenantId,
    @Body({ schema: searchAssistantsSchema.prefault({}) }) body: SearchAssistants,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Partial<Assistant>[]> {
    const page = await this.assistants.searchAssistants(tenantId, body);
    return project(paginate(reply, page, body.offset).map(toAssistant), body.select);
  }

  @Post('count')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Count assistants' })
  @ApiOkResponse({ standardSchema: z.number().int() })
  count(
    @Tenant() tenantId: TenantId,
    @Body({ schema: countAssistantsSchema.prefault({}) }) body: AssistantFilter,
  ): Promise<number> {
    return this.assistants.countAssistants(tenantId, body);
  }

  @Get(':assistant_id')
  @ApiOperation({ summary: 'Get an assistant' })
  @ApiOkResponse({ standardSchema: assistantSchema })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
  ): Promise<Assistant> {
    return toAssistant(await this.assistants.getAssistant(tenantId, assistant_id));
  }

  @Patch(':assistant_id')
  @ApiOperation({ summary: 'Change an assistant: makes a new version' })
  @ApiOkResponse({ standardSchema: assistantSchema })
  async patch(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
    @Body({ schema: patchAssistantSchema.prefault({}) }) body: PatchAssistant,
  ): Promise<Assistant> {
    return toAssistant(await this.assistants.patchAssistant(tenantId, assistant_id, body));
  }

  @Get(':assistant_id/graph')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: "Nodes and edges of the assistant's graph" })
  @ApiOkResponse({ standardSchema: graphDrawingSchema })
  drawGraph(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
    @Query({ schema: xrayQuery }) { xray }: z.infer<typeof xrayQuery>,
  ): Promise<string> {
    return this.assistants.drawGraph(tenantId, assistant_id, xray ?? false);
  }

  @Get(':assistant_id/schemas')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'JSON schemas of input, output, state and config' })
  @ApiOkResponse({ standardSchema: graphSchemasSchema })
  schemas(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
  ): Promise<string> {
    return this.assistants.schemas(tenantId, assistant_id);
  }

  @Get(':assistant_id/subgraphs')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'Graphs inside the graph, with their schemas' })
  @ApiOkResponse({ standardSchema: subgraphsSchema })
  subgraphs(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
    @Query({ schema: recurseQuery }) { recurse }: z.infer<typeof recurseQuery>,
  ): Promise<string> {
    return this.assistants.subgraphs(tenantId, assistant_id, recurse ?? false);
  }

  @Get(':assistant_id/subgraphs/:namespace')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'One graph inside the graph' })
  @ApiOkResponse({ standardSchema: subgraphsSchema })
  subgraph(
    @Tenant() tenantId: TenantId,
    @Param({ schema: subgraphParam }) { assistant_id, namespace }: z.infer<typeof subgraphParam>,
    @Query({ schema: recurseQuery }) { recurse }: z.infer<typeof recurseQuery>,
  ): Promise<string> {
    return this.assistants.subgraphs(tenantId, assistant_id, recurse ?? false, namespace);
  }

  @Post(':assistant_id/versions')
  @HttpCode(200)
  @ApiOperation({ summary: 'Versions of an assistant, newest first' })
  @ApiOkResponse({ standardSchema: z.array(assistantVersionSchema) })
  async versions(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
    @Body({ schema: searchVersionsSchema.prefault({}) }) body: SearchVersions,
  ): Promise<AssistantVersion[]> {
    return (await this.assistants.versions(tenantId, assistant_id, body)).map(toAssistantVersion);
  }

  @Post(':assistant_id/latest')
  @HttpCode(200)
  @ApiOperation({ summary: 'Make a version the current one' })
  @ApiOkResponse({ standardSchema: assistantSchema })
  async setLatest(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: IdParam,
    @Body({ schema: setLatestSchema }) { version }: z.infer<typeof setLatestSchema>,
  ): Promise<Assistant> {
    return toAssistant(await this.assistants.setLatest(tenantId, assistant_id, version));
  }
}
