import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { Instant } from '../instant';
import type { ProjectReference } from '../ingest/run-operation';
import { storableJsonb } from '../stored-text';
import { storing } from '../storing';
import { traceErrors } from '../trace.errors';
import { TraceDeletionRepository } from '../trace-deletion.repository';
import { ProjectEntity } from './project.entity';
import { NewProject, ProjectFeedback, ProjectsRepository, ProjectStats } from './projects.repository';
import type { CreateProject, ListProjects, UpdateProject } from './projects.schemas';

/** Time that the project of a reference is cached: each ingestion request names one, and few are ever deleted. */
const CACHE_MS = 5_000;
const CACHE_ENTRIES = 10_000;

export interface ProjectWithStats {
  project: ProjectEntity;
  /** Undefined when it wasn't requested; null for a project without runs. */
  stats?: ProjectStats | null;
  feedback?: ProjectFeedback;
}

const NO_FEEDBACK: ProjectFeedback = { feedback_stats: null, session_feedback_stats: null };

interface StatsOptions {
  include_stats: boolean;
  stats_start_time?: Instant;
  /** The statistics of the answer, all of them if undefined. */
  stats_select?: string[];
}

@Injectable()
export class ProjectsService {
  private readonly cache = new Map<string, { projectId: string; until: number }>();

  constructor(
    private readonly projects: ProjectsRepository,
    private readonly deletion: TraceDeletionRepository,
  ) {}

  /** The project that a run names; an unused name creates one. */
  async resolve(tenantId: TenantId, reference: ProjectReference): Promise<string> {
    const cacheKey = `${tenantId} ${reference}`;
    const cached = this.cache.get(cacheKey);
    if (cached && cached.until > Date.now()) return cached.projectId;
    const projectId = await this.lookUp(tenantId, reference);
    if (this.cache.size >= CACHE_ENTRIES) this.cache.clear();
    this.cache.set(cacheKey, { projectId, until: Date.now() + CACHE_MS });
    return projectId;
  }

  /** Forgets the cached projects after one was deleted, perhaps by another process. */
  forget(): void {
    this.cache.clear();
  }

  private async lookUp(tenantId: TenantId, reference: ProjectReference): Promise<string> {
    const value = reference.slice(reference.indexOf(':') + 1);
    if (reference.startsWith('id:')) {
      const known = await this.projects.findById(tenantId, value);
      if (!known) throw traceErrors.invalid('session_id', `there is no project ${value}`);
      return known.projectId;
    }
    const project =
      (await this.projects.findByName(tenantId, value)) ??
      (await this.projects.insertProject(tenantId, { name: value })) ??
      // Another request has created it meanwhile.
      (await this.projects.findByName(tenantId, value));
    if (!project) throw traceErrors.projectNotFound();
    return project.projectId;
  }

  /** @throws {ApiError} 409 when the name is taken, unless `upsert`. */
  async createProject(tenantId: TenantId, body: CreateProject, upsert: boolean): Promise<ProjectEntity> {
    refuseUnsupported(body);
    const fields = {
      ...toFields(body),
      name: body.name,
      ...(body.id && { projectId: body.id.toLowerCase() }),
      ...(body.start_time && { startTime: new Date(body.start_time) }),
      ...(body.reference_dataset_id && { referenceDatasetId: body.reference_dataset_id }),
    };
    const created = await storing(() => this.projects.insertProject(tenantId, fields));
    if (created) return created;
    const existing = await this.projects.findByName(tenantId, body.name);
    if (!existing || !upsert) throw traceErrors.projectExists(body.name);
    return (await this.change(tenantId, existing.projectId, toFields(body))) ?? existing;
  }

  async listProjects(tenantId: TenantId, query: ListProjects): Promise<{ items: ProjectWithStats[]; total: number }> {
    const { rows, total } = await this.projects.listProjects(tenantId, query);
    return { items: await this.withStats(tenantId, rows, query), total };
  }

  /** Projects, with the statistics of their runs and of the feedback on them if requested. */
  async withStats(tenantId: TenantId, rows: ProjectEntity[], options: StatsOptions): Promise<ProjectWithStats[]> {
    if (!options.include_stats || rows.length === 0) return rows.map((project) => ({ project }));
    const ids = rows.map(({ projectId }) => projectId);
    const stats = await this.projects.stats(tenantId, ids, options.stats_start_time);
    // It takes far longer than the other statistics.
    const feedback = selectsFeedback(options)
      ? await this.projects.feedback(tenantId, ids, options.stats_start_time)
      : new Map<string, ProjectFeedback>();
    return rows.map((project) => ({
      project,
      stats: stats.get(project.projectId) ?? null,
      feedback: feedback.get(project.projectId) ?? NO_FEEDBACK,
    }));
  }

  /** The projects that ran against a dataset. */
  ofDataset(tenantId: TenantId, datasetId: string): Promise<string[]> {
    return this.projects.idsOfDataset(tenantId, datasetId);
  }

  async readProject(tenantId: TenantId, projectId: string, options: StatsOptions): Promise<ProjectWithStats> {
    const project = await this.projects.findById(tenantId, projectId);
    if (!project) throw traceErrors.projectNotFound();
    const [found] = await this.withStats(tenantId, [project], options);
    return found;
  }

  /** @throws {ApiError} 404 for an unknown project, 409 for a name that another one has. */
  async updateProject(tenantId: TenantId, projectId: string, body: UpdateProject): Promise<ProjectEntity> {
    refuseUnsupported(body);
    if (body.name != null) {
      const owner = await this.projects.findByName(tenantId, body.name);
      if (owner && owner.projectId !== projectId) throw traceErrors.projectExists(body.name);
    }
    const { project } = await this.readProject(tenantId, projectId, { include_stats: false });
    this.forget();
    const fields = { ...toFields(body), ...(body.name != null && { name: body.name }) };
    return (await this.change(tenantId, project.projectId, fields)) ?? project;
  }

  private change(tenantId: TenantId, projectId: string, fields: Partial<NewProject>): Promise<ProjectEntity | null> {
    return storing(() => this.projects.updateProject(tenantId, projectId, fields));
  }

  /** @throws {ApiError} 404 when none of the projects exists. */
  async deleteProjects(tenantId: TenantId, projectIds: string[]): Promise<void> {
    const deleted = await this.deletion.deleteProjects(tenantId, projectIds);
    this.forget();
    if (deleted === 0) throw traceErrors.projectNotFound();
  }
}

const selectsFeedback = ({ stats_select: selected }: StatsOptions): boolean =>
  !selected || Object.keys(NO_FEEDBACK).some((name) => selected.includes(name));

function refuseUnsupported({ longlived_ttl_days, tag_value_ids }: UpdateProject): void {
  if (longlived_ttl_days != null) {
    throw traceErrors.unsupported('longlived_ttl_days', 'retention is that of the server: GANTRY_TRACE_RETENTION_DAYS');
  }
  if (tag_value_ids?.length) throw traceErrors.unsupported('tag_value_ids', 'projects have no tags here');
}

function toFields(body: UpdateProject): Partial<NewProject> {
  return {
    ...(body.description != null && { description: body.description }),
    ...(body.extra && { extra: JSON.parse(storableJsonb(body.extra)) as Record<string, unknown> }),
    ...(body.end_time && { endTime: new Date(body.end_time) }),
    ...(body.default_dataset_id && { defaultDatasetId: body.default_dataset_id }),
    ...(body.trace_tier && { traceTier: body.trace_tier }),
  };
}
