import type { DataSource, EntityManager } from 'typeorm';
import type { AccessFilter } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import type { ThreadTtl } from '../config/thread-ttl';
import { currentCipher, storedJson } from '../database/at-rest';
import { columnsOf } from '../database/entity-columns';
import type { JsonObject } from '../database/json';
import { inFlightSql } from '../database/run-status';
import type { RunKwargs } from '../graphs/host/protocol';
import { prepared } from '../patches/pg/prepared-statements';
import { RUN_DUE_CHANNEL, STREAMED } from '../streams/run-event';
import { ThreadEntity } from '../threads/thread.entity';
import { type MultitaskStrategy, RunEntity } from './run.entity';
import { runErrors } from './run.errors';

/** A run to be inserted. */
export interface NewRun {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  /** Metadata of the request, for the run and for a thread that is created with it. */
  metadata: JsonObject;
  /** Metadata of the assistant; the thread's own takes precedence over it, and the request's over both. */
  assistantMetadata: JsonObject;
  /** Revision of the graphs' code, until the worker that takes the run sets its own. */
  revision: string;
  kwargs: RunKwargs;
  /** Sealed. */
  webhook: string | null;
  multitaskStrategy: MultitaskStrategy;
  delayMs: number;
  /** Whether the request reads the run's events as they come. */
  isStreamed: boolean;
  thread: {
    /** Whether the thread is created with the run if it doesn't exist. */
    create: boolean;
    /** Whether its id was generated for the run, so that it doesn't exist. */
    isNew: boolean;
    temporary: boolean;
    /** Time to live of a thread that is created with the run. */
    ttl?: ThreadTtl | undefined;
    /** Condition on the metadata of an existing thread. */
    access?: AccessFilter | undefined;
  };
}

/** SQL for the number of a tenant's pending runs, counted up to the limit. */
export function countWaiting(tenantId: string, limit: string): string {
  return `(SELECT count(*) FROM (SELECT FROM runs WHERE tenant_id = ${tenantId} AND status = 'pending' LIMIT ${limit}) AS waiting)`;
}

/** Columns of a thread that is created with a run. */
export const THREAD_COLUMNS = 'thread_id, tenant_id, status, metadata, config, temporary, ttl_strategy, ttl_minutes';

const INSERT_BUSY_THREAD = prepared(
  'insert-busy-thread',
  `INSERT INTO threads (${THREAD_COLUMNS})
   VALUES ($1, $2, 'busy', $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING ${columnsOf(ThreadEntity, 'threads')}`,
);

/** Resolves to null if the id exists already. */
export async function insertThread(
  manager: EntityManager,
  tenantId: TenantId,
  run: NewRun,
): Promise<ThreadEntity | null> {
  const [inserted]: ThreadEntity[] = await manager.query(INSERT_BUSY_THREAD, [
    run.threadId,
    tenantId,
    ...threadParameters(run),
  ]);
  return inserted ?? null;
}

/** Values of a new thread from its metadata on. */
function threadParameters(run: NewRun): unknown[] {
  const { temporary, ttl } = run.thread;
  return [
    storedJson('thread', 'metadata', JSON.stringify({ ...run.metadata, ...stampOf(run) })),
    storedJson('thread', 'config', JSON.stringify(run.kwargs.config ?? {})),
    ...[temporary, ttl?.strategy, ttl?.minutes],
  ];
}

const OCCUPY_THREAD = prepared(
  'occupy-thread',
  `UPDATE threads SET status = 'busy', settled_status = CASE WHEN status = 'busy' THEN settled_status ELSE status END,
     metadata = metadata || $3, config = config || $4, updated_at = now()
   WHERE tenant_id = $1 AND thread_id = $2`,
);

export async function occupyThread(manager: EntityManager, run: NewRun, thread: ThreadEntity): Promise<void> {
  const stamp = thread.status === 'busy' ? {} : stampOf(run);
  const config = thread.status === 'busy' ? {} : (run.kwargs.config ?? {});
  await manager.query(OCCUPY_THREAD, [
    thread.tenantId,
    thread.threadId,
    storedJson('thread', 'metadata', JSON.stringify(stamp)),
    storedJson('thread', 'config', JSON.stringify(config)),
  ]);
}

/** Columns of a new run; the values of all but its metadata follow. */
export const RUN_COLUMNS = `run_id, tenant_id, thread_id, assistant_id, graph_id, kwargs, multitask_strategy, webhook, scheduled_at,
  created_at, metadata`;
const RUN_VALUES = `$1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9 * interval '1 millisecond', clock_timestamp()`;
const HAS_ROOM = `${countWaiting('$2', '$10::bigint')} < $10::bigint`;
/** Values of a new run that the database sets. */
export const INSERTED = `scheduled_at AS "scheduledAt", created_at AS "createdAt", updated_at AS "updatedAt"`;
/** Notifies workers of a run that can begin at once. */
const notified = (suffix = ''): string => `pg_notify('${RUN_DUE_CHANNEL}', run_id || ' ' || tenant_id${suffix})`;

/**
 * A statement that inserts a run, in three forms: for one that can begin at once, streamed or not, and for one that can't.
 * @param text that ends with the list of what it returns
 * @returns the form for a run
 */
function inserting(name: string, text: string): (run: NewRun, isDue: boolean) => string {
  const later = prepared(`insert-${name}`, text);
  const due = prepared(`insert-due-${name}`, `${text}, ${notified()}`);
  const streamed = prepared(`insert-streamed-${name}`, `${text}, ${notified(` || ' ${STREAMED}'`)}`);
  return (run, isDue) => (!isDue ? later : run.isStreamed ? streamed : due);
}

const insertRunSql = inserting(
  'run',
  `INSERT INTO runs (${RUN_COLUMNS}) SELECT ${RUN_VALUES}, $11 WHERE ${HAS_ROOM} RETURNING ${INSERTED}`,
);

export type Inserted = Pick<RunEntity, 'scheduledAt' | 'createdAt' | 'updatedAt'>;

/**
 * @param isDue whether it can begin at once, so that workers are notified
 * @param limit maximum of the tenant's pending runs
 * @throws {ApiError} 429 when the limit is reached
 */
export async function insertRow(
  manager: EntityManager,
  tenantId: TenantId,
  run: NewRun,
  threadMetadata: JsonObject,
  { isDue, limit }: { isDue: boolean; limit: number },
): Promise<RunEntity> {
  const metadata = { ...run.assistantMetadata, ...threadMetadata, ...ownMetadata(run) };
  const [inserted]: Inserted[] = await manager.query(insertRunSql(run, isDue), [
    ...runParameters(tenantId, run, limit),
    storedJson('run', 'metadata', JSON.stringify(metadata)),
  ]);
  if (!inserted) throw runErrors.tooManyPending(limit);
  return toEntity(tenantId, run, metadata, inserted);
}

/**
 * A caller that waited for another one's run on the thread continues with the row as that left it, where it isn't idle any
 * more. A listener may follow runs on a thread that is interrupted.
 */
const insertOnIdleThreadSql = inserting(
  'run-on-idle-thread',
  `WITH thread AS (
     UPDATE threads SET status = 'busy', settled_status = status, metadata = metadata || $13::jsonb,
       config = config || $14::jsonb, updated_at = now()
     WHERE tenant_id = $2 AND thread_id = $3 AND status IN ('idle', 'error') AND NOT temporary AND ${HAS_ROOM}
       AND NOT EXISTS (SELECT FROM runs r WHERE r.tenant_id = $2 AND r.thread_id = $3 AND ${inFlightSql('r')})
     RETURNING metadata
   )
   INSERT INTO runs (${RUN_COLUMNS}) SELECT ${RUN_VALUES}, $11::jsonb || thread.metadata || $12::jsonb FROM thread
   RETURNING runs.metadata, ${INSERTED}`,
);

/**
 * Inserts a run on a thread without runs in flight in one statement. Resolves to undefined for any other thread, where the limit
 * is reached, and under custom encryption, since the database merges the metadata.
 */
export async function insertOnIdleThread(
  database: DataSource,
  tenantId: TenantId,
  run: NewRun,
  limit: number,
): Promise<RunEntity | undefined> {
  if (currentCipher()) return undefined;
  const statement = insertOnIdleThreadSql(run, run.delayMs === 0);
  const [inserted] = await database.query<(Inserted & { metadata: JsonObject })[]>(statement, [
    ...runParameters(tenantId, run, limit),
    JSON.stringify(run.assistantMetadata),
    JSON.stringify(ownMetadata(run)),
    JSON.stringify(stampOf(run)),
    JSON.stringify(run.kwargs.config ?? {}),
  ]);
  return inserted && toEntity(tenantId, run, inserted.metadata, inserted);
}

/** Fields of a thread that name the run it is busy with. */
export const stampOf = ({ graphId, assistantId }: NewRun): JsonObject => ({
  graph_id: graphId,
  assistant_id: assistantId,
});

/** Metadata of the run that no other takes precedence over. */
export const ownMetadata = (run: NewRun): JsonObject => ({
  ...run.metadata,
  ...stampOf(run),
  revision_id: run.revision,
});

/** $1 to $10 of the statements. */
function runParameters(tenantId: TenantId, run: NewRun, limit: number): unknown[] {
  const { runId, threadId, assistantId, graphId, kwargs, multitaskStrategy, webhook, delayMs } = run;
  return [
    ...[runId, tenantId, threadId, assistantId, graphId, storedJson('run', 'kwargs', JSON.stringify(kwargs))],
    ...[multitaskStrategy, webhook, delayMs, limit],
  ];
}

/** The run as it was inserted. */
export function toEntity(
  tenantId: TenantId,
  { runId, threadId, assistantId, graphId, kwargs, multitaskStrategy, webhook }: NewRun,
  metadata: JsonObject,
  { scheduledAt, createdAt, updatedAt }: Inserted,
): RunEntity {
  return Object.assign(new RunEntity(), {
    ...{ scheduledAt, createdAt, updatedAt, runId, tenantId, threadId, assistantId, graphId, metadata, kwargs },
    ...{ multitaskStrategy, webhook, status: 'pending', attempt: 0, taskQueue: null, cancelAction: null },
    ...{ cancelReason: null, error: null, startedAt: null, endedAt: null },
  });
}
