import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { ThreadEntity } from './thread.entity';
import { THREAD_KEYS, type ThreadKey, threadKeys } from './thread-key';
import { ThreadRemoval } from './thread-removal';
import type { TtlStrategy } from '../config/thread-ttl';

/** The expression that the index has. */
const EXPIRY = `(timezone('UTC', updated_at) + ttl_minutes * interval '1 minute')`;
const IS_EXPIRED = `ttl_minutes IS NOT NULL AND (pruned_at IS NULL OR pruned_at < updated_at)
  AND ${EXPIRY} < timezone('UTC', now()) AND status <> 'busy'`;

/** Condition on the row of a thread that is to be pruned because it has expired. */
export const IS_PRUNABLE = `ttl_strategy = 'keep_latest' AND ${IS_EXPIRED}`;

export interface ExpiredThread {
  tenantId: TenantId;
  threadId: string;
  strategy: TtlStrategy;
}

/** Expired threads of all tenants. */
@Injectable()
export class ThreadExpiryRepository {
  constructor(
    @InjectRepository(ThreadEntity) private readonly threads: Repository<ThreadEntity>,
    private readonly removal: ThreadRemoval,
  ) {}

  /** Finds expired threads of any tenant, in the order of their expiry. */
  async findExpired(limit: number): Promise<ExpiredThread[]> {
    return this.threads.query(
      `SELECT tenant_id AS "tenantId", thread_id AS "threadId", ttl_strategy AS strategy FROM threads
       WHERE ${IS_EXPIRED} ORDER BY ${EXPIRY} LIMIT $1`,
      [limit],
    );
  }

  /** Deletes the threads that are still expired; resolves to their number. */
  deleteIfExpired(threads: ThreadKey[]): Promise<number> {
    return this.threads.manager.transaction((manager) =>
      this.removal.deleteThreads(
        manager,
        `(tenant_id, thread_id) IN (SELECT tenant_id, thread_id FROM threads
           WHERE (tenant_id, thread_id) IN (${THREAD_KEYS}) AND ttl_strategy = 'delete'
           AND ${IS_EXPIRED} FOR UPDATE SKIP LOCKED)`,
        threadKeys(threads),
      ),
    );
  }

  /** Whether any thread of any tenant has a time to live. */
  async anyExpires(): Promise<boolean> {
    const found: unknown[] = await this.threads.query(`SELECT 1 FROM threads WHERE ttl_minutes IS NOT NULL LIMIT 1`);
    return found.length > 0;
  }

  /** Deletes expired temporary threads of any tenant; resolves to their number. */
  deleteForgotten(limit: number): Promise<number> {
    return this.threads.manager.transaction((manager) =>
      this.removal.deleteThreads(
        manager,
        `(tenant_id, thread_id) IN (
           SELECT tenant_id, thread_id FROM threads WHERE delete_after < now() AND status <> 'busy'
           ORDER BY delete_after LIMIT $1 FOR UPDATE SKIP LOCKED
         )`,
        [limit],
      ),
    );
  }
}
