import { Injectable, Logger } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { ApiError } from '../http/api-error';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { CronOrchestrator, type CronScheduleState } from '../temporal/cron-orchestrator';
import { CronFiresRepository } from './cron-fires.repository';
import { CronExecutor } from './cron-executor';
import { CronSchedulesService } from './cron-schedules.service';
import { type CronKey, type CronSighting, CronsRepository, type OverdueCron } from './crons.repository';

/** Age at which unfinished work was left by a process that died; doing it twice is harmless. */
const FORGOTTEN_MS = 3_000;
/**
 * A Schedule wakes its cron within a second, and a dead worker's tick is taken over after ten. Later ticks were missed:
 * Temporal 1.29 leaves out the first copy of the hour that the change from summer time repeats, east of Greenwich.
 */
const OVERDUE_MS = 15_000;
/** Between two comparisons with Temporal's list of Schedules. */
const LOOK_MS = 15_000;
/** Temporal's list lags by this much at most. */
const SETTLED_MS = 10_000;
const BATCH = 100;
/** Number of failures in a round after which the rest waits for the next one. */
const MAX_FAILURES = 3;
const FIRES_BATCH = 1_000;

/**
 * Completes interrupted work (outdated Schedules, ticks without a run), ends crons whose time and ticks are over, applies pauses
 * made in Temporal, runs ticks that no Schedule woke, and deletes old ticks.
 */
@Injectable()
@Sweeps(30)
export class CronSweep implements Sweep {
  readonly name = 'crons';
  private readonly logger = new Logger(CronSweep.name);
  private nextLook = 0;

  constructor(
    private readonly config: AppConfig,
    private readonly crons: CronsRepository,
    private readonly fires: CronFiresRepository,
    private readonly schedules: CronSchedulesService,
    private readonly firing: CronExecutor,
    private readonly orchestrator: CronOrchestrator,
  ) {}

  async sweep(): Promise<void> {
    for (const { tenantId, cronId } of await this.crons.findEnded(BATCH)) {
      await this.crons.stopCron(tenantId, cronId, 'end_time', 'Its end_time has passed');
    }
    // Ticks before Schedules: these need the database alone.
    await this.each(await this.fires.findForgotten(FORGOTTEN_MS, BATCH), (cron) => this.firing.startPending(cron));
    await this.fires.deleteOlderThan(this.config.crons.historyMs, FIRES_BATCH);
    await this.each(await this.crons.findUnsynced(FORGOTTEN_MS, BATCH), (cron) => this.schedules.sync(cron));
    await this.each(await this.crons.findOverdue(OVERDUE_MS, BATCH), (cron) => this.catchUp(cron));
    if (performance.now() < this.nextLook) return;
    this.nextLook = performance.now() + LOOK_MS;
    await this.compare(await this.crons.sightings(SETTLED_MS));
  }

  /** The failure of one cron must not delay the others; after several, Temporal or the database is unavailable. */
  private async each<T extends CronKey>(crons: T[], work: (cron: T) => Promise<unknown>): Promise<void> {
    let failures = 0;
    for (const cron of crons) {
      try {
        await work(cron);
      } catch (error) {
        this.logger.warn({ err: error, cron_id: cron.cronId }, 'A cron could not be repaired; it is retried');
        // A refusal, such as that a tenant has too many runs that wait, says nothing about the next cron.
        if (!(error instanceof ApiError) && ++failures === MAX_FAILURES) return;
      }
    }
  }

  /** Checks the Schedule first, since a cron that was just paused in Temporal would run once more. */
  private async catchUp({ tenantId, cronId, revision, nextRunAt }: OverdueCron): Promise<void> {
    const cron = await this.crons.findCron(tenantId, cronId);
    if (!cron) return;
    await this.schedules.adopt(cron, new Date());
    await this.firing.fire({ tenantId, cronId, revision, scheduledAt: nextRunAt.toISOString() });
  }

  /** Temporal's list lags by a moment, so a Schedule that differs is described before anything is changed. */
  private async compare(sightings: CronSighting[]): Promise<void> {
    if (sightings.length === 0) return;
    const listed = new Map<string, CronScheduleState>();
    for await (const { cronId, ...state } of this.orchestrator.list()) listed.set(cronId, state);
    for (const { tenantId, cronId, enabled, settled } of sightings) {
      if (!settled || listed.get(cronId)?.paused === !enabled) continue;
      const cron = await this.crons.findCron(tenantId as TenantId, cronId);
      if (!cron) continue;
      this.logger.log({ cron_id: cronId }, 'A Schedule was changed in Temporal: its cron follows');
      await this.schedules.adopt(cron, new Date());
    }
  }
}
