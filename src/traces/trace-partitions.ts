import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { withBriefLock } from '../database/brief-lock';
import { acrossTenants } from '../database/request-scope';
import { traceErrors } from './trace.errors';

const TABLE = 'trace_runs';
/** Arbitrary number, the same in every process, that serializes the creation of partitions. */
const PARTITION_LOCK = 4_201_978;
const DAY_MS = 86_400_000;
/**
 * Half a page. Compressing rows of 2 KB takes a third of the time of a Postgres without lz4; uncompressed they take twice the
 * space.
 */
const UNCOMPRESSED_BYTES = 4080;
/**
 * New days in one upload: clients send a hundred operations at once. Each new day takes some ten milliseconds, and every query
 * without a window in time locks its partition and that one's indexes.
 */
const MAX_NEW_DAYS = 100;
/** Attaching doesn't lock readers out, so it may wait for longer than other changes. */
const ATTACH_TIMEOUT = '5s';

const partitionName = (day: string): string => `${TABLE}_${day.replaceAll('-', '')}`;

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** The partitions of `trace_runs` by day: created before they are written to, and dropped as a whole after their retention. */
@Injectable()
export class TracePartitions {
  private readonly logger = new Logger(TracePartitions.name);
  private readonly known = new Set<string>();

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * Creates the missing partitions of these UTC days (`2026-11-21`).
   * @throws {ApiError} 422 for very many of them
   */
  async ensure(days: Iterable<string>): Promise<void> {
    const missing = [...days].filter((day) => !this.known.has(day));
    if (missing.length > MAX_NEW_DAYS) {
      const present = await acrossTenants(() => this.presentDays(missing));
      if (missing.length - present.length > MAX_NEW_DAYS) throw traceErrors.tooManyDays(MAX_NEW_DAYS);
    }
    for (const day of missing) {
      await acrossTenants(() => this.create(day));
      this.known.add(day);
    }
  }

  private async presentDays(days: string[]): Promise<string[]> {
    const rows = await this.database.query<{ day: string }[]>(
      `SELECT day FROM unnest($1::text[]) AS day WHERE to_regclass($2 || replace(day, '-', '')) IS NOT NULL`,
      [days, partitionName('')],
    );
    return rows.map(({ day }) => day);
  }

  /** Forgets the known partitions after another process has dropped one. */
  forget(): void {
    this.known.clear();
  }

  /**
   * CREATE TABLE … PARTITION OF would lock out every reader of the parent; creating the table first and attaching it does not.
   * IF NOT EXISTS alone isn't enough without the session lock: two processes would collide in the catalog.
   */
  private async create(day: string): Promise<void> {
    const name = partitionName(day);
    await this.database.transaction(async (manager) => {
      await manager.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
      const [{ exists }] = await manager.query<[{ exists: boolean }]>('SELECT to_regclass($1) IS NOT NULL AS exists', [
        name,
      ]);
      if (exists) return;
      await manager.query(`SET LOCAL lock_timeout = '${ATTACH_TIMEOUT}'`);
      const [{ hasLz4 }] = await manager.query<[{ hasLz4: boolean }]>(
        `SELECT attcompression = 'l' AS "hasLz4" FROM pg_attribute WHERE attrelid = $1::regclass AND attname = 'inputs'`,
        [TABLE],
      );
      const storage = hasLz4 ? '' : `WITH (toast_tuple_target = ${UNCOMPRESSED_BYTES})`;
      await manager.query(`CREATE TABLE ${name} (LIKE ${TABLE} INCLUDING ALL) ${storage}`);
      await manager.query(
        `ALTER TABLE ${TABLE} ATTACH PARTITION ${name}
           FOR VALUES FROM ('${day} 00:00:00+00') TO ('${nextDay(day)} 00:00:00+00')`,
      );
      this.logger.debug({ day }, 'Made the partition of a day');
    });
  }

  /**
   * Drops the days before `day`, with everything that refers to their runs.
   * @throws an error that `isLockTimeout` recognizes while something reads the table for long
   */
  async dropBefore(day: string): Promise<number> {
    const partitions = await this.database.query<{ name: string }[]>(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = $1::regclass AND c.relname < $2 ORDER BY 1`,
      [TABLE, partitionName(day)],
    );
    for (const { name } of partitions) {
      await withBriefLock(this.database, async (manager) => {
        await manager.query(`ALTER TABLE ${TABLE} DETACH PARTITION ${name}`);
        await manager.query(`DROP TABLE ${name}`);
      });
      this.known.clear();
      this.logger.log({ partition: name }, 'Dropped a day of traces past its retention');
    }
    if (partitions.length > 0) await this.deleteOrphans(day);
    return partitions.length;
  }

  /**
   * Forgets runs of which only ends, attachments or feedback came, and never a start. The feedback stays: it can be read without
   * its run.
   */
  async forgetHeld(before: Date): Promise<void> {
    await this.database.query(
      `WITH forgotten AS (
         DELETE FROM trace_run_keys WHERE start_time IS NULL AND received_at < $1 RETURNING tenant_id, run_id)
       DELETE FROM trace_attachments a USING forgotten f WHERE a.tenant_id = f.tenant_id AND a.run_id = f.run_id`,
      [before],
    );
  }

  /** Links that leave feedback, once they have expired. */
  async forgetLinks(): Promise<void> {
    await this.database.query('DELETE FROM trace_feedback_links WHERE expires_at < now()');
  }

  private async deleteOrphans(day: string): Promise<void> {
    const before = `${day} 00:00:00+00`;
    for (const table of ['trace_attachments', 'trace_feedback', 'trace_feedback_links', 'trace_shares']) {
      await this.database.query(
        `DELETE FROM ${table} t USING trace_run_keys k
         WHERE k.tenant_id = t.tenant_id AND k.run_id = t.run_id AND k.start_time < $1`,
        [before],
      );
    }
    await this.database.query('DELETE FROM trace_run_keys WHERE start_time < $1', [before]);
    // Feedback on runs that never came has no day but its own.
    await this.database.query(
      `DELETE FROM trace_feedback f WHERE f.run_id IS NOT NULL AND f.created_at < $1
         AND NOT EXISTS (SELECT FROM trace_run_keys k WHERE k.tenant_id = f.tenant_id AND k.run_id = f.run_id)`,
      [before],
    );
  }
}
