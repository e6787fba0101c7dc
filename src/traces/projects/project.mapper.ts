import { instantOf } from '../instant';
import { naive } from '../trace-wire';
import type { ProjectStats } from './projects.repository';
import type { ProjectWithStats } from './projects.service';

/** A project as trace clients read it; the Python model requires `id`, `tenant_id` and `reference_dataset_id`. */
export function toSession({ project, stats, feedback }: ProjectWithStats) {
  return {
    id: project.projectId,
    tenant_id: project.tenantId,
    name: project.name,
    description: project.description,
    extra: project.extra,
    start_time: naive(instantOf(project.startTime)),
    end_time: project.endTime && naive(instantOf(project.endTime)),
    default_dataset_id: project.defaultDatasetId,
    reference_dataset_id: project.referenceDatasetId,
    trace_tier: project.traceTier,
    ...(stats !== undefined && { ...toStats(stats), ...feedback }),
  };
}

/** The statistics that both versions of the API have; zeros without runs. */
export function runStats(stats: ProjectStats | null) {
  return {
    run_count: stats?.run_count ?? 0,
    latency_p50: stats?.latency_p50 ?? null,
    latency_p99: stats?.latency_p99 ?? null,
    first_token_p50: stats?.first_token_p50 ?? null,
    first_token_p99: stats?.first_token_p99 ?? null,
    prompt_tokens: stats?.prompt_tokens ?? 0,
    completion_tokens: stats?.completion_tokens ?? 0,
    total_tokens: stats?.total_tokens ?? 0,
    error_rate: stats?.error_rate ?? null,
    streaming_rate: stats?.streaming_rate ?? null,
  };
}

function toStats(stats: ProjectStats | null) {
  return {
    ...runStats(stats),
    prompt_cost: stats?.prompt_cost ?? null,
    completion_cost: stats?.completion_cost ?? null,
    total_cost: stats?.total_cost ?? null,
    last_run_start_time: stats?.last_run_start_time ? naive(stats.last_run_start_time) : null,
    run_facets: null,
    test_run_number: null,
  };
}
