import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EntityManager, LessThan, Repository } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { Page } from '../http/pagination';
import { AttemptEntity, AttemptOutcome } from './attempt.entity';
import { DeliveryEntity, DeliveryKind, DeliveryStatus } from './delivery.entity';

export type NewDelivery = Pick<
  DeliveryEntity,
  | 'deliveryId'
  | 'webhookId'
  | 'kind'
  | 'runId'
  | 'threadId'
  | 'exportId'
  | 'replayOf'
  | 'maskedUrl'
  | 'sealedUrl'
  | 'sealedHeaders'
  | 'authUser'
  | 'host'
  | 'payload'
  | 'payloadBytes'
  | 'payloadSha256'
  | 'maxAttempts'
  | 'nextAttemptAt'
  | 'checkAfter'
>;

export type NewAttempt = Pick<
  AttemptEntity,
  'attemptId' | 'deliveryId' | 'attempt' | 'plannedAt' | 'startedAt' | 'requestHeaders' | 'signedWith'
>;

export type AttemptEnd = Pick<
  AttemptEntity,
  'attemptId' | 'deliveryId' | 'durationMs' | 'responseCode' | 'responseExcerpt' | 'error' | 'nextAttemptAt'
> & { outcome: AttemptOutcome };

export interface DeliveryFilter {
  runId?: string;
  threadId?: string;
  exportId?: string;
  kind?: DeliveryKind;
  status?: DeliveryStatus;
  host?: string;
}

export interface DeliveryKey {
  tenantId: TenantId;
  deliveryId: string;
  runId: string | null;
  threadId: string | null;
}

@Injectable()
export class DeliveriesRepository {
  constructor(
    @InjectRepository(DeliveryEntity) private readonly deliveries: Repository<DeliveryEntity>,
    @InjectRepository(AttemptEntity) private readonly attempts: Repository<AttemptEntity>,
  ) {}

  /** Inserts inside the caller's transaction. */
  async insertDelivery(tenantId: TenantId, manager: EntityManager, delivery: NewDelivery): Promise<void> {
    const row = { ...delivery, tenantId, status: 'pending', attemptCount: 0 };
    await manager.getRepository(DeliveryEntity).insert(row as never);
  }

  /** The only read without a tenant: a workflow knows its delivery's id and nothing else. */
  async findDeliveryOfAnyTenant(deliveryId: string): Promise<DeliveryEntity | null> {
    return this.deliveries.findOneBy({ deliveryId });
  }

  async findDelivery(tenantId: TenantId, deliveryId: string): Promise<DeliveryEntity | null> {
    return this.deliveries.findOneBy({ tenantId, deliveryId });
  }

  /** Content of a delivery: the body, its own sealed headers, the user. */
  async messageOf(
    tenantId: TenantId,
    deliveryId: string,
  ): Promise<Pick<DeliveryEntity, 'payload' | 'sealedHeaders' | 'authUser'>> {
    const select = { payload: true, sealedHeaders: true, authUser: true };
    return this.deliveries.findOneOrFail({ select, where: { tenantId, deliveryId } });
  }

  async listDeliveries(
    tenantId: TenantId,
    filter: DeliveryFilter,
    page: { limit: number; offset: number },
  ): Promise<Page<DeliveryEntity>> {
    const [items, total] = await this.deliveries.findAndCount({
      where: { tenantId, ...filter },
      order: { createdAt: 'DESC', deliveryId: 'DESC' },
      take: page.limit,
      skip: page.offset,
    });
    return { items, total };
  }

  async attemptsOf(tenantId: TenantId, deliveryId: string): Promise<AttemptEntity[]> {
    return this.attempts.find({ where: { tenantId, deliveryId }, order: { attempt: 'ASC', startedAt: 'ASC' } });
  }

  /** The attempt with this number that has an outcome. */
  async finishedAttempt(tenantId: TenantId, deliveryId: string, attempt: number): Promise<AttemptEntity | null> {
    return this.attempts
      .createQueryBuilder('attempt')
      .where('attempt.tenant_id = :tenantId AND attempt.delivery_id = :deliveryId', { tenantId, deliveryId })
      .andWhere('attempt.attempt = :attempt', { attempt })
      .andWhere(`attempt.outcome <> 'worker_lost'`)
      .getOne();
  }

  /** Opens an attempt. An open earlier one belongs to a worker that died, so its outcome stays unknown. */
  async beginAttempt(tenantId: TenantId, attempt: NewAttempt, lost: string, checkAfter: Date): Promise<void> {
    const { deliveryId } = attempt;
    await this.attempts.manager.transaction(async (manager) => {
      await this.lockDelivery(manager, tenantId, deliveryId);
      await manager.query(
        `UPDATE webhook_attempts SET outcome = 'worker_lost', error = $3
          WHERE tenant_id = $1 AND delivery_id = $2 AND outcome IS NULL`,
        [tenantId, deliveryId, lost],
      );
      await manager.getRepository(AttemptEntity).insert({ ...attempt, tenantId });
      await manager.query(
        `UPDATE webhook_deliveries SET attempt_count = greatest(attempt_count, $3), check_after = $4
          WHERE tenant_id = $1 AND delivery_id = $2`,
        [tenantId, deliveryId, attempt.attempt, checkAfter],
      );
    });
  }

  /**
   * Records an attempt's outcome and, in the same transaction, the new state of the delivery. While another attempt is open, it
   * repeats this one, whose worker was believed lost: that one decides, unless this one has delivered.
   * Resolves to whether the delivery has the new state.
   */
  async conclude(tenantId: TenantId, end: AttemptEnd, status: DeliveryStatus, checkAfter: Date): Promise<boolean> {
    const { attemptId, deliveryId, outcome, responseCode, error, nextAttemptAt } = end;
    return this.attempts.manager.transaction(async (manager) => {
      await this.lockDelivery(manager, tenantId, deliveryId);
      await manager.getRepository(AttemptEntity).update(
        { tenantId, attemptId },
        {
          outcome,
          responseCode,
          error,
          nextAttemptAt,
          durationMs: end.durationMs,
          responseExcerpt: end.responseExcerpt,
        },
      );
      const [, changed] = await manager.query<[unknown[], number]>(
        `UPDATE webhook_deliveries
            SET status = $3, last_outcome = $4, last_response_code = $5, last_error = $6, next_attempt_at = $7,
                check_after = $8, finished_at = CASE WHEN $3 = 'pending' THEN NULL ELSE now() END
          WHERE tenant_id = $1 AND delivery_id = $2
            AND CASE WHEN $3 = 'delivered' THEN status IN ('pending', 'failed')
                ELSE status = 'pending' AND NOT EXISTS (
                  SELECT FROM webhook_attempts WHERE tenant_id = $1 AND delivery_id = $2 AND outcome IS NULL
                ) END`,
        [tenantId, deliveryId, status, outcome, responseCode, error, nextAttemptAt, checkAfter],
      );
      return changed > 0;
    });
  }

  /**
   * Ends a delivery outside an attempt. One that has ended stays as it is. The outcome of an attempt in flight is unknown, unless it
   * is still recorded.
   */
  async endDelivery(tenantId: TenantId, deliveryId: string, status: DeliveryStatus, error: string): Promise<void> {
    await this.deliveries.query(
      `WITH ended AS (
         UPDATE webhook_deliveries SET status = $3, last_error = $4, next_attempt_at = NULL, finished_at = now()
          WHERE tenant_id = $1 AND delivery_id = $2 AND status = 'pending' RETURNING 1
       )
       UPDATE webhook_attempts SET outcome = 'worker_lost', error = $5
        WHERE tenant_id = $1 AND delivery_id = $2 AND outcome IS NULL AND EXISTS (SELECT FROM ended)`,
      [tenantId, deliveryId, status, error, `${error}, during the attempt: the receiver may have got it`],
    );
  }

  /** Across tenants, for the sweep: deliveries whose workflow should be looked for. */
  async due(limit: number): Promise<DeliveryKey[]> {
    const rows = await this.deliveries.find({
      select: { tenantId: true, deliveryId: true, runId: true, threadId: true },
      where: { status: 'pending', checkAfter: LessThan(new Date()) },
      order: { checkAfter: 'ASC' },
      take: limit,
    });
    return rows.map((row) => ({ ...row, tenantId: row.tenantId as TenantId }));
  }

  async checkAgain(tenantId: TenantId, deliveryId: string, checkAfter: Date): Promise<void> {
    await this.deliveries.update({ tenantId, deliveryId, status: 'pending' }, { checkAfter });
  }

  /** Across tenants, for the sweep: what ended before the time, a bounded number of rows in a statement. */
  async deleteFinishedBefore(time: Date, limit: number): Promise<void> {
    await this.deliveries.query(
      `DELETE FROM webhook_deliveries WHERE delivery_id IN
         (SELECT delivery_id FROM webhook_deliveries WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)`,
      [time, limit],
    );
  }

  /** Begins a change of attempts: a cancellation takes the locks in the same order, so that the two never deadlock. */
  private async lockDelivery(manager: EntityManager, tenantId: TenantId, deliveryId: string): Promise<void> {
    await manager.query(
      `SELECT FROM webhook_deliveries
        WHERE tenant_id = $1 AND delivery_id = $2 FOR NO KEY UPDATE`,
      [tenantId, deliveryId],
    );
  }
}
