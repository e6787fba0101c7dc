import { Injectable, OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppConfig } from '../config/config';
import { DatabaseMetrics } from '../database/database.metrics';
import { HttpMetrics } from '../http/http.metrics';
import type { OpenStreams } from '../http/open-streams';
import { Metrics } from '../metrics/metrics';
import { BacklogMetrics } from './backlog.metrics';

/** /metrics: this replica's own figures, and the backlog of the whole deployment. */
@Injectable()
export class MetricsService implements OnModuleInit {
  constructor(
    private readonly config: AppConfig,
    private readonly metrics: Metrics,
    private readonly backlog: BacklogMetrics,
    private readonly http: HttpMetrics,
    private readonly database: DatabaseMetrics,
    private readonly host: HttpAdapterHost<FastifyAdapter>,
  ) {}

  onModuleInit(): void {
    const subscribers = this.metrics.gauge({
      name: 'gantry_stream_subscribers',
      help: 'Connections that wait for a run: for its events, or for its result',
      labelNames: ['kind'],
      collect: () => {
        const streams = this.streams();
        for (const kind of ['events', 'wait'] as const) subscribers.set({ kind }, streams.count(kind));
      },
    });
  }

  toText(): Promise<{ contentType: string; text: string }> {
    return this.metrics.expose();
  }

  /** The JSON form of the public servers; what Gantry counts beside it has names of its own, and is whole in `metrics`. */
  async toJson() {
    const [observed, requests, metrics] = await Promise.all([
      this.backlog.observe(),
      this.http.toJson(),
      this.metrics.toJson(),
    ]);
    const { max, open, idle, waiting } = this.database.pool();
    const streams = this.streams();
    const backlog = observed?.backlog;
    return {
      ...(backlog && {
        queue: {
          n_pending: backlog.runs.pending,
          n_running: backlog.runs.running,
          n_scheduled: backlog.runs.scheduled,
          pending_runs_wait_time_max_secs: backlog.queue.maxAge,
          pending_runs_wait_time_med_secs: backlog.queue.medianAge,
          pending_unblocked_runs_wait_time_max_secs: backlog.queue.unblockedMaxAge,
        },
        webhooks: { n_pending: backlog.webhooks.pending, overdue_secs: backlog.webhooks.overdue },
        crons: { overdue_secs: backlog.crons.overdue },
        exports: { open: backlog.exports },
      }),
      ...(observed?.workers !== undefined && { workers: this.workers(observed.workers, backlog!.runs.running) }),
      api: {
        http_requests_total: requests,
        stream_subscribers: { events: streams.count('events'), wait: streams.count('wait') },
      },
      postgres: { pool_max: max, pool_size: open, pool_available: idle, requests_queued: waiting },
      metrics,
    };
  }

  private workers(processes: number, active: number) {
    const max = processes * this.config.worker.runs;
    return { processes, max, active, available: Math.max(0, max - active) };
  }

  private streams(): OpenStreams {
    return this.host.httpAdapter.getInstance().openStreams;
  }
}
