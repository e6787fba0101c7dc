import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { ThreadTtl } from '../config/thread-ttl';
import { currentCipher, storedJsonColumn } from '../database/at-rest';
import { BatchedCalls } from '../database/batched-calls';
import { columnsOf } from '../database/entity-columns';
import type { JsonObject } from '../database/json';
import { acrossTenants, currentScope, inScope, type RequestScope } from '../database/request-scope';
import { isContentError } from '../database/unstorable-text';
import { prepared } from '../patches/pg/prepared-statements';
import { ThreadEntity } from './thread.entity';

export interface NewThread {
  tenantId: TenantId;
  threadId: string;
  metadata: JsonObject;
  ttl: ThreadTtl | undefined;
}

interface Insert {
  thread: NewThread;
  /** Scope of the request. */
  scope: RequestScope | undefined;
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
  private readonly calls: BatchedCalls<Insert, Inserted>;

  constructor(private readonly manager: EntityManager) {
    this.calls = new BatchedCalls((inserts) => this.insertAll(inserts));
  }

  /** Resolves to null if the tenant already has a thread with this id. */
  async insertThread(thread: NewThread): Promise<Inserted> {
    const insert = { thread, scope: currentScope() };
    if (!currentCipher()) return this.calls.call(insert);
    // The handlers of a custom encryption choose the key by the request.
    return this.insertAlone(insert);
  }

  private async insertAll(inserts: Insert[]): Promise<Promise<Inserted>[]> {
    const answers = new Map<Insert, Promise<Inserted>>();
    for (const group of Map.groupBy(inserts, connectionOf).values()) {
      const inserted = this.insertGroup(group);
      for (const [index, insert] of group.entries())
        answers.set(
          insert,
          inserted.then((each) => each[index]),
        );
    }
    await Promise.allSettled(answers.values());
    return inserts.map((insert) => answers.get(insert)!);
  }

  /** Answers in the order of the group; where a value can't be stored, each thread is inserted alone, so that only its own request fails. */
  private async insertGroup(group: Insert[]): Promise<(Inserted | Promise<Inserted>)[]> {
    try {
      return await this.insertTogether(group);
    } catch (error) {
      if (group.length === 1 || !isContentError(error)) throw error;
    }
    const alone = group.map((insert) => this.insertAlone(insert));
    await Promise.allSettled(alone);
    return alone;
  }

  private async insertAlone(insert: Insert): Promise<Inserted> {
    const [inserted] = await this.insertTogether([insert]);
    return inserted;
  }

  private async insertTogether(group: Insert[]): Promise<Inserted[]> {
    const [{ thread, scope }] = group;
    const threads = group.map((insert) => insert.thread);
    const texts = threads.map(({ metadata }) => JSON.stringify(metadata));
    const insert = (): Promise<ThreadEntity[]> =>
      this.manager.query(INSERT_THREADS, [
        thread.tenantId,
        threads.map(({ threadId }) => threadId),
        storedJsonColumn('thread', 'metadata', texts),
        threads.map(({ ttl }) => ttl?.strategy),
        threads.map(({ ttl }) => ttl?.minutes),
      ]);
    const rows = await (scope ? inScope(scope, insert) : acrossTenants(insert));
    const byId = new Map(rows.map((row) => [row.threadId, row]));
    return threads.map(({ threadId }) => {
      const row = byId.get(threadId) ?? null;
      // Another request with the same id finds that the thread exists.
      byId.delete(threadId);
      return row;
    });
  }
}

/** Names the settings of the connection for a request: those with the same settings may share a statement. */
function connectionOf({ thread, scope }: Insert): string {
  return JSON.stringify([thread.tenantId, scope && [scope.tenantId, scope.isAcrossTenants, scope.actor]]);
}
