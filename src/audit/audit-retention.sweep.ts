import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { AuditRepository } from './audit.repository';

const CHECK_MS = 60_000;
/** Records that one statement deletes: few enough to lock rows for a short time. */
const BATCH = 5_000;
/** Batches of one round: a backlog must not keep the other sweeps waiting. */
const MAX_BATCHES = 10;

/** Deletes records of the audit log after their retention. */
@Injectable()
@Sweeps(120)
export class AuditRetentionSweep implements Sweep {
  readonly name = 'audit-retention';
  private nextAt = 0;

  constructor(
    private readonly audit: AuditRepository,
    private readonly config: AppConfig,
  ) {}

  async sweep(): Promise<void> {
    if (performance.now() < this.nextAt) return;
    const before = new Date(Date.now() - this.config.audit.retentionMs);
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      if ((await this.audit.deleteBefore(before, BATCH)) < BATCH) {
        this.nextAt = performance.now() + CHECK_MS;
        return;
      }
    }
  }
}
