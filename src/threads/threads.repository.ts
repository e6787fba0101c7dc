import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EntityManager, Repository, SelectQueryBuilder } from 'typeorm';
import { type AccessFilter, restrict } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { storedJson } from '../database/at-rest';
import { checkpointKey } from '../database/checkpoint-key';
import { columnsOf } from '../database/entity-columns';
import type { JsonObject } from '../database/json';
import { prepared } from '../patches/pg/prepared-statements';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import { inFlightSql } from '../database/run-status';
import type { Page } from '../http/pagination';
import { RUN_CANCEL_CHANNEL } from '../streams/run-event';
import { pruneNext } from './checkpoint-pruning';
import { keepAtLeast } from './kept-threads';
import { holdThread, ThreadEdits, type ThreadState } from './thread-edits';
import { ThreadEntity } from './thread.entity';
import { ThreadInserts } from './thread-inserts';
import { ThreadRemoval } from './thread-removal';
import { checkThreadLanguage } from './thread-language';
import type { ThreadKey } from './thread-key';
import type { GraphRegistry } from '../graphs/graph-registry';
import type { ThreadTtl } from '../config/thread-ttl';
import type { SearchThreads, ThreadFilter, ThreadStorage } from './threads.schemas';

const SORT_COLUMNS: Record<SearchThreads['sort_by'], string> = {
  thread_id: 't.threadId',
  status: 't.status',
  created_at: 't.createdAt',
  updated_at: 't.updatedAt',
  state_updated_at: 'COALESCE(t.stateUpdatedAt, t.createdAt)',
};

const FIND_THREAD = prepared(
  'find-thread',
  `SELECT ${columnsOf(ThreadEntity, 'threads')} FROM threads
   WHERE tenant_id = $1 AND thread_id = $2 AND NOT temporary`,
);

/** The part of a thread that reading its state needs, with the version of the state. */
export interface StateOrigin extends Pick<ThreadEntity, 'tenantId' | 'threadId' | 'status' | 'metadata' | 'config'> {
  /**
   * Another one after each change of the thread's row, and with each newest checkpoint. A run that is in flight changes its state
   * without either, by the writes of nodes.
   */
  version: string;
}

const FIND_ORIGIN = prepared(
  'find-state-origin',
  `SELECT tenant_id AS "tenantId", thread_id AS "threadId", status, metadata, config, concat_ws('/', xmin, (
     SELECT checkpoint_id FROM ${CHECKPOINT_SCHEMA}.checkpoints
     WHERE thread_id = $3 AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1
   )) AS version
   FROM threads WHERE tenant_id = $1 AND thread_id = $2 AND NOT temporary`,
);

@Injectable()
export class ThreadsRepository {
  private readonly inserts: ThreadInserts;
  private readonly edits: ThreadEdits;

  constructor(
    @InjectRepository(ThreadEntity) private readonly threads: Repository<ThreadEntity>,
    private readonly removal: ThreadRemoval,
  ) {
    this.inserts = new ThreadInserts(threads.manager);
    this.edits = new ThreadEdits(threads.manager);
  }

  /** @throws {ApiError} 422 for a thread of the other language */
  checkLanguage(thread: ThreadKey, registry: GraphRegistry, graphId: string): Promise<void> {
    return checkThreadLanguage(this.threads.manager, registry, thread, graphId);
  }

  async findThread(tenantId: TenantId, threadId: string, access?: AccessFilter): Promise<ThreadEntity | null> {
    if (!access) {
      const [thread]: ThreadEntity[] = await this.threads.query(FIND_THREAD, [tenantId, threadId]);
      return thread ?? null;
    }
    const query = this.threads
      .createQueryBuilder('t')
      .where('t.tenantId = :tenantId AND t.threadId = :threadId AND NOT t.temporary', { tenantId, threadId });
    return restrict(query, 't.metadata', access).getOne();
  }

  /** The thread's row without the values that its last run or edit left, which may be large. */
  async findOrigin(tenantId: TenantId, threadId: string, access?: AccessFilter): Promise<StateOrigin | null> {
    if (access && !(await this.isAccessible(tenantId, threadId, access))) return null;
    const parameters = [tenantId, threadId, checkpointKey(tenantId, threadId)];
    const [origin]: StateOrigin[] = await this.threads.query(FIND_ORIGIN, parameters);
    return origin ?? null;
  }

  /** Whether the thread, temporary or not, matches the filter. */
  async isAccessible(tenantId: TenantId, threadId: string, access: AccessFilter): Promise<boolean> {
    const query = this.threads
      .createQueryBuilder('t')
      .where('t.tenantId = :tenantId AND t.threadId = :threadId', { tenantId, threadId });
    return restrict(query, 't.metadata', access).getExists();
  }

  /** Resolves to null if the tenant already has a thread with this id. */
  insertThread(
    tenantId: TenantId,
    threadId: string,
    metadata: JsonObject,
    ttl: ThreadTtl | undefined,
  ): Promise<ThreadEntity | null> {
    return this.inserts.insertThread({ tenantId, threadId, metadata, ttl });
  }

  /** Merges into the metadata and, when one is given, sets the time to live; resolves to null when there is no such thread. */
  async updateThread(
    tenantId: TenantId,
    threadId: string,
    metadata: JsonObject,
    ttl: ThreadTtl | undefined,
  ): Promise<ThreadEntity | null> {
    const { affected } = await this.threads
      .createQueryBuilder()
      .update()
      .set({
        metadata: () => 'metadata || :merge',
        updatedAt: () => 'now()',
        ...(ttl && { ttlStrategy: ttl.strategy, ttlMinutes: ttl.minutes }),
      })
      .where('tenant_id = :tenantId AND thread_id = :threadId AND NOT temporary', { tenantId, threadId })
      .setParameter('merge', storedJson('thread', 'metadata', JSON.stringify(metadata)))
      .execute();
    return affected ? this.findThread(tenantId, threadId) : null;
  }

  /** Runs an edit of the state, as {@link ThreadEdits} does. */
  edit<S extends ThreadState>(
    tenantId: TenantId,
    threadId: string,
    edit: () => Promise<S>,
  ): Promise<S | 'busy' | null> {
    return this.edits.edit({ tenantId, threadId }, edit);
  }

  /**
   * Deletes a thread with its runs, their events and its checkpoints; workers that have one of its runs are notified to stop.
   * Resolves to the ids of the runs that were in flight, or to null when there is no such thread.
   */
  deleteThread(tenantId: TenantId, threadId: string): Promise<string[] | null> {
    return this.threads.manager.transaction(async (manager) => {
      const inFlight: { run_id: string }[] = await manager.query(
        `SELECT run_id, pg_notify('${RUN_CANCEL_CHANNEL}', run_id::text) FROM runs
         WHERE tenant_id = $1 AND thread_id = $2 AND ${inFlightSql()}`,
        [tenantId, threadId],
      );
      const where = `tenant_id = $1 AND thread_id = $2 AND NOT temporary`;
      const deleted = await this.removal.deleteThreads(manager, where, [tenantId, threadId]);
      return deleted > 0 ? inFlight.map(({ run_id }) => run_id) : null;
    });
  }

  /** In the order of the ids, from the one that comes next after `after`. */
  async findIdsOfAssistant(
    tenantId: TenantId,
    assistantId: string,
    { limit, after }: { limit: number; after: string | undefined },
  ): Promise<string[]> {
    const found: { thread_id: string }[] = await this.threads.query(
      `SELECT thread_id FROM threads WHERE tenant_id = $1 AND metadata @> $2 AND NOT temporary
       AND ($4::uuid IS NULL OR thread_id > $4) ORDER BY thread_id LIMIT $3`,
      [tenantId, JSON.stringify({ assistant_id: assistantId }), limit, after ?? null],
    );
    return found.map(({ thread_id }) => thread_id);
  }

  /**
   * Removes the checkpoints, writes and values that later runs don't need, in short transactions. Resolves to false if the
   * thread doesn't exist, a run is in flight on it or, at the start of one of them, the condition doesn't hold.
   * @param condition SQL condition on the thread's row
   */
  async keepLatest(tenantId: TenantId, threadId: string, condition = 'true'): Promise<boolean> {
    for (;;) {
      const step = await this.threads.manager.transaction(async (manager) => {
        const thread = await this.lockIdle(manager, tenantId, threadId, condition);
        if (!thread) return 'in use';
        if (await pruneNext(manager, checkpointKey(tenantId, threadId))) return 'more';
        await manager.query(`UPDATE threads SET pruned_at = now() WHERE tenant_id = $1 AND thread_id = $2`, [
          tenantId,
          threadId,
        ]);
        return 'done';
      });
      if (step !== 'more') return step === 'done';
    }
  }

  /** The lock comes first: only what is read after it stays true while the lock is held. */
  private async lockIdle(
    manager: EntityManager,
    tenantId: TenantId,
    threadId: string,
    condition: string,
  ): Promise<boolean> {
    const locked: unknown[] = await manager.query(
      `SELECT 1 FROM threads WHERE tenant_id = $1 AND thread_id = $2 AND NOT temporary AND (${condition}) FOR UPDATE`,
      [tenantId, threadId],
    );
    if (locked.length === 0) return false;
    const inFlight: unknown[] = await manager.query(
      `SELECT 1 FROM runs WHERE tenant_id = $1 AND thread_id = $2 AND ${inFlightSql()} LIMIT 1`,
      [tenantId, threadId],
    );
    return inFlight.length === 0;
  }

  /** Keeps the thread of a stateless run as an ordinary one, as {@link keepAtLeast} does. */
  async keepFor(tenantId: TenantId, threadId: string, hours: number): Promise<void> {
    await keepAtLeast(this.threads.manager, { tenantId, threadId }, hours * 60);
  }

  /** Creates a copy of a thread with its metadata, merged with the given one, and its checkpoints, but without runs. */
  async copyThread(
    tenantId: TenantId,
    threadId: string,
    copyId: string,
    metadata: JsonObject,
  ): Promise<ThreadEntity | null> {
    await this.threads.manager.transaction(async (manager) => {
      await holdThread(manager, { tenantId, threadId });
      const made: unknown[] = await manager.query(
        `INSERT INTO threads (thread_id, tenant_id, status, metadata, "values", interrupts, state_updated_at,
           ttl_strategy, ttl_minutes)
         SELECT $3, tenant_id, CASE WHEN interrupts = '{}' THEN 'idle' ELSE 'interrupted' END,
                metadata || $4::jsonb, "values", interrupts, state_updated_at, ttl_strategy, ttl_minutes
         FROM threads WHERE tenant_id = $1 AND thread_id = $2 AND NOT temporary
         RETURNING 1`,
        [tenantId, threadId, copyId, storedJson('thread', 'metadata', JSON.stringify(metadata))],
      );
      if (made.length === 0) return;
      const keys = [threadId, copyId].map((id) => checkpointKey(tenantId, id));
      const columns = {
        checkpoints: 'checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata',
        checkpoint_blobs: 'checkpoint_ns, channel, version, type, blob',
        checkpoint_writes: 'checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob',
      };
      for (const [table, list] of Object.entries(columns)) {
        // Checkpoints contain the id of their thread.
        const values = list.replace(/\bmetadata\b/, `jsonb_set(metadata, '{thread_id}', to_jsonb($3::text), false)`);
        await manager.query(
          `INSERT INTO ${CHECKPOINT_SCHEMA}.${table} (thread_id, ${list})
           SELECT $2, ${values} FROM ${CHECKPOINT_SCHEMA}.${table} WHERE thread_id = $1`,
          table === 'checkpoints' ? [...keys, copyId] : keys,
        );
      }
    });
    return this.findThread(tenantId, copyId);
  }

  /** Bytes and rows of the thread's checkpoints, as they are stored. */
  async readStorage(tenantId: TenantId, threadId: string): Promise<ThreadStorage> {
    const [sizes]: [Omit<ThreadStorage, 'thread_id' | 'total_bytes'>] = await this.threads.query(
      `WITH by_channel AS (
         SELECT channel, count(*) AS versions, coalesce(sum(octet_length(blob)), 0) AS bytes
         FROM ${CHECKPOINT_SCHEMA}.checkpoint_blobs WHERE thread_id = $1 GROUP BY channel
       )
       SELECT
         (SELECT json_build_object('count', count(*), 'bytes',
            coalesce(sum(octet_length(checkpoint::text) + octet_length(metadata::text)), 0))
          FROM ${CHECKPOINT_SCHEMA}.checkpoints WHERE thread_id = $1) AS checkpoints,
         (SELECT json_build_object('count', coalesce(sum(versions), 0), 'bytes', coalesce(sum(bytes), 0), 'by_channel',
            coalesce(json_object_agg(channel, json_build_object('versions', versions, 'bytes', bytes)), '{}'))
          FROM by_channel) AS channel_values,
         (SELECT json_build_object('count', count(*), 'bytes', coalesce(sum(octet_length(blob)), 0))
          FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes WHERE thread_id = $1) AS pending_writes`,
      [checkpointKey(tenantId, threadId)],
    );
    const { checkpoints, channel_values, pending_writes } = sizes;
    const total = checkpoints.bytes + channel_values.bytes + pending_writes.bytes;
    return { thread_id: threadId, total_bytes: total, ...sizes };
  }

  async searchThreads(tenantId: TenantId, search: SearchThreads, access?: AccessFilter): Promise<Page<ThreadEntity>> {
    const [items, total] = await this.filtered(tenantId, search, access)
      .orderBy(SORT_COLUMNS[search.sort_by], search.sort_order === 'asc' ? 'ASC' : 'DESC')
      .addOrderBy('t.threadId', 'DESC')
      .offset(search.offset)
      .limit(search.limit)
      .getManyAndCount();
    return { items, total };
  }

  countThreads(tenantId: TenantId, filter: ThreadFilter, access?: AccessFilter): Promise<number> {
    return this.filtered(tenantId, filter, access).getCount();
  }

  private filtered(tenantId: TenantId, filter: ThreadFilter, access?: AccessFilter): SelectQueryBuilder<ThreadEntity> {
    const query = this.threads
      .createQueryBuilder('t')
      .where('t.tenantId = :tenantId AND NOT t.temporary', { tenantId });
    if (filter.ids?.length) query.andWhere('t.threadId = ANY(:ids)', { ids: filter.ids });
    if (filter.status) query.andWhere('t.status = :status', { status: filter.status });
    if (isConditional(filter.metadata))
      query.andWhere('t.metadata @> :metadata', { metadata: JSON.stringify(filter.metadata) });
    if (isConditional(filter.values)) query.andWhere('t.values @> :values', { values: JSON.stringify(filter.values) });
    return restrict(query, 't.metadata', access);
  }
}

/** Whether an object that rows have to contain excludes any. The empty one doesn't: threads without values match it as well. */
const isConditional = (contained: JsonObject | undefined): boolean => Object.keys(contained ?? {}).length > 0;
