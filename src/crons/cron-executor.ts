import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EntitlementsService } from '../auth/entitlements.service';
import type { TenantId } from '../auth/tenant';
import { ApiError } from '../http/api-error';
import { toApiTime } from '../http/api-time';
import { CronOrchestrator } from '../temporal/cron-orchestrator';
import type { FireCronInput, FireCronResult } from '../../workflows/contracts/cron.contract';
import { CronEntity } from './cron.entity';
import { CronMetrics } from './cron.metrics';
import { cronErrors } from './cron.errors';
import { CronFireEntity } from './cron-fire.entity';
import { CronFiresRepository, type NewFire } from './cron-fires.repository';
import { CronRuns } from './cron-runs';
import { CronSchedule } from './cron-schedule';
import { CronSchedulesService } from './cron-schedules.service';
import { type CronKey, CronsRepository } from './crons.repository';

/** Lateness after which a tick was missed, with `catchup: skip`. */
const LATE_MS = 60_000;
/** Maximum of missed ticks that run with `catchup: all`: the latest ones. */
const MAX_CAUGHT_UP = 100;
/** Missed ticks are counted up to here. */
const MAX_COUNTED = 1_000;
const BATCH = 50;
/** HTTP status of a refusal because the tenant has too many runs that wait. */
const TOO_MANY = 429;
const NOT_ENTITLED = 'Crons are switched off for this tenant';

type Plan = Exclude<FireCronResult['outcome'], 'gone'>;

/** Creates exactly one run for each tick of a cron, whichever process dies meanwhile. */
@Injectable()
export class CronExecutor {
  private readonly logger = new Logger(CronExecutor.name);

  constructor(
    private readonly crons: CronsRepository,
    private readonly fires: CronFiresRepository,
    private readonly schedules: CronSchedulesService,
    private readonly orchestrator: CronOrchestrator,
    private readonly runs: CronRuns,
    private readonly entitlements: EntitlementsService,
    private readonly metrics: CronMetrics,
  ) {}

  /** Handles a wake-up by the cron's Schedule: decides which ticks are due, and starts a run for each. */
  async fire(input: FireCronInput): Promise<FireCronResult> {
    const { cronId } = input;
    const tenantId = input.tenantId as TenantId;
    const scheduledAt = input.scheduledAt === undefined ? undefined : new Date(input.scheduledAt);
    const known = await this.crons.findCron(tenantId, cronId);
    // A Schedule that wakes although the row is paused was resumed in Temporal, unless the pause is younger than the tick.
    if (known && !known.enabled && scheduledAt) {
      await this.schedules.adopt(known, new Date(scheduledAt.getTime() - 1));
    }
    // Ticks of an earlier attempt that died or failed come first: while they can't get their runs, nothing more is planned, and
    // the catch-up rule decides later about what was missed meanwhile.
    const earlier = await this.startPending({ tenantId, cronId });
    const isEntitled = await this.entitlements.has(tenantId, 'crons');
    const outcome = await this.crons.locked(tenantId, cronId, (cron, manager) =>
      scheduledAt ? this.plan(cron, manager, scheduledAt, { ...input, isEntitled }) : Promise.resolve<Plan>('fired'),
    );
    if (outcome === null) {
      await this.orchestrator.deleteSchedule(cronId);
      return { outcome: 'gone', runIds: [] };
    }
    const runIds = [...earlier, ...(await this.startPending({ tenantId, cronId }))];
    return { outcome: runIds.length > 0 ? 'fired' : outcome, runIds };
  }

  /** Creates the runs of recorded ticks. Resolves to the ids of those created here. */
  async startPending({ tenantId, cronId }: CronKey): Promise<string[]> {
    const runIds: string[] = [];
    for (;;) {
      const pending = await this.fires.pending(tenantId, cronId, BATCH);
      const cron = pending.length > 0 && (await this.crons.findCron(tenantId, cronId));
      if (!cron) return runIds;
      for (const fire of pending) {
        const run = await this.runs.createRunOfTick(cron, fire).catch((error: unknown) => {
          // The tick was accepted: what is refused at this moment only is retried, like what fails.
          if (!isRefusal(error) || error.status === TOO_MANY) throw error;
          return this.onRefused(cron, fire, error);
        });
        if (!run) continue;
        runIds.push(run.runId);
        this.metrics.tick('started');
      }
    }
  }

  /**
   * Creates a run now on request, also for a paused cron.
   * @throws {ApiError} 404 for an unknown cron; 409 for a stopped one; whatever refuses a run, which ends the tick: the caller decides
   *   whether to try again
   */
  async trigger(tenantId: TenantId, cronId: string): Promise<CronFireEntity> {
    const now = await this.crons.now();
    const placed = await this.crons.locked(tenantId, cronId, async (cron, manager) => {
      if (cron.stoppedBy === 'thread' || cron.stoppedBy === 'assistant') {
        throw cronErrors.stopped(cron.statusReason ?? cron.stoppedBy);
      }
      const fireId = await this.placeByHand(cron, manager, now);
      return { cron, fire: await manager.findOneByOrFail(CronFireEntity, { tenantId, fireId }) };
    });
    if (!placed) throw cronErrors.notFound();
    try {
      await this.runs.createRunOfTick(placed.cron, placed.fire, true);
      this.metrics.tick('started');
    } catch (error) {
      if (isRefusal(error)) await this.onRefused(placed.cron, placed.fire, error);
      throw error;
    }
    return placed.fire;
  }

  private async plan(
    cron: CronEntity,
    manager: EntityManager,
    scheduledAt: Date,
    { revision, isEntitled }: { revision: number; isEntitled: boolean },
  ): Promise<Plan> {
    const schedule = new CronSchedule(cron.schedule, cron.timezone, cron.endTime);
    if (!schedule.isTick(scheduledAt)) {
      // An operator pressed "Trigger" in Temporal; or it is a tick of a schedule that the cron doesn't have any more.
      if (revision !== cron.revision || cron.stoppedBy) return 'nothing due';
      const byHand: NewFire = { scheduledAt, trigger: 'manual', status: 'pending' };
      if (!isEntitled) skip(byHand, NOT_ENTITLED);
      await this.fires.insertFires(manager, cron, [byHand]);
      return 'fired';
    }
    if (!cron.enabled) return 'paused';
    const now = await this.crons.now(manager);
    const until = scheduledAt > now ? scheduledAt : now;
    const newest = schedule.last(cron.lastTickAt, until);
    if (!newest) return 'nothing due';
    const ticks = this.select(cron, schedule, newest, until);
    if (!isEntitled) for (const tick of ticks) skip(tick, NOT_ENTITLED);
    if (cron.overlap === 'skip') await this.skipOverlapping(cron, manager, ticks);
    await this.fires.insertFires(manager, cron, ticks);
    const progress = { lastTickAt: newest, nextRunAt: schedule.next(newest) };
    await manager.update(CronEntity, { tenantId: cron.tenantId, cronId: cron.cronId }, progress);
    return 'fired';
  }

  /** The ticks since the last one that run by the cron's catch-up rule. */
  private select(cron: CronEntity, schedule: CronSchedule, newest: Date, until: Date): NewFire[] {
    const due = schedule.between(cron.lastTickAt, newest, MAX_COUNTED + 1);
    const missed = (run: number): number => Math.min(MAX_COUNTED, due.length - run);
    const tick = { trigger: 'schedule', status: 'pending' } as const;
    if (cron.catchup === 'all') {
      // More than were counted are so many that only the latest are wanted.
      const wanted = due.length > MAX_COUNTED ? latest(schedule, newest, MAX_CAUGHT_UP) : due.slice(-MAX_CAUGHT_UP);
      return wanted.map((scheduledAt, index) => ({
        ...tick,
        scheduledAt,
        missed: index === 0 ? missed(wanted.length) : 0,
      }));
    }
    const lateMs = until.getTime() - newest.getTime();
    if (cron.catchup === 'skip' && lateMs > LATE_MS) {
      const error = `Missed: ${Math.round(lateMs / 1000)} s late, and the cron's catchup is skip`;
      return [{ ...tick, status: 'skipped', scheduledAt: newest, missed: missed(1), error }];
    }
    return [{ ...tick, scheduledAt: newest, missed: missed(1) }];
  }

  private async skipOverlapping(cron: CronEntity, manager: EntityManager, ticks: NewFire[]): Promise<void> {
    let isOpen = await this.fires.isOpen(manager, cron);
    for (const tick of ticks) {
      if (tick.status === 'skipped') continue;
      if (isOpen) skip(tick, "The cron's earlier run was still running");
      isOpen = true;
    }
  }

  private async placeByHand(cron: CronEntity, manager: EntityManager, at: Date): Promise<string> {
    // Not at a full second, so that it doesn't collide with a tick of the schedule.
    for (let time = at.getTime() % 1000 === 0 ? at.getTime() + 1 : at.getTime(); ; time += 1) {
      const tick: NewFire = { scheduledAt: new Date(time), trigger: 'manual', status: 'pending' };
      const [fireId] = await this.fires.insertFires(manager, cron, [tick]);
      if (fireId !== undefined) return fireId;
    }
  }

  /** A refused run ends its tick, and perhaps the cron. */
  private async onRefused(cron: CronEntity, fire: CronFireEntity, error: ApiError): Promise<null> {
    const { cronId } = cron;
    const tenantId = cron.tenantId as TenantId;
    this.logger.warn({ cron_id: cronId, code: error.code, detail: error.detail }, "A cron's run was refused");
    const isBusy = error.code === 'thread_busy';
    this.metrics.tick(isBusy ? 'skipped' : 'failed');
    if (!(await this.fires.closeFire(fire, isBusy ? 'skipped' : 'failed', error.detail)) || isBusy) return null;
    await this.crons.recordFailure(tenantId, cronId, {
      run_id: null,
      scheduled_at: toApiTime(fire.scheduledAt),
      failed_at: toApiTime(new Date()),
      error: error.detail,
    });
    if (error.code === 'thread_not_found') {
      // For its owner, a thread that the custom auth excludes doesn't exist either.
      const isThere = cron.threadId !== null && (await this.crons.isThreadThere(tenantId, cron.threadId));
      const reason = isThere ? "no longer belongs to the cron's owner" : 'was deleted';
      await this.crons.stopCron(tenantId, cronId, 'thread', `Thread ${cron.threadId} ${reason}`);
    } else if (error.code === 'assistant_not_found') {
      await this.crons.stopCron(tenantId, cronId, 'assistant', `Assistant ${cron.assistantId} was deleted`);
    }
    return null;
  }
}

/** Whether a run was refused; all other errors are failures of the server. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500;
}

function skip(tick: NewFire, error: string): void {
  Object.assign(tick, { status: 'skipped', error } satisfies Partial<NewFire>);
}

/** The last ticks up to one of them, oldest first. */
function latest(schedule: CronSchedule, newest: Date, count: number): Date[] {
  const ticks = [newest];
  const start = new Date(0);
  while (ticks.length < count) {
    const earlier = schedule.last(start, new Date(ticks[0].getTime() - 1));
    if (!earlier) break;
    ticks.unshift(earlier);
  }
  return ticks;
}
