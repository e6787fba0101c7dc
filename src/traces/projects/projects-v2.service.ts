import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import type { ApiError } from '../../http/api-error';
import { traceErrors } from '../trace.errors';
import { agentProject } from './agent-project';
import { ProjectEntity } from './project.entity';
import { ProjectCursor, ProjectSort, ProjectsRepository } from './projects.repository';
import { ProjectsService, ProjectWithStats } from './projects.service';
import type { CreateProjectV2, ListProjectsV2, ResolveProject, UpdateProjectV2 } from './projects-v2.schemas';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Tracing projects for the second version of the API: paginated by cursor, with the kind of each. */
@Injectable()
export class ProjectsV2Service {
  constructor(
    private readonly projects: ProjectsService,
    private readonly rows: ProjectsRepository,
  ) {}

  /** @throws {ApiError} 422 for a kind that doesn't fit, 409 when the name is taken, unless `upsert` */
  async createProject(tenantId: TenantId, { type, ...body }: CreateProjectV2, upsert: boolean): Promise<ProjectEntity> {
    if (type === 'AGENT') throw traceErrors.unsupported('type', 'agents have no tracing projects of their own here');
    if ((type === 'EXPERIMENT') !== (body.reference_dataset_id != null)) {
      throw traceErrors.invalid(
        'reference_dataset_id',
        type === 'EXPERIMENT' ? 'an experiment needs one' : 'only experiments have one',
      );
    }
    return this.projects.createProject(tenantId, body, upsert);
  }

  async listProjects(
    tenantId: TenantId,
    query: ListProjectsV2,
  ): Promise<{ items: ProjectWithStats[]; next: string | null }> {
    const sort = sortOf(query);
    for (const field of ['filter', 'stats_filter', 'dataset_version', 'tag_value_id'] as const) {
      if (query[field] !== undefined) throw traceErrors.unsupported(field, 'projects are not filtered by that here');
    }
    if (query.include_facets) throw traceErrors.unsupported('include_facets', 'there are no facets here');
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const lastKey = after?.key ?? null;
    if (lastKey !== null && !(await this.rows.isSortKey(sort, lastKey))) throw invalidCursor();
    const { rows, last } = await this.rows.pageV2(tenantId, query, sort, {
      // One more than asked shows whether there is a next page.
      limit: query.page_size,
      descending: query.sort_order === 'desc',
      ...(after && { after }),
    });
    const items = await this.projects.withStats(tenantId, rows, query);
    return { items, next: last ? writeCursor(last) : null };
  }

  readProject(
    tenantId: TenantId,
    projectId: string,
    options: Parameters<ProjectsService['readProject']>[2],
  ): Promise<ProjectWithStats> {
    return this.projects.readProject(tenantId, projectId, options);
  }

  /** @throws {ApiError} 404 for an unknown project, 409 for a name that another one has */
  updateProject(tenantId: TenantId, projectId: string, body: UpdateProjectV2): Promise<ProjectEntity> {
    return this.projects.updateProject(tenantId, projectId, body);
  }

  /** @throws {ApiError} 404 for an address of no project */
  async resolveAddress(tenantId: TenantId, { kind, id, environment }: ResolveProject): Promise<string> {
    const found = await this.findAddressed(tenantId, kind, id, environment);
    if (!found) throw traceErrors.projectNotFound();
    return found.projectId;
  }

  private async findAddressed(
    tenantId: TenantId,
    kind: ResolveProject['kind'],
    id: string | undefined,
    environment: string | undefined,
  ): Promise<ProjectEntity | null> {
    if (kind === 'AGENT' && id && environment) return this.rows.findByName(tenantId, agentProject(id, environment));
    const project = kind === 'EXPERIMENT' && id && UUID.test(id) ? await this.rows.findById(tenantId, id) : null;
    return project?.referenceDatasetId ? project : null;
  }
}

function sortOf(query: ListProjectsV2): ProjectSort {
  if (query.sort_by !== 'FEEDBACK') return { by: query.sort_by };
  if (query.sort_by_feedback_key === undefined) {
    throw traceErrors.invalid('sort_by_feedback_key', 'is required to sort by FEEDBACK');
  }
  return { by: 'FEEDBACK', key: query.sort_by_feedback_key, ofRuns: query.sort_by_feedback_source === 'RUN' };
}

function writeCursor({ key, projectId }: ProjectCursor): string {
  return Buffer.from(JSON.stringify([key, projectId])).toString('base64url');
}

function readCursor(cursor: string): ProjectCursor {
  try {
    const [key, projectId] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as [unknown, unknown];
    if ((key === null || typeof key === 'string') && typeof projectId === 'string' && UUID.test(projectId)) {
      return { key, projectId };
    }
  } catch {
    // Reported below, as any other text that is no cursor.
  }
  throw invalidCursor();
}

const invalidCursor = (): ApiError => traceErrors.invalid('cursor', 'this is not a cursor of a previous page');
