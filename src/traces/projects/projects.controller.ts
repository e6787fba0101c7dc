import { Body, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { toSession } from './project.mapper';
import {
  createProjectQuerySchema,
  createProjectSchema,
  deleteProjectsSchema,
  listProjectsSchema,
  projectParamsSchema,
  readProjectSchema,
  updateProjectSchema,
} from './projects.schemas';
import type { CreateProject, ListProjects, UpdateProject } from './projects.schemas';
import { ProjectsService } from './projects.service';
import { RouteTags } from '../../http/route-tags';
import { SearchRoute } from '../../http/search-route';

type ProjectParams = z.output<typeof projectParamsSchema>;

/** Tracing projects, which the wire calls sessions. */
@RouteTags('Tracing projects')
@AliasedController('api/v1/sessions', 'api/sessions', 'sessions')
export class ProjectsController {
  constructor(private readonly projects: ProjectsService) {}

  /** Creates a project. If its name is taken, `upsert=true` updates that project; otherwise the answer is 409. */
  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a tracing project' })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createProjectSchema }) body: CreateProject,
    @Query({ schema: createProjectQuerySchema }) query: z.output<typeof createProjectQuerySchema>,
  ) {
    return toSession({ project: await this.projects.createProject(tenantId, body, query.upsert ?? false) });
  }

  /** A plain list; `X-Pagination-Total` has the total. */
  @Get()
  @SearchRoute()
  @ApiOperation({ summary: 'List tracing projects' })
  async list(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listProjectsSchema }) query: ListProjects,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { items, total } = await this.projects.listProjects(tenantId, query);
    void reply.header('X-Pagination-Total', String(total));
    return items.map(toSession);
  }

  @Get(':project_id')
  @ApiOperation({ summary: 'Get a tracing project' })
  async read(
    @Tenant() tenantId: TenantId,
    @Param({ schema: projectParamsSchema }) params: ProjectParams,
    @Query({ schema: readProjectSchema }) query: z.output<typeof readProjectSchema>,
  ) {
    return toSession(await this.projects.readProject(tenantId, params.project_id, query));
  }

  @Patch(':project_id')
  @ApiOperation({ summary: 'Update a tracing project' })
  async update(
    @Tenant() tenantId: TenantId,
    @Param({ schema: projectParamsSchema }) params: ProjectParams,
    @Body({ schema: updateProjectSchema }) body: UpdateProject,
  ) {
    return toSession({ project: await this.projects.updateProject(tenantId, params.project_id, body) });
  }

  /** Deletes the project and every run in it. */
  @Delete(':project_id')
  @ApiOperation({ summary: 'Delete a tracing project' })
  async delete(@Tenant() tenantId: TenantId, @Param({ schema: projectParamsSchema }) params: ProjectParams) {
    await this.projects.deleteProjects(tenantId, [params.project_id]);
    return { message: 'Project deleted' };
  }

  @Delete()
  @ApiOperation({ summary: 'Delete several tracing projects' })
  async deleteMany(
    @Tenant() tenantId: TenantId,
    @Query({ schema: deleteProjectsSchema }) query: z.output<typeof deleteProjectsSchema>,
  ) {
    await this.projects.deleteProjects(tenantId, query.session_ids);
    return { message: 'Projects deleted' };
  }
}

/** The same routes for clients whose endpoint is the server's root, or `/api`. */
