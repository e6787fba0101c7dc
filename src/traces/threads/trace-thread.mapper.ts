import { parseExactly } from '../../http/exact-json';
import { latencySeconds } from '../instant';
import { count, details, number, preview } from '../query/trace-run.mapper';
import type { FoundStats, FoundStatsSeries, FoundThread, FoundTurn } from './found-threads';
import type { Details } from './trace-threads.repository';

const json = (text: string | null | undefined): unknown => (text == null ? null : parseExactly(text));

/** Sums by category of several details, as `{cache_read: 400, reasoning: 120}`. */
function merged(found: Details, kind: 'token' | 'cost'): Record<string, number> {
  const sums = new Map<string, number>();
  for (const side of ['prompt', 'completion']) {
    for (const [category, amount] of Object.entries(found[`${side}_${kind}_details`] ?? {})) {
      sums.set(category, (sums.get(category) ?? 0) + amount);
    }
  }
  return Object.fromEntries(sums);
}

export function toThread({ row, first, last, failed, ...found }: FoundThread) {
  return {
    thread_id: row.thread_id,
    trace_id: row.last_trace_id,
    start_time: row.last_start_time,
    min_start_time: row.first_start_time,
    max_start_time: row.last_start_time,
    count: row.turns,
    num_errored_turns: row.failed_turns,
    first_trace_id: row.first_trace_id,
    last_trace_id: row.last_trace_id,
    first_inputs: first?.inputs ?? null,
    last_outputs: last?.outputs ?? null,
    last_error: failed?.error ?? null,
    latency_p50: row.latency_p50,
    latency_p99: row.latency_p99,
    total_tokens: count(row.total_tokens),
    total_cost: number(row.total_cost),
    total_token_details: merged(found.details, 'token'),
    total_cost_details: merged(found.details, 'cost'),
    feedback_stats: found.feedback,
    query_metadata: null,
  };
}

/** A thread as the first version gives it: a group of runs, with the filter that finds them. */
export function toRunGroup(found: FoundThread) {
  const { row, first, last, failed } = found;
  return {
    filter: `eq(thread_id, ${JSON.stringify(row.thread_id)})`,
    group_key: row.thread_id,
    count: row.turns,
    total_tokens: count(row.total_tokens),
    prompt_tokens: count(row.prompt_tokens),
    completion_tokens: count(row.completion_tokens),
    total_cost: row.total_cost,
    prompt_cost: row.prompt_cost,
    completion_cost: row.completion_cost,
    min_start_time: row.first_start_time,
    max_start_time: row.last_start_time,
    latency_p50: row.latency_p50,
    latency_p99: row.latency_p99,
    feedback_stats: found.feedback,
    first_inputs: first?.inputs ?? null,
    last_outputs: last?.outputs ?? null,
    last_error: failed?.error ?? null,
  };
}

type Stat = (found: FoundStats) => unknown;
type StatField = [name: string, value: Stat];

const SUMS: [string, Stat][] = [
  ['prompt_tokens', ({ stats }) => count(stats.prompt_tokens)],
  ['completion_tokens', ({ stats }) => count(stats.completion_tokens)],
  ['total_tokens', ({ stats }) => count(stats.total_tokens)],
  ['prompt_cost', ({ stats }) => number(stats.prompt_cost)],
  ['completion_cost', ({ stats }) => number(stats.completion_cost)],
  ['total_cost', ({ stats }) => number(stats.total_cost)],
];
const DETAILS = ['prompt_token_details', 'completion_token_details', 'prompt_cost_details', 'completion_cost_details'];

/** Selectable statistics by their names in lower case: the name in the answer, and the value. */
const COMMON: Record<string, StatField> = {
  ...Object.fromEntries(SUMS.map(([name, value]) => [name, [name, value]])),
  latency_p50: ['latency_p50_seconds', ({ stats }) => stats.latency_p50],
  latency_p99: ['latency_p99_seconds', ({ stats }) => stats.latency_p99],
};

const ONE: Record<string, StatField> = {
  ...COMMON,
  turns: ['turns', ({ stats }) => stats.turns],
  first_start_time: ['first_start_time', ({ stats }) => stats.first_start_time],
  last_start_time: ['last_start_time', ({ stats }) => stats.last_start_time],
  last_end_time: ['last_end_time', ({ stats }) => stats.last_end_time],
  ...Object.fromEntries(
    DETAILS.map((name) => [name, [name, (found) => ({ raw: found.details[name] ?? {} })] as StatField]),
  ),
  feedback_stats: ['feedback_stats', ({ feedback }) => feedback],
};

const ALL: Record<string, StatField> = {
  ...COMMON,
  thread_count: ['thread_count', ({ stats }) => stats.threads],
  trace_count: ['trace_count', ({ stats }) => stats.turns],
  error_rate: ['error_rate', ({ stats }) => stats.error_rate],
  streaming_rate: ['streaming_rate', ({ stats }) => stats.streaming_rate],
  median_tokens: ['median_tokens', ({ stats }) => stats.median_tokens],
  first_token_p50: ['first_token_p50_seconds', ({ stats }) => stats.first_token_p50],
  first_token_p99: ['first_token_p99_seconds', ({ stats }) => stats.first_token_p99],
  ...Object.fromEntries(DETAILS.map((name) => [name, [name, (found) => found.details[name] ?? {}] as StatField])),
  thread_feedback_stats: ['thread_feedback_stats', ({ feedback }) => feedback],
};

export const isStatField = (name: string): boolean => Object.hasOwn(ONE, name);
export const isThreadsStatField = (name: string): boolean => Object.hasOwn(ALL, name);

const pick = (fields: Record<string, StatField>, found: FoundStats, names: string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.map((selected) => {
      const [name, value] = fields[selected];
      return [name, value(found)];
    }),
  );

/** The statistics of one thread that were selected. */
export const toThreadStats = (found: FoundStats, names: string[]) => pick(ONE, found, names);
/** The statistics of all threads that were selected. */
export const toThreadsStats = (found: FoundStats, names: string[]) => pick(ALL, found, names);
/** The same for each time slot. */
export const toThreadsStatsSeries = (series: FoundStatsSeries, names: string[]) => ({
  buckets: [...series].map(([start, found]) => ({ bucket_start_time: start, ...toThreadsStats(found, names) })),
});

type TurnValue = (turn: FoundTurn) => unknown;
const usageDetails =
  (name: string): TurnValue =>
  ({ usage }) => ({ raw: (usage && details(usage, name)) ?? {} });

/** Selectable fields of a thread's traces. Tokens and costs are those of all runs of the trace. */
const TURN: Record<string, TurnValue> = {
  thread_id: ({ row }) => row.thread_id,
  trace_id: ({ row }) => row.trace_id,
  // A code that the hosted platform gives its run types: clients are advised to read the run's type instead.
  op: () => null,
  turn_number: ({ turnNumber }) => turnNumber ?? null,
  name: ({ row }) => row.name,
  start_time: ({ row }) => row.start_time,
  end_time: ({ row }) => row.end_time,
  latency: ({ row }) => latencySeconds(row.start_time, row.end_time),
  first_token_time: ({ usage }) => usage?.first_token_time ?? null,
  inputs: ({ row }) => json(row.inputs),
  outputs: ({ row }) => json(row.outputs),
  inputs_preview: ({ row }) => preview(row.inputs),
  outputs_preview: ({ row }) => preview(row.outputs),
  error: ({ row }) => row.error,
  error_preview: ({ row }) => preview(row.error),
  prompt_tokens: ({ usage }) => count(usage?.prompt_tokens ?? null),
  completion_tokens: ({ usage }) => count(usage?.completion_tokens ?? null),
  total_tokens: ({ usage }) => count(usage?.total_tokens ?? null),
  prompt_cost: ({ usage }) => number(usage?.prompt_cost ?? null),
  completion_cost: ({ usage }) => number(usage?.completion_cost ?? null),
  total_cost: ({ usage }) => number(usage?.total_cost ?? null),
  ...Object.fromEntries(DETAILS.map((name) => [name, usageDetails(name)])),
};

export const isTurnField = (name: string): boolean => Object.hasOwn(TURN, name);

/** A trace of a thread with the fields that were selected; its id is always there. */
export function toTurn(turn: FoundTurn, names: string[]): Record<string, unknown> {
  return Object.fromEntries([...new Set(['trace_id', ...names])].map((name) => [name, TURN[name]?.(turn)]));
}
