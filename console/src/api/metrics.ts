import { queryOptions } from '@tanstack/react-query';
import { ApiFailure } from './failure';
import { getJson } from './json';

interface Series {
  labels: Record<string, string>;
  value?: number;
}

/** The JSON form of `/metrics`, as far as it is shown. */
export interface Metrics {
  metrics: Record<string, { series: Series[] } | undefined>;
  /** Processes of workers, and the runs that they may execute at once and do execute. */
  workers?: { processes: number; max: number; active: number };
}

async function readMetrics(): Promise<Metrics | null> {
  try {
    return await getJson<Metrics>('/metrics', { format: 'json' });
  } catch (error) {
    if (error instanceof ApiFailure && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}

/** Metrics of the replica that answers; null for callers who may not read them, for whom they are not requested again. */
export const metricsQuery = queryOptions({
  queryKey: ['metrics'],
  queryFn: readMetrics,
  refetchInterval: ({ state }) => (state.data === null ? false : 5_000),
});

/** A metric, summed over its labels or over those series that have the given ones; undefined where it has no value. */
export function metricOf(
  metrics: Metrics | null | undefined,
  name: string,
  wanted: Record<string, string> = {},
): number | undefined {
  const values = (metrics?.metrics[name]?.series ?? [])
    .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
    .flatMap(({ value }) => value ?? []);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value);
}
