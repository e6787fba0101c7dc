import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, SelectQueryBuilder } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { feedbackStat, summarised } from '../feedback/feedback.repository';
import { Instant } from '../instant';
import { selectInstant } from '../trace-wire';
import { ProjectEntity } from './project.entity';
import type { ListProjects } from './projects.schemas';
import type { ListProjectsV2 } from './projects-v2.schemas';

/** Statistics of a project's runs. Counts cover all runs; latencies are those of whole traces. */
export interface ProjectStats {
  project_id: string;
  run_count: number;
  latency_p50: number | null;
  latency_p99: number | null;
  first_token_p50: number | null;
  first_token_p99: number | null;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  last_run_start_time: Instant | null;
  error_rate: number;
  streaming_rate: number;
}

/** Summaries of feedback by key; null without any. */
export interface ProjectFeedback {
  /** Feedback on the runs of the project. */
  feedback_stats: Record<string, unknown> | null;
  /** Feedback on the project itself. */
  session_feedback_stats: Record<string, unknown> | null;
}

export type NewProject = Partial<Omit<ProjectEntity, 'tenantId' | 'createdAt' | 'updatedAt'>> & { name: string };

/**
 * Columns of the project that a listing sorts by; the rest sort by what the runs add up to. A name that TypeORM knows would
 * be selected under the sort key's alias alone, and be absent from the project: hence the parentheses.
 */
const SORT: Record<ListProjects['sort_by'], string> = {
  name: '(p.name)',
  start_time: 'p.start_time',
  last_run_start_time:
    '(SELECT max(r.start_time) FROM trace_runs r WHERE r.tenant_id = p.tenant_id AND r.project_id = p.project_id)',
  runs_count: '(SELECT count(*) FROM trace_runs r WHERE r.tenant_id = p.tenant_id AND r.project_id = p.project_id)',
  error_rate: `(SELECT avg((r.status = 'error')::int) FROM trace_runs r WHERE r.tenant_id = p.tenant_id AND r.project_id = p.project_id)`,
  latency_p50: `(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY r.end_time - r.start_time) FROM trace_runs r WHERE r.tenant_id = p.tenant_id AND r.project_id = p.project_id AND r.parent_run_id IS NULL)`,
  latency_p99: `(SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY r.end_time - r.start_time) FROM trace_runs r WHERE r.tenant_id = p.tenant_id AND r.project_id = p.project_id AND r.parent_run_id IS NULL)`,
  feedback:
    '(SELECT avg(f.score) FROM trace_feedback f WHERE f.tenant_id = p.tenant_id AND f.project_id = p.project_id)',
};

/** Sort key of the second version: feedback under one key, on the runs or on the project itself. */
export type ProjectSort =
  { by: Exclude<ListProjectsV2['sort_by'], 'FEEDBACK'> } | { by: 'FEEDBACK'; key: string; ofRuns: boolean };

/** A project's place in a sorted listing: its sort key, as Postgres writes it. */
export interface ProjectCursor {
  key: string | null;
  projectId: string;
}

const SORT_TYPES = {
  NAME: 'text',
  START_TIME: 'timestamptz',
  LAST_RUN_START_TIME: 'timestamptz',
  ERROR_RATE: 'numeric',
  LATENCY_P50: 'interval',
  LATENCY_P99: 'interval',
} as const;

function sortKey(sort: ProjectSort): { sql: string; type: string; parameters: Record<string, unknown> } {
  if (sort.by !== 'FEEDBACK') {
    const column = sort.by.toLowerCase() as ListProjects['sort_by'];
    // In parentheses as those of SORT.
    return { sql: `(${SORT[column]})`, type: SORT_TYPES[sort.by], parameters: {} };
  }
  const sql = `(SELECT avg(f.score) FROM trace_feedback f WHERE f.tenant_id = p.tenant_id AND f.project_id = p.project_id
    AND f.key = :feedbackKey AND f.run_id IS ${sort.ofRuns ? 'NOT ' : ''}NULL)`;
  return { sql, type: 'float8', parameters: { feedbackKey: sort.key } };
}

@Injectable()
export class ProjectsRepository {
  constructor(@InjectRepository(ProjectEntity) private readonly projects: Repository<ProjectEntity>) {}

  /** Creates a project; undefined if the name (or the id) is taken. */
  async insertProject(tenantId: TenantId, project: NewProject): Promise<ProjectEntity | undefined> {
    const projectId = project.projectId ?? uuidv7();
    const result = await this.projects
      .createQueryBuilder()
      .insert()
      .values({ startTime: () => 'now()', updatedAt: () => 'now()', ...project, tenantId, projectId } as never)
      .orIgnore()
      .returning('project_id')
      .execute();
    return (result.raw as unknown[]).length === 0
      ? undefined
      : this.findById(tenantId, projectId).then((row) => row ?? undefined);
  }

  findById(tenantId: TenantId, projectId: string): Promise<ProjectEntity | null> {
    return this.projects.findOneBy({ tenantId, projectId });
  }

  findByName(tenantId: TenantId, name: string): Promise<ProjectEntity | null> {
    return this.projects.findOneBy({ tenantId, name });
  }

  async idsOfDataset(tenantId: TenantId, referenceDatasetId: string): Promise<string[]> {
    const rows = await this.projects.find({ select: { projectId: true }, where: { tenantId, referenceDatasetId } });
    return rows.map(({ projectId }) => projectId);
  }

  async updateProject(
    tenantId: TenantId,
    projectId: string,
    fields: Partial<NewProject>,
  ): Promise<ProjectEntity | null> {
    await this.projects.update({ tenantId, projectId }, { ...fields, updatedAt: () => 'now()' } as never);
    return this.findById(tenantId, projectId);
  }

  async listProjects(tenantId: TenantId, query: ListProjects): Promise<{ rows: ProjectEntity[]; total: number }> {
    const select = this.matching(tenantId, query);
    if (query.reference_free !== undefined) {
      select.andWhere(`p.reference_dataset_id IS ${query.reference_free ? '' : 'NOT '}NULL`);
    }
    const total = await select.getCount();
    const direction = query.sort_by_desc ? 'DESC' : 'ASC';
    const rows = await select
      .addSelect(SORT[query.sort_by], 'sort_key')
      .orderBy('sort_key', direction, 'NULLS LAST')
      .addOrderBy('p.project_id', direction)
      .limit(query.limit)
      .offset(query.offset)
      .getMany();
    return { rows, total };
  }

  /** Whether a cursor of this listing can have the sort key. */
  async isSortKey(sort: ProjectSort, key: string): Promise<boolean> {
    const [{ isValid }] = await this.projects.query<[{ isValid: boolean }]>(
      'SELECT pg_input_is_valid($1, $2) AS "isValid"',
      [key, sortKey(sort).type],
    );
    return isValid;
  }

  /** One page by cursor; projects without a value to sort by come last. */
  async pageV2(
    tenantId: TenantId,
    query: ListProjectsV2,
    sort: ProjectSort,
    { limit, descending, after }: { limit: number; descending: boolean; after?: ProjectCursor },
  ): Promise<{ rows: ProjectEntity[]; last: ProjectCursor | undefined }> {
    const { sql, type, parameters } = sortKey(sort);
    const select = this.matching(tenantId, { ...query, reference_dataset: query.reference_dataset_id });
    if (query.type) {
      const isExperiment = query.type.map((type) => type === 'EXPERIMENT');
      select.andWhere('(p.reference_dataset_id IS NOT NULL) = ANY (:isExperiment::boolean[])', {
        // No project has the type AGENT.
        isExperiment: isExperiment.filter((_, index) => query.type?.[index] !== 'AGENT'),
      });
    }
    const direction = descending ? 'DESC' : 'ASC';
    const beyond = descending ? '<' : '>';
    if (after?.key === null) select.andWhere(`${sql} IS NULL AND p.project_id ${beyond} :lastId`);
    else if (after) {
      select.andWhere(
        `(${sql} IS NULL OR ${sql} ${beyond} :lastKey::${type} OR (${sql} = :lastKey::${type} AND p.project_id ${beyond} :lastId))`,
      );
    }
    const { entities, raw } = await select
      .addSelect(sql, 'sort_key')
      // As text: the driver would cut the microseconds of a moment.
      .addSelect(`(${sql})::text`, 'sort_text')
      .setParameters({ ...select.getParameters(), ...parameters, lastKey: after?.key, lastId: after?.projectId })
      .orderBy('sort_key', direction, 'NULLS LAST')
      .addOrderBy('p.project_id', direction)
      .limit(limit + 1)
      .getRawAndEntities<{ sort_text: string | null }>();
    const rows = entities.slice(0, limit);
    const last = rows.at(-1);
    const hasMore = entities.length > limit;
    return {
      rows,
      last: hasMore && last ? { key: raw[rows.length - 1].sort_text, projectId: last.projectId } : undefined,
    };
  }

  private matching(
    tenantId: TenantId,
    query: Pick<ListProjects, 'name' | 'name_contains' | 'id' | 'reference_dataset' | 'metadata'>,
  ): SelectQueryBuilder<ProjectEntity> {
    const select = this.projects.createQueryBuilder('p').where('p.tenant_id = :tenantId', { tenantId });
    if (query.name !== undefined) select.andWhere('p.name = :name', { name: query.name });
    if (query.name_contains !== undefined) {
      select.andWhere('strpos(lower(p.name), lower(:part)) > 0', { part: query.name_contains });
    }
    if (query.id) select.andWhere('p.project_id = ANY (:ids)', { ids: query.id });
    if (query.reference_dataset) {
      select.andWhere('p.reference_dataset_id = ANY (:datasets)', { datasets: query.reference_dataset });
    }
    if (query.metadata) {
      select.andWhere(`p.extra @> jsonb_build_object('metadata', :metadata::jsonb)`, {
        metadata: JSON.stringify(query.metadata),
      });
    }
    return select;
  }

  async stats(
    tenantId: TenantId,
    projectIds: string[],
    since: Instant | undefined,
  ): Promise<Map<string, ProjectStats>> {
    const rows = await this.projects.query<ProjectStats[]>(
      `SELECT r.project_id,
              count(*)::int AS run_count,
              percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM r.end_time - r.start_time))
                FILTER (WHERE r.parent_run_id IS NULL)::float8 AS latency_p50,
              percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM r.end_time - r.start_time))
                FILTER (WHERE r.parent_run_id IS NULL)::float8 AS latency_p99,
              percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM r.first_token_time - r.start_time))::float8
                AS first_token_p50,
              percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM r.first_token_time - r.start_time))::float8
                AS first_token_p99,
              COALESCE(sum(r.prompt_tokens), 0)::float8 AS prompt_tokens,
              COALESCE(sum(r.completion_tokens), 0)::float8 AS completion_tokens,
              COALESCE(sum(r.total_tokens), 0)::float8 AS total_tokens,
              sum(r.prompt_cost) AS prompt_cost,
              sum(r.completion_cost) AS completion_cost,
              sum(r.total_cost) AS total_cost,
              ${selectInstant('max(r.start_time)')} AS last_run_start_time,
              avg((r.status = 'error')::int)::float8 AS error_rate,
              avg((r.first_token_time IS NOT NULL)::int)::float8 AS streaming_rate
       FROM trace_runs r
       WHERE r.tenant_id = $1 AND r.project_id = ANY ($2::uuid[]) AND r.start_time >= COALESCE($3::timestamptz, '-infinity')
       GROUP BY r.project_id`,
      [tenantId, projectIds, since ?? null],
    );
    return new Map(rows.map((row) => [row.project_id, row]));
  }

  /** @param since start of the oldest run whose feedback counts; feedback on projects counts in any case */
  async feedback(
    tenantId: TenantId,
    projectIds: string[],
    since: Instant | undefined,
  ): Promise<Map<string, ProjectFeedback>> {
    const labelled = 'chosen g WHERE g.project_id = f.project_id AND g.is_on_run = f.is_on_run AND g.key = f.key';
    const rows = await this.projects.query<({ project_id: string } & ProjectFeedback)[]>(
      `WITH chosen AS (
         SELECT f.project_id, f.run_id IS NOT NULL AS is_on_run,
                ${summarised('f.project_id, f.run_id IS NOT NULL, f.key')}
         FROM trace_feedback f
         WHERE f.tenant_id = $1 AND f.project_id = ANY ($2::uuid[])
           AND ($3::timestamptz IS NULL OR f.run_id IS NULL OR EXISTS (
             SELECT FROM trace_run_keys k
             WHERE k.tenant_id = f.tenant_id AND k.run_id = f.run_id AND k.start_time >= $3::timestamptz))
       ), by_key AS (
         SELECT f.project_id, f.is_on_run, f.key, ${feedbackStat(labelled)} AS stat
         FROM chosen f GROUP BY f.project_id, f.is_on_run, f.key
       )
       SELECT project_id, jsonb_object_agg(key, stat) FILTER (WHERE is_on_run) AS feedback_stats,
              jsonb_object_agg(key, stat) FILTER (WHERE NOT is_on_run) AS session_feedback_stats
       FROM by_key GROUP BY project_id`,
      [tenantId, projectIds, since ?? null],
    );
    return new Map(rows.map(({ project_id: projectId, ...feedback }) => [projectId, feedback]));
  }
}
