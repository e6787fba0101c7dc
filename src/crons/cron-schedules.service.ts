import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { CronOrchestrator } from '../temporal/cron-orchestrator';
import { CronEntity } from './cron.entity';
import { CronSchedule } from './cron-schedule';
import { type CronKey, CronsRepository } from './crons.repository';
import { canonicalZone } from './time-zone';

/**
 * Synchronizes crons and their Schedules: changes of the row are applied to the Schedule, and a pause in Temporal to the row.
 */
@Injectable()
export class CronSchedulesService {
  constructor(
    private readonly crons: CronsRepository,
    private readonly orchestrator: CronOrchestrator,
  ) {}

  /**
   * Applies the row to the Schedule, under the row's lock, so that an older state can't overtake a newer one; safe to repeat. A
   * deleted cron's row goes with its Schedule.
   */
  async sync({ tenantId, cronId }: CronKey): Promise<void> {
    await this.crons.locked(
      tenantId,
      cronId,
      async (cron, manager) => {
        if (cron.deletedAt) {
          await this.orchestrator.deleteSchedule(cronId);
          await manager.delete(CronEntity, { tenantId, cronId });
        } else if (cron.revision !== cron.syncedRevision) {
          await this.put(cron);
          await manager.update(CronEntity, { tenantId, cronId }, { syncedRevision: cron.revision });
        }
      },
      { withDeleted: true },
    );
  }

  /** The same for a caller whose own work is done: failures are left to the sweep. */
  async trySync(cron: CronKey): Promise<void> {
    await startOrLeaveToSweep('Change of the Schedule', { cron_id: cron.cronId }, () => this.sync(cron));
  }

  /**
   * Applies changes made in Temporal: a pause or resumption of the Schedule; a deletion is undone.
   * @param since ticks up to here are not made up for when the Schedule was resumed
   */
  async adopt(cron: CronEntity, since: Date): Promise<void> {
    const { cronId, revision } = cron;
    const tenantId = cron.tenantId as TenantId;
    if (revision !== cron.syncedRevision) return;
    const schedule = await this.orchestrator.describeSchedule(cronId);
    if (!schedule || (!schedule.paused && cron.stoppedBy)) return this.crons.forgetSync(tenantId, cronId);
    if (schedule.paused !== cron.enabled) return;
    if (schedule.paused) {
      const statusReason = schedule.note || 'Paused in Temporal';
      await this.crons.adopt(tenantId, cronId, revision, { enabled: false, statusReason, nextRunAt: null });
    } else {
      const nextRunAt = new CronSchedule(cron.schedule, cron.timezone, cron.endTime).next(since);
      const resumed = { enabled: true, statusReason: null, nextRunAt, lastTickAt: since };
      await this.crons.adopt(tenantId, cronId, revision, resumed);
    }
  }

  private put(cron: CronEntity): Promise<void> {
    const { cronId, tenantId, revision, schedule: expression, timezone, endTime, enabled, statusReason } = cron;
    return this.orchestrator.putSchedule({
      cronId,
      tenantId,
      revision,
      expression,
      calendars: new CronSchedule(expression, timezone, endTime).calendars(),
      // The row keeps the name as its owner wrote it.
      timezone: timezone === null ? null : (canonicalZone(timezone) ?? timezone),
      endTime,
      paused: !enabled,
      note: statusReason ?? '',
    });
  }
}
