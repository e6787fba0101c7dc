import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/config';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { inFlightSql } from '../database/run-status';
import { withBriefLock } from '../database/brief-lock';
import { isLockTimeout } from '../database/sql-errors';

const DAY_MS = 86_400_000;
/** Days whose partitions are created ahead: workers may be down for that long before events go into the default partition. */
const DAYS_AHEAD = 3;
/** Partitions change once a day; the sweep comes by every few seconds. */
const CHECK_MS = 600_000;
/** Rows of one statement, so that each is short. */
const DELETED_AT_ONCE = 5000;

/** The lowest UUIDv7 of a point of time: run ids sort by their creation. */
function lowestId(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const partitionName = (day: number): string =>
  `run_events_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Creates the event log's partitions ahead of time and drops those past the retention. */
@Injectable()
@Sweeps(10)
export class EventPartitionSweep implements Sweep {
  readonly name = 'event-partitions';
  private readonly logger = new Logger(EventPartitionSweep.name);
  /** Time of the last check, by `performance.now()`. */
  private checkedAt = -CHECK_MS;

  constructor(
    private readonly config: AppConfig,
    @InjectDataSource() private readonly database: DataSource,
  ) {}

  async sweep(): Promise<void> {
    if (performance.now() - this.checkedAt < CHECK_MS) return;
    const oldest = Date.now() - this.config.runs.eventRetentionMs;
    try {
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      for (let day = today; day <= today + DAYS_AHEAD * DAY_MS; day += DAY_MS) await this.create(day);
      await this.dropBefore(oldest);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.logger.log('The event log is being read, by a backup for example: its partitions are changed later');
    }
    await this.deleteDefaultBefore(oldest);
    this.checkedAt = performance.now();
  }

  private async create(day: number): Promise<void> {
    await withBriefLock(this.database, async (manager) => {
      const [{ exists, filled }]: [{ exists: boolean; filled: boolean }] = await manager.query(
        `SELECT to_regclass($1) IS NOT NULL AS exists,
                EXISTS (SELECT 1 FROM run_events_default WHERE run_id >= $2 AND run_id < $3) AS filled`,
        [partitionName(day), lowestId(day), lowestId(day + DAY_MS)],
      );
      // Rows of that day are in the default partition already (the first day of a deployment): they stay there.
      if (exists || filled) return;
      await manager.query(
        `CREATE TABLE ${partitionName(day)} PARTITION OF run_events
         FOR VALUES FROM ('${lowestId(day)}') TO ('${lowestId(day + DAY_MS)}')`,
      );
    });
  }

  /** Drops days older than the retention, if each of their runs, which may have begun late or taken long, ended before it as well. */
  private async dropBefore(time: number): Promise<void> {
    const partitions: { name: string }[] = await this.database.query(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'run_events'::regclass`,
    );
    for (const { name } of partitions) {
      const [, year, month, dayOfMonth] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
      if (!year) continue;
      const day = Date.parse(`${year}-${month}-${dayOfMonth}T00:00:00Z`);
      if (day + DAY_MS > time) continue;
      const [{ busy }]: [{ busy: boolean }] = await this.database.query(
        `SELECT EXISTS (SELECT FROM runs WHERE run_id >= $1 AND run_id < $2 AND ${inFlightSql()})
           OR EXISTS (SELECT FROM runs WHERE run_id >= $1 AND run_id < $2 AND ended_at > $3) AS busy`,
        [lowestId(day), lowestId(day + DAY_MS), new Date(time)],
      );
      if (!busy) await withBriefLock(this.database, (manager) => manager.query(`DROP TABLE ${name}`));
    }
  }

  /** Deletes events of the same runs from the default partition, which is never dropped. */
  private async deleteDefaultBefore(time: number): Promise<void> {
    for (;;) {
      const [, deleted]: [unknown, number] = await this.database.query(
        `DELETE FROM run_events_default WHERE ctid = ANY (ARRAY(
           SELECT e.ctid FROM run_events_default e
           WHERE e.run_id < $1 AND NOT EXISTS (
             SELECT FROM runs r WHERE r.run_id = e.run_id AND (${inFlightSql('r')} OR r.ended_at > $2)
           )
           LIMIT ${DELETED_AT_ONCE}))`,
        [lowestId(time), new Date(time)],
      );
      if (deleted < DELETED_AT_ONCE) return;
    }
  }
}
