import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { ThreadTtl } from '../config/thread-ttl';
import { storedJsonColumn } from '../database/at-rest';
import { BatchedInserts } from '../database/batched-inserts';
import { columnsOf } from '../database/entity-columns';
import type { JsonObject } from '../database/json';
import { prepared } from '../patches/pg/prepared-statements';
import { ThreadEntity } from './thread.entity';

export interface NewThread {
  tenantId: TenantId;
  threadId: string;
  metadata: JsonObject;
  ttl: ThreadTtl | undefined;
}

type Inserted = ThreadEntity | null;

const INSERT_THREADS = prepared(
  'insert-threads',
  // In the order of the ids, so that statements of two processes that insert the same ones wait for each other without a deadlock.
  `INSERT INTO threads (tenant_id, thread_id, metadata, ttl_strategy, ttl_minutes)
   SELECT $1, given.* FROM unnest($2::uuid[], $3::text[]::jsonb[], $4::text[], $5::float8[]) AS given(thread_id) ORDER BY thread_id
   ON CONFLICT DO NOTHING RETURNING ${columnsOf(ThreadEntity, 'threads')}`,
);

/** Inserts the threads of requests that arrive together in one statement: at 64 at once, Postgres takes a fifth of the time for each. */
export class ThreadInserts {
  private readonly inserts = new BatchedInserts<NewThread, Inserted>((threads) => this.insertAll(threads));

  constructor(private readonly manager: EntityManager) {}

  /** Resolves to null if the tenant already has a thread with this id. */
  insertThread(thread: NewThread): Promise<Inserted> {
    return this.inserts.insert(thread);
  }

  private async insertAll(threads: [NewThread, ...NewThread[]]): Promise<Inserted[]> {
    const texts = threads.map(({ metadata }) => JSON.stringify(metadata));
    const rows: ThreadEntity[] = await this.manager.query(INSERT_THREADS, [
      threads[0].tenantId,
      threads.map(({ threadId }) => threadId),
      storedJsonColumn('thread', 'metadata', texts),
      threads.map(({ ttl }) => ttl?.strategy),
      threads.map(({ ttl }) => ttl?.minutes),
    ]);
    const byId = new Map(rows.map((row) => [row.threadId, row]));
    return threads.map(({ threadId }) => {
      const row = byId.get(threadId) ?? null;
      // Another request with the same id finds that the thread exists.
      byId.delete(threadId);
      return row;
    });
  }
}
