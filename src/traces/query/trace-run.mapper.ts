import { parseExactly } from '../../http/exact-json';
import { latencySeconds } from '../instant';
import { naive } from '../trace-wire';
import type { Payload, TraceRunRow } from './trace-runs.repository';
import type { RunStats } from './trace-stats.repository';
import type { Usage } from './trace-usage.repository';

const PREVIEW_CHARACTERS = 250;

/** Data of a run that is not in its row. */
export interface RunLinks {
  attachments: AttachmentLinks;
  /** URL of the public page of the run's trace; null unless it is shared. */
  shareUrl: string | null;
}

const NO_LINKS: RunLinks = { attachments: [], shareUrl: null };

/** Names and download addresses of a run's attachments. */
export type AttachmentLinks = { name: string; mimeType: string; url: string }[];

const json = (text: string | null | undefined): unknown =>
  text === null || text === undefined ? null : parseExactly(text);
export const preview = (text: string | null | undefined): string | null => text?.slice(0, PREVIEW_CHARACTERS) ?? null;
export const count = (value: string | null): number => (value === null ? 0 : Number(value));
export const number = (value: string | null): number | null => (value === null ? null : Number(value));
export const details = (row: Pick<TraceRunRow, 'usage_details'>, name: string): Record<string, number> | null =>
  (row.usage_details?.[name] as Record<string, number> | undefined) ?? null;

function appPath(row: TraceRunRow): string {
  return `/o/${row.tenant_id}/projects/p/${row.project_id}/r/${row.run_id}?trace_id=${row.trace_id}&start_time=${row.start_time}`;
}

/** A run as the first version of the query API gives it: payloads that were not read are left out. */
export function toRunV1(row: TraceRunRow, attachments: AttachmentLinks = []) {
  const read = (payload: Payload): boolean => row[payload] !== undefined;
  return {
    id: row.run_id,
    trace_id: row.trace_id,
    session_id: row.project_id,
    parent_run_id: row.parent_run_id,
    parent_run_ids: row.parent_run_ids,
    child_run_ids: null,
    direct_child_run_ids: null,
    dotted_order: row.dotted_order,
    name: row.name,
    run_type: row.run_type,
    status: row.status,
    start_time: naive(row.start_time),
    end_time: row.end_time && naive(row.end_time),
    error: row.error,
    ...(read('inputs') && { inputs: json(row.inputs), inputs_preview: preview(row.inputs) }),
    ...(read('outputs') && { outputs: json(row.outputs), outputs_preview: preview(row.outputs) }),
    ...(read('extra') && { extra: json(row.extra) }),
    ...(read('events') && { events: json(row.events) }),
    ...(read('serialized') && { serialized: json(row.serialized) }),
    ...(read('metadata') && { metadata: json(row.metadata) }),
    tags: row.tags,
    thread_id: row.thread_id,
    reference_example_id: row.reference_example_id,
    reference_dataset_id: null,
    total_tokens: count(row.total_tokens),
    prompt_tokens: count(row.prompt_tokens),
    completion_tokens: count(row.completion_tokens),
    prompt_token_details: details(row, 'prompt_token_details'),
    completion_token_details: details(row, 'completion_token_details'),
    total_cost: row.total_cost,
    prompt_cost: row.prompt_cost,
    completion_cost: row.completion_cost,
    prompt_cost_details: details(row, 'prompt_cost_details'),
    completion_cost_details: details(row, 'completion_cost_details'),
    price_model_id: null,
    first_token_time: row.first_token_time && naive(row.first_token_time),
    feedback_stats: row.feedback_stats,
    trace_tier: row.trace_tier,
    trace_first_received_at: naive(row.received_at),
    inserted_at: naive(row.received_at),
    execution_order: 1,
    in_dataset: row.reference_example_id !== null,
    share_token: null,
    last_queued_at: null,
    app_path: appPath(row),
    inputs_s3_urls: null,
    outputs_s3_urls: null,
    s3_urls:
      attachments.length === 0
        ? null
        : Object.fromEntries(
            attachments.map(({ name, mimeType, url }) => [
              `attachment.${name}`,
              { presigned_url: url, mime_type: mimeType },
            ]),
          ),
  };
}

/** Selectable fields of the second version of the query API, by their names in lower case. */
const V2: Record<string, (row: TraceRunRow, links: RunLinks) => unknown> = {
  id: (row) => row.run_id,
  name: (row) => row.name,
  run_type: (row) => row.run_type.toUpperCase(),
  status: (row) => row.status.toUpperCase(),
  start_time: (row) => row.start_time,
  end_time: (row) => row.end_time,
  latency_seconds: (row) => latencySeconds(row.start_time, row.end_time),
  first_token_time: (row) => row.first_token_time,
  error: (row) => row.error,
  error_preview: (row) => preview(row.error),
  extra: (row) => json(row.extra),
  metadata: (row) => json(row.metadata),
  events: (row) => json(row.events),
  inputs: (row) => json(row.inputs),
  inputs_preview: (row) => preview(row.inputs),
  outputs: (row) => json(row.outputs),
  outputs_preview: (row) => preview(row.outputs),
  manifest: (row) => json(row.serialized),
  parent_run_id: (row) => row.parent_run_id,
  parent_run_ids: (row) => row.parent_run_ids,
  project_id: (row) => row.project_id,
  trace_id: (row) => row.trace_id,
  thread_id: (row) => row.thread_id,
  dotted_order: (row) => row.dotted_order,
  is_root: (row) => row.parent_run_id === null,
  reference_example_id: (row) => row.reference_example_id,
  reference_dataset_id: () => null,
  total_tokens: (row) => count(row.total_tokens),
  prompt_tokens: (row) => count(row.prompt_tokens),
  completion_tokens: (row) => count(row.completion_tokens),
  total_cost: (row) => number(row.total_cost),
  prompt_cost: (row) => number(row.prompt_cost),
  completion_cost: (row) => number(row.completion_cost),
  prompt_token_details: (row) => ({ raw: details(row, 'prompt_token_details') ?? {} }),
  completion_token_details: (row) => ({ raw: details(row, 'completion_token_details') ?? {} }),
  prompt_cost_details: (row) => ({ raw: details(row, 'prompt_cost_details') ?? {} }),
  completion_cost_details: (row) => ({ raw: details(row, 'completion_cost_details') ?? {} }),
  price_model_id: () => null,
  tags: (row) => row.tags,
  app_path: appPath,
  attachments: (_row, { attachments }) => Object.fromEntries(attachments.map(({ name, url }) => [name, url])),
  thread_evaluation_time: () => null,
  is_in_dataset: (row) => row.reference_example_id !== null,
  last_queued_at: () => null,
  share_url: (_row, { shareUrl }) => shareUrl,
  feedback_stats: (row) => row.feedback_stats,
  // Traces are uploaded with keys of tenants, which belong to no user.
  ls_user_id: () => null,
};

export function isV2Field(name: string): boolean {
  return Object.hasOwn(V2, name);
}

/** A run with just the fields that were selected. */
export function toRunV2(row: TraceRunRow, selects: string[], links: RunLinks = NO_LINKS): Record<string, unknown> {
  return Object.fromEntries(selects.map((name) => [name, V2[name]?.(row, links)]));
}

/** Fields of a trace that concern all of its runs. */
const AGGREGATES: Record<string, (usage: Usage) => unknown> = {
  total_tokens: (usage) => count(usage.total_tokens),
  total_cost: (usage) => number(usage.total_cost),
  first_token_time: (usage) => usage.first_token_time,
};

export function isAggregate(name: string): boolean {
  return Object.hasOwn(AGGREGATES, name);
}

/** A trace: its root run and the sums of its runs, with just the fields that were selected. */
export function toTrace(row: TraceRunRow, selects: string[], usage?: Usage, links: RunLinks = NO_LINKS) {
  const aggregates = selects.filter(isAggregate);
  return {
    root_run: toRunV2(
      row,
      selects.filter((name) => !isAggregate(name)),
      links,
    ),
    ...(usage &&
      aggregates.length > 0 && {
        trace_aggregates: Object.fromEntries(aggregates.map((name) => [name, AGGREGATES[name]?.(usage)])),
      }),
    query_metadata: null,
  };
}

/** The payload columns from which fields of either version are computed. */
export function payloadsFor(fields: string[]): Payload[] {
  const columns = fields.map((field) => (field === 'manifest' ? 'serialized' : field.replace(/_preview$/, '')));
  return (['inputs', 'outputs', 'extra', 'events', 'serialized', 'metadata'] as const).filter((payload) =>
    columns.includes(payload),
  );
}

export function toStats(stats: RunStats) {
  return {
    ...stats,
    completion_tokens_p50: null,
    completion_tokens_p99: null,
    prompt_tokens_p50: null,
    prompt_tokens_p99: null,
    last_run_start_time: stats.last_run_start_time && naive(stats.last_run_start_time),
    run_facets: [],
  };
}
