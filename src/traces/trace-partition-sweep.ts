import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { isLockTimeout } from '../database/sql-errors';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { TracePartitions } from './trace-partitions';

const DAY_MS = 86_400_000;
/** Days created ahead, so that neither a clock that is ahead nor a night without a sweep makes ingestion create one. */
const DAYS_AHEAD = 3;
const INTERVAL_MS = 3_600_000;
/** Time for which the end of a run waits for its start. */
const HELD_DAYS = 7;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/**
 * Once an hour: creates the next days' partitions, drops those past their retention, and deletes ends of runs whose start never
 * came.
 */
@Injectable()
@Sweeps(70)
export class TracePartitionSweep implements Sweep {
  readonly name = 'trace partitions';
  private readonly logger = new Logger(TracePartitionSweep.name);
  private nextAt = 0;

  constructor(
    private readonly config: AppConfig,
    private readonly partitions: TracePartitions,
  ) {}

  async sweep(): Promise<void> {
    if (performance.now() < this.nextAt) return;
    const now = Date.now();
    await this.partitions.ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => dayOf(now + ahead * DAY_MS)));
    const { retentionDays: kept } = this.config.traces;
    if (kept !== undefined) await this.dropBefore(dayOf(now - kept * DAY_MS));
    await this.partitions.forgetHeld(new Date(now - HELD_DAYS * DAY_MS));
    await this.partitions.forgetLinks();
    this.nextAt = performance.now() + INTERVAL_MS;
  }

  private async dropBefore(day: string): Promise<void> {
    try {
      await this.partitions.dropBefore(day);
    } catch (error) {
      // All that ingests or reads traces waits while the drop waits, so it is not tried again at once.
      if (!isLockTimeout(error)) throw error;
      this.logger.log('Traces are being read, by a backup for example: their oldest days are dropped later');
    }
  }
}
