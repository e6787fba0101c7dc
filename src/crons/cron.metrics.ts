import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../metrics/metrics';

/** Results of the ticks of crons, in the process that handles them. */
@Injectable()
export class CronMetrics {
  private readonly ticks: Counter<'outcome'>;

  constructor(metrics: Metrics) {
    this.ticks = metrics.counter({
      name: 'gantry_cron_ticks_total',
      help: 'Ticks of crons: started a run, skipped because of another run, or failed since the run was refused',
      labelNames: ['outcome'],
    });
  }

  tick(outcome: 'started' | 'skipped' | 'failed'): void {
    this.ticks.inc({ outcome });
  }
}
