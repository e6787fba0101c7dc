import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { ExportOrchestrator } from '../temporal/export-orchestrator';
import { ExportExecutor } from './export-executor';
import { ExportSweepRepository } from './export-sweep.repository';
import { ExportsRepository } from './exports.repository';

/** Longer than a create takes between its commit and its start. */
const GRACE_SECONDS = 5;
/** Longest time until an export that was terminated in Temporal is started again. */
const LOOK_AGAIN_SECONDS = 60;
/** More than the time that a worker takes to stop after a cancellation. */
const CANCEL_GRACE_SECONDS = 20;
const BATCH = 100;

/** Starts missing workflows of exports, and finishes cancellations that no workflow received. */
@Injectable()
@Sweeps(90)
export class ExportSweep implements Sweep {
  readonly name = 'exports';

  constructor(
    private readonly due: ExportSweepRepository,
    private readonly exports: ExportsRepository,
    private readonly orchestrator: ExportOrchestrator,
    private readonly work: ExportExecutor,
  ) {}

  async sweep(): Promise<void> {
    for (const open of await this.due.unseen(GRACE_SECONDS, LOOK_AGAIN_SECONDS, BATCH)) {
      await this.orchestrator.startExport(open);
      await this.exports.markSeen(open.tenantId as TenantId, open.exportId);
    }
    for (const { exportId, tenantId } of await this.due.halfCancelled(CANCEL_GRACE_SECONDS, BATCH)) {
      const isHeard = await this.orchestrator.cancelExport(exportId);
      if (!isHeard) await this.work.end(tenantId as TenantId, exportId, 'Cancelled', undefined);
    }
  }
}
