import { Body, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { toSessionV2 } from './project-v2.mapper';
import { createProjectQuerySchema, projectParamsSchema, readProjectSchema } from './projects.schemas';
import {
  createProjectV2Schema,
  listProjectsV2Schema,
  resolveProjectSchema,
  updateProjectV2Schema,
} from './projects-v2.schemas';
import type { CreateProjectV2, ListProjectsV2, ResolveProject, UpdateProjectV2 } from './projects-v2.schemas';
import { ProjectsV2Service } from './projects-v2.service';
import { RouteTags } from '../../http/route-tags';
import { SearchRoute } from '../../http/search-route';

type ProjectParams = z.output<typeof projectParamsSchema>;

@RouteTags('Tracing projects')
@AliasedController('api/v2/sessions', 'v2/sessions')
export class ProjectsV2Controller {
  constructor(private readonly projects: ProjectsV2Service) {}

  /** An experiment names its `reference_dataset_id`, a project none. */
  @Post()
  @ApiOperation({ summary: 'Create a tracing project (v2)' })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createProjectV2Schema }) body: CreateProjectV2,
    @Query({ schema: createProjectQuerySchema }) query: z.output<typeof createProjectQuerySchema>,
  ) {
    return toSessionV2({ project: await this.projects.createProject(tenantId, body, query.upsert ?? false) });
  }

  @Get()
  @SearchRoute()
  @ApiOperation({ summary: 'List tracing projects (v2)' })
  async list(@Tenant() tenantId: TenantId, @Query({ schema: listProjectsV2Schema }) query: ListProjectsV2) {
    const { items, next } = await this.projects.listProjects(tenantId, query);
    return {
      items: items.map((found) => toSessionV2(found, query.stats_select)),
      has_more: next !== null,
      next_cursor: next,
    };
  }

  @Get(':project_id')
  @ApiOperation({ summary: 'Get a tracing project (v2)' })
  async read(
    @Tenant() tenantId: TenantId,
    @Param({ schema: projectParamsSchema }) params: ProjectParams,
    @Query({ schema: readProjectSchema }) query: z.output<typeof readProjectSchema>,
  ) {
    return toSessionV2(await this.projects.readProject(tenantId, params.project_id, query));
  }

  @Patch(':project_id')
  @ApiOperation({ summary: 'Update a tracing project (v2)' })
  async update(
    @Tenant() tenantId: TenantId,
    @Param({ schema: projectParamsSchema }) params: ProjectParams,
    @Body({ schema: updateProjectV2Schema }) body: UpdateProjectV2,
  ) {
    return toSessionV2({ project: await this.projects.updateProject(tenantId, params.project_id, body) });
  }
}

/** Declared before the routes of one project, since these names are no ids. */
@RouteTags('Tracing projects')
@AliasedController('api/v1/sessions', 'api/sessions', 'sessions')
export class ProjectResolutionsController {
  constructor(private readonly projects: ProjectsV2Service) {}

  /** Addresses of experiments, and of agents in one of their environments, are supported. */
  @Get('resolutions')
  @ApiOperation({ summary: 'Find the tracing project that an address names' })
  async resolve(@Tenant() tenantId: TenantId, @Query({ schema: resolveProjectSchema }) address: ResolveProject) {
    return { session_id: await this.projects.resolveAddress(tenantId, address) };
  }
}
