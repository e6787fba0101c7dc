import { z } from 'zod';
import { instantSchema, queryBoolean, queryList } from '../trace-wire';
import { createProjectSchema, metadataFilter, projectName, traceTier, updateProjectSchema } from './projects.schemas';

/** The first version's names of the retention tiers, and those of the second. */
export const TIERS = { LONG_LIVED: 'longlived', SHORT_LIVED: 'shortlived' } as const;
const tier = z
  .enum(['LONG_LIVED', 'SHORT_LIVED'])
  .transform((name) => TIERS[name])
  .pipe(traceTier);

export const createProjectV2Schema = createProjectSchema.extend({
  type: z.enum(['PROJECT', 'AGENT', 'EXPERIMENT']),
  name: projectName,
  trace_tier: tier.optional(),
});
export type CreateProjectV2 = z.output<typeof createProjectV2Schema>;

export const updateProjectV2Schema = updateProjectSchema.extend({ trace_tier: tier.optional() });
export type UpdateProjectV2 = z.output<typeof updateProjectV2Schema>;

const SORT = [
  'NAME',
  'START_TIME',
  'LAST_RUN_START_TIME',
  'ERROR_RATE',
  'LATENCY_P50',
  'LATENCY_P99',
  'FEEDBACK',
] as const;

export const listProjectsV2Schema = z.object({
  name: z.string().optional(),
  name_contains: z.string().optional(),
  id: queryList(z.guid()),
  reference_dataset_id: queryList(z.guid()),
  metadata: metadataFilter.optional(),
  type: queryList(z.enum(['PROJECT', 'AGENT', 'EXPERIMENT'])),
  sort_by: z.enum(SORT).default('START_TIME'),
  sort_by_feedback_key: z.string().optional(),
  sort_by_feedback_source: z.enum(['RUN', 'SESSION']).default('RUN'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
  include_stats: queryBoolean.default(false),
  stats_start_time: instantSchema.optional(),
  stats_select: queryList(z.string().toLowerCase()),
  // Statistics are always computed from the runs.
  use_approx_stats: queryBoolean.optional(),
  page_size: z.coerce.number().int().min(1).max(100).default(100),
  cursor: z.string().optional(),
  filter: z.string().optional(),
  stats_filter: z.string().optional(),
  dataset_version: z.string().optional(),
  tag_value_id: queryList(z.string()),
  include_facets: queryBoolean.optional(),
});
export type ListProjectsV2 = z.output<typeof listProjectsV2Schema>;

export const resolveProjectSchema = z.object({
  kind: z
    .string()
    .transform((kind) => kind.toUpperCase())
    .pipe(z.enum(['AGENT', 'EXPERIMENT', 'EVALUATOR'])),
  id: z.string().optional(),
  environment: z.string().optional(),
});
export type ResolveProject = z.output<typeof resolveProjectSchema>;
