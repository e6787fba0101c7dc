import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import type { Page } from '../http/pagination';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { CronOrchestrator } from '../temporal/cron-orchestrator';
import { CronAccess } from './cron-access';
import { cronErrors } from './cron.errors';
import { CronFiresRepository, type FireWithRun } from './cron-fires.repository';
import { CronExecutor } from './cron-executor';
import { CronSchedule } from './cron-schedule';
import { CronsRepository } from './crons.repository';
import type { Backfill, CronRunsQuery } from './crons.schemas';

/** The most ticks of one backfill: each is a run. */
const MAX_BACKFILL = 1_000;

export interface BackfillResult {
  ticks: number;
  alreadyFired: number;
  fires: FireWithRun[];
}

/** Requests for ticks of crons, and their history. */
@Injectable()
export class CronTicksService {
  constructor(
    private readonly crons: CronsRepository,
    private readonly fires: CronFiresRepository,
    private readonly firing: CronExecutor,
    private readonly orchestrator: CronOrchestrator,
    private readonly access: CronAccess,
  ) {}

  /** One run now, beside the schedule and also while it is paused. */
  async triggerCron(tenantId: TenantId, cronId: string): Promise<FireWithRun> {
    await this.access.checkAccess(tenantId, cronId, 'update');
    const { fireId } = await this.firing.trigger(tenantId, cronId);
    const [fire] = await this.fires.findByIds(tenantId, [fireId]);
    return fire;
  }

  /**
   * Runs every tick of a range, oldest first, regardless of the cron's rules for missed and overlapping ticks. Recorded ticks
   * are left out.
   * @throws {ApiError} 404; 409 when its thread or assistant is gone; 422 for a range in the future or with too many ticks
   */
  async backfillCron(tenantId: TenantId, cronId: string, { start, end }: Backfill): Promise<BackfillResult> {
    await this.access.checkAccess(tenantId, cronId, 'update');
    if (end < start) throw cronErrors.backfillOrder();
    if (end > (await this.crons.now())) throw cronErrors.backfillAhead();
    const placed = await this.crons.locked(tenantId, cronId, async (cron, manager) => {
      if (cron.stoppedBy === 'thread' || cron.stoppedBy === 'assistant') {
        throw cronErrors.stopped(cron.statusReason ?? cron.stoppedBy);
      }
      const schedule = new CronSchedule(cron.schedule, cron.timezone, cron.endTime);
      const ticks = schedule.between(new Date(start.getTime() - 1), end, MAX_BACKFILL + 1);
      if (ticks.length > MAX_BACKFILL) throw cronErrors.backfillTooLarge(MAX_BACKFILL);
      const tick = { trigger: 'backfill', status: 'pending' } as const;
      const fireIds = await this.fires.insertFires(
        manager,
        cron,
        ticks.map((scheduledAt) => ({ ...tick, scheduledAt })),
      );
      return { cron, ticks: ticks.length, fireIds };
    });
    if (!placed) throw cronErrors.notFound();
    const { cron, ticks, fireIds } = placed;
    if (fireIds.length > 0) {
      await startOrLeaveToSweep('Backfill', { cron_id: cronId }, () => this.orchestrator.wake(cron, fireIds[0]));
    }
    const fires = await this.fires.findByIds(tenantId, fireIds);
    return { ticks, alreadyFired: ticks - fires.length, fires };
  }

  /** The history of the cron's ticks, newest first. */
  async listTicks(tenantId: TenantId, cronId: string, page: CronRunsQuery): Promise<Page<FireWithRun>> {
    await this.access.checkAccess(tenantId, cronId, 'read');
    if (!(await this.crons.findCron(tenantId, cronId))) throw cronErrors.notFound();
    return this.fires.listFires(tenantId, cronId, page);
  }
}
