import { Injectable } from '@nestjs/common';
import {
  collectDefaultMetrics,
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';
import { AppConfig } from '../config/config';
import { type MetricFamily, toMetricFamilies } from './metrics-json';

/**
 * Bounds, in seconds, of what a person or an agent waits for: from a request of some milliseconds to a run of a day.
 * One set for all, so that dashboards can lay the histograms over each other.
 */
export const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 28_800, 86_400,
];

/**
 * The process's metrics. Features declare theirs here once, in their x.metrics.ts. Labels are always of a bounded set
 * (a route's pattern, a status, a graph of langgraph.json), never an id, a tenant or anything else that a caller makes up.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  constructor(config: AppConfig) {
    collectDefaultMetrics({ register: this.registry });
    this.gauge({ name: 'gantry_info', help: 'Release of the process; always 1', labelNames: ['version'] }).set(
      { version: config.version },
      1,
    );
  }

  counter<T extends string>(options: CounterConfiguration<T>): Counter<T> {
    return new Counter({ ...options, registers: [this.registry] });
  }

  gauge<T extends string>(options: GaugeConfiguration<T>): Gauge<T> {
    return new Gauge({ ...options, registers: [this.registry] });
  }

  /** Makes a histogram in seconds, with the bounds of DURATION_BUCKETS unless others are given. */
  histogram<T extends string>(options: HistogramConfiguration<T>): Histogram<T> {
    return new Histogram({ buckets: DURATION_BUCKETS, ...options, registers: [this.registry] });
  }

  /** The Prometheus text format, and its content type. */
  async expose(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  /** The same by name, as JSON. */
  async toJson(): Promise<Record<string, MetricFamily>> {
    return toMetricFamilies(await this.registry.getMetricsAsJSON());
  }
}
