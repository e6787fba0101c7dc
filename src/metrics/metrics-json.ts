import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

/** One set of labels of a metric: a value or, of a histogram or summary, what was observed. */
export interface MetricSeries {
  labels: Record<string, string | number>;
  value?: number;
  count?: number;
  sum?: number;
  /** Observations up to each bound (or, of a summary, the value at each quantile), by the bound. */
  buckets?: Record<string, number>;
}

export interface MetricFamily {
  type: string;
  help: string;
  series: MetricSeries[];
}

type Metric = MetricObjectWithValues<MetricValueWithName<string>>;

/** The exposition as JSON, for those who look at a figure and don't want to read another format for it. */
export function toMetricFamilies(metrics: Metric[]): Record<string, MetricFamily> {
  return Object.fromEntries(
    metrics.map((metric) => {
      const { name, type, help } = metric;
      return [name, { type: String(type), help, series: seriesOf(metric) }];
    }),
  );
}

function seriesOf({ name, values }: Metric): MetricSeries[] {
  const series = new Map<string, MetricSeries>();
  for (const { labels, value, metricName = name } of values) {
    const { le, quantile, ...own } = labels as Record<string, string | number>;
    const key = JSON.stringify(own);
    const entry = series.get(key) ?? { labels: own };
    series.set(key, entry);
    const bound = le ?? quantile;
    if (bound !== undefined) entry.buckets = { ...entry.buckets, [String(bound)]: value };
    else if (metricName === `${name}_sum`) entry.sum = value;
    else if (metricName === `${name}_count`) entry.count = value;
    else entry.value = value;
  }
  return [...series.values()];
}
