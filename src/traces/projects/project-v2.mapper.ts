import { instantOf } from '../instant';
import { ProjectEntity } from './project.entity';
import type { ProjectStats } from './projects.repository';

const number = (text: string | null | undefined): number | null => (text == null ? null : Number(text));

/** A project as the second version of the API gives it. */
export function toSessionV2(project: ProjectEntity, stats?: ProjectStats | null, statsSelect?: string[]) {
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
    ...(stats !== undefined && select(toStats(stats), statsSelect)),
  };
}

function toStats(stats: ProjectStats | null): Record<string, unknown> {
  return {
    run_count: stats?.run_count ?? 0,
    latency_p50: stats?.latency_p50 ?? null,
    latency_p99: stats?.latency_p99 ?? null,
    first_token_p50: stats?.first_token_p50 ?? null,
    first_token_p99: stats?.first_token_p99 ?? null,
    prompt_tokens: stats?.prompt_tokens ?? 0,
    completion_tokens: stats?.completion_tokens ?? 0,
    total_tokens: stats?.total_tokens ?? 0,
    prompt_cost: number(stats?.prompt_cost),
    completion_cost: number(stats?.completion_cost),
    total_cost: number(stats?.total_cost),
    last_run_start_time: stats?.last_run_start_time ?? null,
    error_rate: stats?.error_rate ?? null,
    streaming_rate: stats?.streaming_rate ?? null,
  };
}

function select(stats: Record<string, unknown>, names: string[] | undefined): Record<string, unknown> {
  return names ? Object.fromEntries(Object.entries(stats).filter(([name]) => names.includes(name))) : stats;
}
