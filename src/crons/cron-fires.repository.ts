import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EntityManager, Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import type { Page } from '../http/pagination';
import { inFlightSql, type RunStatus } from '../database/run-status';
import { CronEntity } from './cron.entity';
import { CronFireEntity, type FireStatus, type FireTrigger } from './cron-fire.entity';
import type { CronKey } from './crons.repository';

export interface NewFire {
  scheduledAt: Date;
  trigger: FireTrigger;
  status: 'pending' | 'skipped';
  error?: string;
  missed?: number;
}

/** A fire, and how its run is now; `null` when that was deleted. */
export type FireWithRun = CronFireEntity & { runStatus: RunStatus | null };

/** The ticks of crons: each is one row, and the row is the intent. */
@Injectable()
export class CronFiresRepository {
  constructor(@InjectRepository(CronFireEntity) private readonly fires: Repository<CronFireEntity>) {}

  /**
   * Records ticks, inside the transaction that holds the cron's lock. Existing ones are not changed.
   * @returns the ids of the new ones
   */
  async insertFires(manager: EntityManager, cron: CronEntity, ticks: NewFire[]): Promise<string[]> {
    if (ticks.length === 0) return [];
    const inserted: { fire_id: string }[] = await manager.query(
      `INSERT INTO cron_fires (fire_id, tenant_id, cron_id, run_id, scheduled_at, trigger, status, error, missed, ended_at)
       SELECT tick.fire_id, $1, $2, tick.run_id, tick.scheduled_at, tick.trigger, tick.status, tick.error, tick.missed,
         CASE WHEN tick.status = 'skipped' THEN now() END
       FROM unnest($3::uuid[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::int[])
         AS tick (fire_id, run_id, scheduled_at, trigger, status, error, missed)
       ON CONFLICT (cron_id, scheduled_at) DO NOTHING RETURNING fire_id`,
      [
        cron.tenantId,
        cron.cronId,
        ticks.map(() => uuidv7()),
        ticks.map(() => uuidv7()),
        ticks.map(({ scheduledAt }) => scheduledAt),
        ticks.map(({ trigger }) => trigger),
        ticks.map(({ status }) => status),
        ticks.map(({ error }) => error ?? null),
        ticks.map(({ missed }) => missed ?? 0),
      ],
    );
    const ids = inserted.map(({ fire_id }) => fire_id);
    const newest = ids.at(-1);
    if (newest !== undefined) {
      await manager.update(CronEntity, { tenantId: cron.tenantId, cronId: cron.cronId }, { lastFireId: newest });
    }
    return ids;
  }

  /** Whether a run of the cron is pending or in flight. */
  async isOpen(manager: EntityManager, cron: CronEntity): Promise<boolean> {
    const [{ open }]: [{ open: boolean }] = await manager.query(
      `SELECT EXISTS (
         SELECT 1 FROM cron_fires f LEFT JOIN runs r ON r.run_id = f.run_id
         WHERE f.tenant_id = $1 AND f.cron_id = $2
           AND (f.status = 'pending' OR (f.status = 'started' AND ${inFlightSql('r')}))
       ) AS open`,
      [cron.tenantId, cron.cronId],
    );
    return open;
  }

  /** Ticks whose run is still to be made, in the order of their times. */
  pending(tenantId: TenantId, cronId: string, limit: number): Promise<CronFireEntity[]> {
    return this.fires.find({
      where: { tenantId, cronId, status: 'pending' },
      order: { scheduledAt: 'ASC' },
      take: limit,
    });
  }

  /**
   * Claims a tick for its run, inside the transaction that inserts the run. Resolves to false if it is claimed already or no
   * longer due, as those of a deleted cron.
   */
  async claimFire(manager: EntityManager, { tenantId, fireId }: CronFireEntity, threadId: string): Promise<boolean> {
    const [, claimed]: [unknown[], number] = await manager.query(
      `UPDATE cron_fires SET status = 'started', thread_id = $3, fired_at = clock_timestamp()
       WHERE tenant_id = $1 AND fire_id = $2 AND status = 'pending' AND EXISTS (
         SELECT FROM crons c WHERE c.tenant_id = $1 AND c.cron_id = cron_fires.cron_id AND c.deleted_at IS NULL
       )`,
      [tenantId, fireId, threadId],
    );
    return claimed === 1;
  }

  /** Records that there will be no run; resolves to false if the tick no longer waits for one. */
  async closeFire(fire: CronFireEntity, status: FireStatus & ('failed' | 'skipped'), error: string): Promise<boolean> {
    const { affected } = await this.fires.update(
      { tenantId: fire.tenantId, fireId: fire.fireId, status: 'pending' },
      { status, error, endedAt: new Date() },
    );
    return affected === 1;
  }

  async listFires(
    tenantId: TenantId,
    cronId: string,
    page: { limit: number; offset: number },
  ): Promise<Page<FireWithRun>> {
    const [fires, total] = await this.fires.findAndCount({
      where: { tenantId, cronId },
      order: { createdAt: 'DESC', fireId: 'DESC' },
      take: page.limit,
      skip: page.offset,
    });
    return { items: await this.withRuns(tenantId, fires), total };
  }

  async findByIds(tenantId: TenantId, fireIds: string[]): Promise<FireWithRun[]> {
    if (fireIds.length === 0) return [];
    const fires = await this.fires
      .createQueryBuilder('f')
      .where('f.tenantId = :tenantId AND f.fireId = ANY(:fireIds)', { tenantId, fireIds })
      .orderBy('f.scheduledAt')
      .getMany();
    return this.withRuns(tenantId, fires);
  }

  /**
   * Crons of any tenant with ticks that have no run yet. In a random order, so that those that fail each time don't keep the
   * others from being reached.
   */
  findForgotten(olderThanMs: number, limit: number): Promise<CronKey[]> {
    return this.fires.query(
      `SELECT cron_id AS "cronId", tenant_id AS "tenantId" FROM cron_fires
       WHERE status = 'pending' AND created_at < now() - $1 * interval '1 millisecond'
       GROUP BY cron_id, tenant_id ORDER BY random() LIMIT $2`,
      [olderThanMs, limit],
    );
  }

  /** Forgets old ticks of any tenant; resolves to how many there were. */
  async deleteOlderThan(ageMs: number, limit: number): Promise<number> {
    const [, deleted]: [unknown, number] = await this.fires.query(
      `DELETE FROM cron_fires WHERE fire_id IN (
         SELECT fire_id FROM cron_fires
         WHERE created_at < now() - $1 * interval '1 millisecond' AND status <> 'pending'
         ORDER BY created_at LIMIT $2)`,
      [ageMs, limit],
    );
    return deleted;
  }

  private async withRuns(tenantId: TenantId, fires: CronFireEntity[]): Promise<FireWithRun[]> {
    const rows: { run_id: string; status: RunStatus }[] = await this.fires.query(
      `SELECT run_id, status FROM runs WHERE tenant_id = $1 AND run_id = ANY($2::uuid[])`,
      [tenantId, fires.map(({ runId }) => runId)],
    );
    const statuses = new Map(rows.map(({ run_id, status }) => [run_id, status]));
    return fires.map((fire) => ({ ...fire, runStatus: statuses.get(fire.runId) ?? null }));
  }
}
