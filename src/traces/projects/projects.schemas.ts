import { z } from 'zod';
import { parseJson } from '../../http/json-limits';
import { MAX_NAME_LENGTH } from '../stored-text';
import { instantSchema, queryBoolean, queryList } from '../trace-wire';

export const projectName = z.string().trim().min(1).max(MAX_NAME_LENGTH);
const extra = z.record(z.string(), z.unknown());
export const traceTier = z.enum(['longlived', 'shortlived']);

/** Fields of the hosted platform, which are refused with other values. */
const unsupportedShape = { longlived_ttl_days: z.number().nullish(), tag_value_ids: z.array(z.string()).nullish() };

export const projectParamsSchema = z.object({ project_id: z.guid() });

export const createProjectSchema = z.object({
  name: projectName,
  id: z.guid().nullish(),
  description: z.string().nullish(),
  extra: extra.nullish(),
  start_time: instantSchema.nullish(),
  end_time: instantSchema.nullish(),
  default_dataset_id: z.guid().nullish(),
  reference_dataset_id: z.guid().nullish(),
  trace_tier: traceTier.nullish(),
  ...unsupportedShape,
});
export type CreateProject = z.output<typeof createProjectSchema>;

export const createProjectQuerySchema = z.object({ upsert: queryBoolean.optional() });

export const updateProjectSchema = z.object({
  name: projectName.nullish(),
  description: z.string().nullish(),
  extra: extra.nullish(),
  end_time: instantSchema.nullish(),
  default_dataset_id: z.guid().nullish(),
  trace_tier: traceTier.nullish(),
  ...unsupportedShape,
});
export type UpdateProject = z.output<typeof updateProjectSchema>;

/** A JSON object that the project's metadata must contain. */
export const metadataFilter = z.string().transform((text, context): Record<string, unknown> => {
  try {
    const parsed = parseJson(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // Reported below, as any other text that is not a JSON object.
  }
  context.addIssue({ code: 'custom', message: 'must be a JSON object' });
  return z.NEVER;
});

export const listProjectsSchema = z.object({
  name: z.string().optional(),
  name_contains: z.string().optional(),
  id: queryList(z.guid()),
  reference_free: queryBoolean.optional(),
  reference_dataset: queryList(z.guid()),
  metadata: metadataFilter.optional(),
  sort_by: z
    .enum([
      'name',
      'start_time',
      'last_run_start_time',
      'latency_p50',
      'latency_p99',
      'error_rate',
      'feedback',
      'runs_count',
    ])
    .default('start_time'),
  sort_by_desc: queryBoolean.default(true),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  include_stats: queryBoolean.default(false),
  stats_start_time: instantSchema.optional(),
});
export type ListProjects = z.output<typeof listProjectsSchema>;

export const readProjectSchema = z.object({
  include_stats: queryBoolean.default(false),
  stats_start_time: instantSchema.optional(),
});

export const deleteProjectsSchema = z.object({
  session_ids: z.preprocess((value): unknown => (Array.isArray(value) ? value : [value]), z.array(z.guid()).min(1)),
});
