import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../metrics/metrics';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { atMost, LATE } from '../time/at-most';
import { type Backlog, BacklogRepository } from './backlog.repository';

/** However many scrape however often, the database and Temporal are asked this often at most. */
const FRESH_MS = 5_000;
const TEMPORAL_TIMEOUT_MS = 2_000;
/** Time that a scrape waits for the database. */
const ANSWER_TIMEOUT_MS = 5_000;

export interface Observed {
  backlog: Backlog;
  /** Worker processes that poll for runs; undefined while Temporal doesn't answer. */
  workers: number | undefined;
}

/**
 * The state of the whole deployment, as gauges. Every api replica shows the same figures: take the maximum over replicas,
 * not the sum. While the database doesn't answer within five seconds the gauges are absent, and `gantry_backlog_up` is 0.
 */
@Injectable()
export class BacklogMetrics {
  private readonly logger = new Logger(BacklogMetrics.name);
  private latest: { beganAt: number; isOpen: boolean; value: Promise<Observed | undefined> } | undefined;
  private readonly gauges: ReturnType<typeof declareGauges>;

  constructor(
    metrics: Metrics,
    private readonly repository: BacklogRepository,
    private readonly runs: RunOrchestrator,
  ) {
    this.gauges = declareGauges(metrics, () => this.collect());
  }

  /** The latest observation, at most five seconds old; undefined while the database doesn't answer within five seconds. */
  async observe(): Promise<Observed | undefined> {
    const observed = await atMost(ANSWER_TIMEOUT_MS, this.readIfStale());
    return observed === LATE ? undefined : observed;
  }

  /** A read that is still open is the latest, however old: each further one would occupy another connection of the pool. */
  private readIfStale(): Promise<Observed | undefined> {
    const { latest } = this;
    if (latest && (latest.isOpen || performance.now() - latest.beganAt <= FRESH_MS)) return latest.value;
    const begun = { beganAt: performance.now(), isOpen: true, value: this.read() };
    void begun.value.then(() => (begun.isOpen = false));
    this.latest = begun;
    return begun.value;
  }

  private async read(): Promise<Observed | undefined> {
    try {
      // Its own time limit begins once there is a connection.
      const counted = atMost(TEMPORAL_TIMEOUT_MS, this.runs.countWorkers(TEMPORAL_TIMEOUT_MS)).catch(
        (): typeof LATE => LATE,
      );
      const [backlog, workers] = await Promise.all([this.repository.readBacklog(), counted]);
      return { backlog, workers: workers === LATE ? undefined : workers };
    } catch (error) {
      this.logger.warn({ err: error }, 'The backlog could not be read for the metrics');
      return undefined;
    }
  }

  private async collect(): Promise<void> {
    const observed = await this.observe();
    const { up, runs, queueAge, unblockedAge, deliveries, overdue, lateTicks, exports, workers } = this.gauges;
    up.set(observed ? 1 : 0);
    for (const gauge of [runs, exports]) gauge.reset();
    for (const gauge of [queueAge, unblockedAge, deliveries, overdue, lateTicks, workers]) gauge.remove();
    if (!observed) return;
    const { backlog } = observed;
    for (const [status, count] of Object.entries(backlog.runs)) runs.set({ status }, count);
    for (const [status, count] of Object.entries(backlog.exports)) exports.set({ status }, count);
    queueAge.set(backlog.queue.maxAge);
    unblockedAge.set(backlog.queue.unblockedMaxAge);
    deliveries.set(backlog.webhooks.pending);
    overdue.set(backlog.webhooks.overdue);
    lateTicks.set(backlog.crons.overdue);
    if (observed.workers !== undefined) workers.set(observed.workers);
  }
}

/** @param collect asked by each of them when it is read, since they are read at the same time; it fills all of them. */
function declareGauges(metrics: Metrics, collect: () => Promise<void>) {
  return {
    up: metrics.gauge({
      name: 'gantry_backlog_up',
      help: 'Whether the database answered when the other figures of the backlog were read',
      collect,
    }),
    runs: metrics.gauge({
      name: 'gantry_runs',
      help: 'Runs in flight in the deployment; scheduled: their time has not come',
      labelNames: ['status'],
      collect,
    }),
    queueAge: metrics.gauge({
      name: 'gantry_run_queue_age_seconds',
      help: 'How long the oldest run that is due has been pending; 0 when none is',
      collect,
    }),
    unblockedAge: metrics.gauge({
      name: 'gantry_run_queue_unblocked_age_seconds',
      help: 'The same for runs that wait for a worker only, and not for another run of their thread',
      collect,
    }),
    deliveries: metrics.gauge({
      name: 'gantry_webhook_deliveries_pending',
      help: 'Webhook deliveries without an end, those between two attempts included',
      collect,
    }),
    overdue: metrics.gauge({
      name: 'gantry_webhook_overdue_seconds',
      help: 'For how long the most overdue webhook attempt has been due',
      collect,
    }),
    lateTicks: metrics.gauge({
      name: 'gantry_cron_overdue_seconds',
      help: 'For how long the most overdue tick of a cron has been due',
      collect,
    }),
    exports: metrics.gauge({
      name: 'gantry_exports_open',
      help: 'Bulk exports without an end; Created: waiting for its turn, IntervalScheduled: a schedule',
      labelNames: ['status'],
      collect,
    }),
    workers: metrics.gauge({
      name: 'gantry_workers',
      help: 'Worker processes that have asked Temporal for runs within the last two minutes',
      collect,
    }),
  };
}
