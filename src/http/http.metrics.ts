import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Counter, Histogram } from 'prom-client';
import { Metrics } from '../metrics/metrics';
import { statusOf, whenAnswered } from '../telemetry/answered';

/** Probes and scrapes would otherwise be most of the requests. */
const UNCOUNTED = new Set(['/', '/ok', '/ready', '/metrics']);
/** One label for all paths without a route: a scanner must not create a series for each. */
const NO_ROUTE = 'none';

/** Finer than the usual buckets below a second, up to the time at which proxies give up. */
const BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface JsonRequests {
  method: string;
  path: string;
  status: number;
  count: number;
}

/** Requests by the pattern of their route, never by their address: a pattern has no ids. */
@Injectable()
export class HttpMetrics {
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly latency: Histogram<'method' | 'route'>;

  constructor(metrics: Metrics) {
    this.requests = metrics.counter({
      name: 'gantry_http_requests_total',
      help: 'Requests that were answered',
      labelNames: ['method', 'route', 'status'],
    });
    this.latency = metrics.histogram({
      name: 'gantry_http_request_duration_seconds',
      help: 'From the request to its answer; for streams and waits, to the beginning of the answer',
      labelNames: ['method', 'route'],
      buckets: BUCKETS,
    });
  }

  /** Counts every request of the application from now on. */
  observe(app: NestFastifyApplication): void {
    app
      .getHttpAdapter()
      .getInstance()
      .addHook('onRequest', (request, reply, done) => {
        whenAnswered(reply, () => this.count(request, reply));
        done();
      });
  }

  /** The counts in the form that the JSON of /metrics has them in. */
  async toJson(): Promise<JsonRequests[]> {
    const { values } = await this.requests.get();
    return values.map(({ labels, value }) => ({
      method: String(labels.method),
      path: String(labels.route),
      status: Number(labels.status),
      count: value,
    }));
  }

  private count(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url ?? NO_ROUTE;
    if (UNCOUNTED.has(route)) return;
    this.requests.inc({ method: request.method, route, status: statusOf(reply) });
    this.latency.observe({ method: request.method, route }, (request.answeredAfterMs ?? reply.elapsedTime) / 1000);
  }
}
