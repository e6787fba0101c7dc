import { Injectable } from '@nestjs/common';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { Metrics } from '../metrics/metrics';
import type { RunEnd } from '../streams/run-event';
import type { RunEntity } from './run.entity';

/** Metrics of runs in a worker. */
@Injectable()
export class RunMetrics {
  private readonly ended: Counter<'graph' | 'status'>;
  private readonly attempts: Counter<'graph' | 'outcome'>;
  private readonly execution: Histogram<'graph' | 'status'>;
  private readonly queueing: Histogram<'graph'>;
  private readonly active: Gauge;

  constructor(metrics: Metrics) {
    this.ended = metrics.counter({
      name: 'gantry_runs_ended_total',
      help: 'Runs by how they ended; deleted: rolled back',
      labelNames: ['graph', 'status'],
    });
    this.attempts = metrics.counter({
      name: 'gantry_run_attempts_total',
      help: 'Attempts at runs; handed-back: returned by a worker that is stopping; broken: lost because the worker or the database failed',
      labelNames: ['graph', 'outcome'],
    });
    this.execution = metrics.histogram({
      name: 'gantry_run_execution_seconds',
      help: 'Time from the first attempt of a run to its end, retries included',
      labelNames: ['graph', 'status'],
    });
    this.queueing = metrics.histogram({
      name: 'gantry_run_queue_wait_seconds',
      help: 'Time from when a run may begin to its first attempt, including its wait for the thread',
      labelNames: ['graph'],
    });
    this.active = metrics.gauge({ name: 'gantry_runs_active', help: 'Runs that this worker executes at the moment' });
  }

  attemptBegun({ graphId, attempt, scheduledAt, startedAt }: RunEntity): void {
    this.active.inc();
    if (attempt === 1 && startedAt) this.queueing.observe({ graph: graphId }, secondsBetween(scheduledAt, startedAt));
  }

  attemptEnded({ graphId }: RunEntity, outcome: 'finished' | 'handed-back' | 'broken'): void {
    this.active.dec();
    this.attempts.inc({ graph: graphId, outcome });
  }

  runEnded({ graphId, startedAt }: RunEntity, status: RunEnd['status']): void {
    this.ended.inc({ graph: graphId, status });
    if (startedAt) this.execution.observe({ graph: graphId, status }, secondsBetween(startedAt, new Date()));
  }
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 1000;
}
