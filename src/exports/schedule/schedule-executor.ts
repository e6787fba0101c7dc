import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { EntitlementsService } from '../../auth/entitlements.service';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { ExportsRepository } from '../exports.repository';
import { SchedulesRepository, SpawnWindow } from './schedules.repository';

/** A window of a schedule is exported this long after its end (contract), so that late runs of it are in. */
const SPAWN_DELAY_SECONDS = 600;

/** Spawns the exports of schedules' windows. Every method may be called twice: a window is exported once. */
@Injectable()
export class ScheduleExecutor {
  constructor(
    private readonly config: AppConfig,
    private readonly exports: ExportsRepository,
    private readonly schedules: SchedulesRepository,
    private readonly entitlements: EntitlementsService,
  ) {}

  /** Returns the next window of a schedule, and the milliseconds until it is due; undefined when the schedule has ended. */
  nextWindow(tenantId: TenantId, exportId: string): Promise<(SpawnWindow & { inMs: number }) | undefined> {
    return this.schedules.nextWindow(tenantId, exportId, SPAWN_DELAY_SECONDS, this.config.exports.latePassSeconds);
  }

  /** Creates the export of a schedule's window, or the later pass over one; undefined if there is none to create (yet). */
  async spawn(tenantId: TenantId, sourceId: string, window: SpawnWindow): Promise<string | undefined> {
    // Checked every minute until the operator enables the feature again: no window of the schedule is left out.
    await this.entitlements.require(tenantId, 'bulk_export');
    const { latePassSeconds } = this.config.exports;
    const exportId = window.latePassOf
      ? await this.schedules.spawnLatePass(tenantId, sourceId, window.latePassOf, uuidv7(), latePassSeconds)
      : await this.schedules.spawn(tenantId, sourceId, window, uuidv7());
    if (exportId) await this.exports.markSeen(tenantId, exportId);
    return exportId;
  }
}
