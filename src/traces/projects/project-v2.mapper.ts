import { instantOf } from '../instant';
import { number } from '../query/trace-run.mapper';
import { runStats } from './project.mapper';
import type { ProjectStats } from './projects.repository';
import type { ProjectWithStats } from './projects.service';

/** A project as the second version of the API gives it. */
export function toSessionV2({ project, stats, feedback }: ProjectWithStats, statsSelect?: string[]) {
  return {
    id: project.projectId,
    tenant_id: project.tenantId,
    type: project.referenceDatasetId === null ? 'PROJECT' : 'EXPERIMENT',
    name: project.name,
    description: project.description,
    extra: project.extra,
    start_time: instantOf(project.startTime),
    end_time: project.endTime && instantOf(project.endTime),
    default_dataset_id: project.defaultDatasetId,
    reference_dataset_id: project.referenceDatasetId,
    trace_tier:
      project.traceTier === 'longlived' ? 'LONG_LIVED' : project.traceTier === 'shortlived' ? 'SHORT_LIVED' : null,
    longlived_ttl_days: null,
    ...(stats !== undefined && select({ ...toStats(stats), ...feedback }, statsSelect)),
  };
}

function toStats(stats: ProjectStats | null): Record<string, unknown> {
  return {
    ...runStats(stats),
    prompt_cost: number(stats?.prompt_cost ?? null),
    completion_cost: number(stats?.completion_cost ?? null),
    total_cost: number(stats?.total_cost ?? null),
    last_run_start_time: stats?.last_run_start_time ?? null,
  };
}

function select(stats: Record<string, unknown>, names: string[] | undefined): Record<string, unknown> {
  return names ? Object.fromEntries(Object.entries(stats).filter(([name]) => names.includes(name))) : stats;
}
