import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../metrics/metrics';
import { METHODS_0_3, METHODS_1_0 } from './a2a.schemas';

/** Other method names of callers must not create series. */
const UNKNOWN_METHOD = 'unknown';

/** Metrics of A2A calls in an api. */
@Injectable()
export class A2aMetrics {
  private readonly calls: Counter<'method' | 'outcome'>;

  constructor(metrics: Metrics) {
    this.calls = metrics.counter({
      name: 'gantry_a2a_calls_total',
      help: 'A2A calls that were answered, by method; outcome: ok, or the code of the JSON-RPC error. Streams when they begin',
      labelNames: ['method', 'outcome'],
    });
  }

  answered(method: string, errorCode: number | undefined): void {
    const isKnown = Object.hasOwn(METHODS_1_0, method) || Object.hasOwn(METHODS_0_3, method);
    this.calls.inc({ method: isKnown ? method : UNKNOWN_METHOD, outcome: String(errorCode ?? 'ok') });
  }
}
