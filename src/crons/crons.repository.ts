import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EntityManager, IsNull, Repository, SelectQueryBuilder } from 'typeorm';
import { type AccessFilter, restrict } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import type { Page } from '../http/pagination';
import { CronEntity, type CronFailure, type StopCause } from './cron.entity';
import type { CronFilter, SearchCrons } from './crons.schemas';

const SORT_COLUMNS: Record<SearchCrons['sort_by'], string> = {
  cron_id: 'c.cronId',
  assistant_id: 'c.assistantId',
  thread_id: 'c.threadId',
  next_run_date: 'c.nextRunAt',
  end_time: 'c.endTime',
  created_at: 'c.createdAt',
  updated_at: 'c.updatedAt',
};

/** A cron of any tenant, as the sweeps see it. */
export interface CronKey {
  tenantId: TenantId;
  cronId: string;
}

export interface OverdueCron extends CronKey {
  revision: number;
  nextRunAt: Date;
}

/** Fields of a cron that its owner can change. */
export type CronChange = Partial<
  Pick<
    CronEntity,
    | 'schedule'
    | 'timezone'
    | 'endTime'
    | 'payload'
    | 'metadata'
    | 'webhook'
    | 'onRunCompleted'
    | 'catchup'
    | 'overlap'
    | 'enabled'
    | 'statusReason'
    | 'stoppedBy'
    | 'nextRunAt'
    | 'lastTickAt'
  >
>;

/** Fields of a cron for the comparison with Temporal's list. */
export interface CronSighting extends CronKey {
  enabled: boolean;
  /** Whether the last change is old enough to be in the list. */
  settled: boolean;
}

@Injectable()
export class CronsRepository {
  constructor(@InjectRepository(CronEntity) private readonly crons: Repository<CronEntity>) {}

  findCron(tenantId: TenantId, cronId: string): Promise<CronEntity | null> {
    return this.crons.findOneBy({ tenantId, cronId, deletedAt: IsNull() });
  }

  async insertCron(tenantId: TenantId, cron: Partial<CronEntity>): Promise<void> {
    await this.crons.insert({ ...cron, tenantId } as never);
  }

  /**
   * Changes a cron depending on its current state, under its lock; `revised` if its Schedule has to follow. Resolves to null
   * when there is no such cron.
   */
  async changeCron(
    tenantId: TenantId,
    cronId: string,
    change: (cron: CronEntity) => { set: CronChange; revised: boolean } | null,
  ): Promise<CronEntity | null> {
    return this.locked(tenantId, cronId, async (cron, manager) => {
      const changed = change(cron);
      if (!changed) return cron;
      const set = {
        ...changed.set,
        updatedAt: new Date(),
        ...(changed.revised && { revision: cron.revision + 1 }),
      };
      await manager.update(CronEntity, { tenantId, cronId }, set as never);
      return { ...cron, ...set };
    });
  }

  /** Calls back with a cron that is locked meanwhile. Resolves to null when there is no such cron. */
  locked<T>(
    tenantId: TenantId,
    cronId: string,
    work: (cron: CronEntity, manager: EntityManager) => Promise<T>,
    { withDeleted = false } = {},
  ): Promise<T | null> {
    return this.crons.manager.transaction(async (manager) => {
      const cron = await manager.findOne(CronEntity, {
        where: { tenantId, cronId, ...(!withDeleted && { deletedAt: IsNull() }) },
        lock: { mode: 'pessimistic_write' },
      });
      return cron ? work(cron, manager) : null;
    });
  }

  /** The clock of the database, which all processes share. */
  async now(manager: EntityManager = this.crons.manager): Promise<Date> {
    const [{ now }]: [{ now: Date }] = await manager.query('SELECT clock_timestamp() AS now');
    return now;
  }

  /** Hides a cron from all callers; its Schedule and its row are deleted later. Resolves to false if there is none. */
  async markDeleted(tenantId: TenantId, cronId: string): Promise<boolean> {
    const { affected } = await this.crons.update(
      { tenantId, cronId, deletedAt: IsNull() },
      { deletedAt: new Date(), enabled: false, updatedAt: new Date() },
    );
    return affected === 1;
  }

  async searchCrons(
    tenantId: TenantId,
    search: SearchCrons,
    assistantId: string | undefined,
    access: AccessFilter | undefined,
  ): Promise<Page<CronEntity>> {
    const [items, total] = await this.filtered(tenantId, search, assistantId, access)
      .orderBy(SORT_COLUMNS[search.sort_by], search.sort_order === 'asc' ? 'ASC' : 'DESC', 'NULLS LAST')
      .addOrderBy('c.cronId', 'DESC')
      .offset(search.offset)
      .limit(search.limit)
      .getManyAndCount();
    return { items, total };
  }

  countCrons(
    tenantId: TenantId,
    filter: CronFilter,
    assistantId: string | undefined,
    access: AccessFilter | undefined,
  ): Promise<number> {
    return this.filtered(tenantId, filter, assistantId, access).getCount();
  }

  /** Records that a tick's run was refused. */
  async recordFailure(tenantId: TenantId, cronId: string, failure: CronFailure): Promise<void> {
    await this.crons.query(
      `UPDATE crons SET consecutive_failures = consecutive_failures + 1, last_failure = $3
       WHERE tenant_id = $1 AND cron_id = $2`,
      [tenantId, cronId, JSON.stringify(failure)],
    );
  }

  /** Stops a cron that has lost its thread or assistant. */
  async stopCron(tenantId: TenantId, cronId: string, cause: StopCause, reason: string): Promise<void> {
    await this.changeCron(tenantId, cronId, ({ stoppedBy }) =>
      stoppedBy === cause
        ? null
        : { set: { enabled: false, stoppedBy: cause, statusReason: reason, nextRunAt: null }, revised: true },
    );
  }

  async isThreadThere(tenantId: TenantId, threadId: string): Promise<boolean> {
    const found: unknown[] = await this.crons.query('SELECT 1 FROM threads WHERE tenant_id = $1 AND thread_id = $2', [
      tenantId,
      threadId,
    ]);
    return found.length > 0;
  }

  /** Takes over a change of the Schedule that was made in Temporal, unless the cron was changed meanwhile. */
  async adopt(
    tenantId: TenantId,
    cronId: string,
    revision: number,
    set: Pick<CronChange, 'enabled' | 'statusReason' | 'nextRunAt' | 'lastTickAt'>,
  ): Promise<void> {
    await this.crons.update(
      { tenantId, cronId, revision, syncedRevision: revision, deletedAt: IsNull() },
      { ...set, updatedAt: new Date() },
    );
  }

  /** Marks the Schedule as outdated, so that it is created again. */
  async forgetSync(tenantId: TenantId, cronId: string): Promise<void> {
    await this.crons.update({ tenantId, cronId }, { syncedRevision: 0 });
  }

  /**
   * Crons of any tenant whose Schedule has lagged for longer than a change takes. In a random order, so that those that fail
   * each time don't keep the others from being reached.
   */
  async findUnsynced(olderThanMs: number, limit: number): Promise<CronKey[]> {
    return this.keys(
      `(revision <> synced_revision OR deleted_at IS NOT NULL) AND updated_at < now() - $2 * interval '1 millisecond'
       ORDER BY random() LIMIT $1`,
      [limit, olderThanMs],
    );
  }

  /** Enabled crons whose time is over, without those whose last tick is still due. */
  async findEnded(limit: number): Promise<CronKey[]> {
    return this.keys(
      `enabled AND end_time < now() AND (next_run_at IS NULL OR next_run_at > end_time) ORDER BY end_time LIMIT $1`,
      [limit],
    );
  }

  /** Enabled crons whose tick is overdue, in a random order. */
  async findOverdue(olderThanMs: number, limit: number): Promise<OverdueCron[]> {
    return this.crons.query(
      `SELECT cron_id AS "cronId", tenant_id AS "tenantId", revision, next_run_at AS "nextRunAt" FROM crons
       WHERE enabled AND next_run_at < now() - $1 * interval '1 millisecond' ORDER BY random() LIMIT $2`,
      [olderThanMs, limit],
    );
  }

  /** All crons whose Schedule should show what the row says. */
  async sightings(settledMs: number): Promise<CronSighting[]> {
    return this.crons.query(
      `SELECT cron_id AS "cronId", tenant_id AS "tenantId", enabled,
         updated_at < now() - $1 * interval '1 millisecond' AS settled
       FROM crons WHERE revision = synced_revision AND deleted_at IS NULL`,
      [settledMs],
    );
  }

  private keys(where: string, parameters: unknown[]): Promise<CronKey[]> {
    return this.crons.query(
      `SELECT cron_id AS "cronId", tenant_id AS "tenantId" FROM crons WHERE ${where}`,
      parameters,
    );
  }

  private filtered(
    tenantId: TenantId,
    filter: CronFilter,
    assistantId: string | undefined,
    access: AccessFilter | undefined,
  ): SelectQueryBuilder<CronEntity> {
    const query = this.crons
      .createQueryBuilder('c')
      .where('c.tenantId = :tenantId AND c.deletedAt IS NULL', { tenantId });
    if (assistantId !== undefined) query.andWhere('c.assistantId = :assistantId', { assistantId });
    if (filter.thread_id) query.andWhere('c.threadId = :threadId', { threadId: filter.thread_id });
    if (filter.enabled !== undefined) query.andWhere('c.enabled = :enabled', { enabled: filter.enabled });
    if (filter.metadata) query.andWhere('c.metadata @> :metadata', { metadata: JSON.stringify(filter.metadata) });
    return restrict(query, 'c.metadata', access);
  }
}
