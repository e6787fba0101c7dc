import { Injectable } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import { Metrics } from '../metrics/metrics';
import type { AttemptOutcome } from './attempt.entity';
import type { DeliveryStatus } from './delivery.entity';

/** Metrics of webhook deliveries in a worker. Hosts are no label, since callers choose them. */
@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;
  private readonly deliveries: Counter<'status'>;
  private readonly latency: Histogram<'outcome'>;

  constructor(metrics: Metrics) {
    this.attempts = metrics.counter({
      name: 'gantry_webhook_attempts_total',
      help: 'Attempts at webhook deliveries',
      labelNames: ['outcome'],
    });
    this.deliveries = metrics.counter({
      name: 'gantry_webhook_deliveries_total',
      help: 'Webhook deliveries that have ended',
      labelNames: ['status'],
    });
    this.latency = metrics.histogram({
      name: 'gantry_webhook_attempt_seconds',
      help: "From the attempt's start to the receiver's answer or its failure",
      labelNames: ['outcome'],
    });
  }

  attempted(outcome: AttemptOutcome, durationMs: number, status: DeliveryStatus): void {
    this.attempts.inc({ outcome });
    this.latency.observe({ outcome }, durationMs / 1000);
    if (status !== 'pending') this.deliveries.inc({ status });
  }
}
