import type { DataSource, EntityManager } from 'typeorm';
import { storedJson, storedTextColumn } from '../database/at-rest';
import { prepared } from '../patches/pg/prepared-statements';
import { inFlightSql } from '../database/run-status';
import { type EventContent, toRows } from '../streams/event-rows';
import { END_EVENT, END_HINT, type RunEnd, RUN_EVENTS_CHANNEL } from '../streams/run-event';
import type { RunEnding } from './run-ending';
import { forgetLog } from './run-log-end';
import type { RunEntity } from './run.entity';
import { placeUnstarted } from './thread-positions.repository';

/** How long the events and checkpoints of a stateless run are kept after its end, so that it can still be rejoined. */
export const TEMPORARY_KEPT = '1 hour';

/**
 * One statement: the run, the end of its log with its notification, and the thread.
 * @param change of the run's row; the others depend on it
 * @param before tables that it refers to
 */
const closing = (change: string, before = ''): string => `
  WITH ${before} closed AS (
    ${change} RETURNING 1
  ), logged AS (
    INSERT INTO run_events (run_id, first_seq, seq, tenant_id, event, data, fact)
    SELECT $1, last.seq + entry.first_seq, last.seq + entry.seq, $6, entry.event, entry.data, entry.fact
    FROM (SELECT coalesce(max(seq), -1) AS seq FROM run_events WHERE run_id = $1) AS last,
         unnest($7::text[], $12::text[], $13::text[], $14::int[], $15::int[])
           AS entry (event, data, fact, first_seq, seq)
    WHERE EXISTS (SELECT FROM closed)
  ), settled AS (
    UPDATE threads SET
      status = CASE WHEN EXISTS (
                 SELECT 1 FROM runs WHERE tenant_id = $6 AND thread_id = $8 AND run_id <> $1 AND ${inFlightSql()}
               ) THEN 'busy' ELSE coalesce($3, settled_status) END,
      settled_status = coalesce($3, settled_status),
      error = CASE WHEN $3 IS NULL THEN error ELSE $4 END,
      "values" = CASE WHEN $9 THEN $10::jsonb ELSE "values" END,
      interrupts = CASE WHEN $9 THEN $11::jsonb ELSE interrupts END,
      state_updated_at = CASE WHEN $9 THEN now() ELSE state_updated_at END,
      delete_after = CASE WHEN temporary THEN now() + interval '${TEMPORARY_KEPT}' ELSE delete_after END,
      updated_at = now()
    WHERE tenant_id = $6 AND thread_id = $8 AND EXISTS (SELECT FROM closed)
  )
  -- The last two only give their parameters a type when the run is deleted.
  SELECT pg_notify('${RUN_EVENTS_CHANNEL}', $1 || '${END_HINT}'), $2::text, $5::timestamptz,
    EXISTS (
      SELECT 1 FROM runs WHERE tenant_id = $6 AND thread_id = $8 AND started_at IS NULL AND ended_at IS NOT NULL
    ) AS unstarted,
    EXISTS (
      SELECT 1 FROM runs WHERE tenant_id = $6 AND thread_id = $8 AND run_id <> $1 AND status = 'pending'
    ) AS "hasNext"
  FROM closed`;

const CLOSING = `UPDATE runs SET status = $2, error = $4, ended_at = $5, updated_at = $5, cancel_action = NULL WHERE run_id = $1`;
const CLOSE_RUN = prepared('close-run', closing(CLOSING));
const DELETE_RUN = prepared('delete-run', closing(`DELETE FROM runs WHERE run_id = $1`));

/**
 * Locks the thread without waiting, and before the run, as every transaction does that locks both. A thread that was changed after
 * the statement began, by a transaction that has ended since, may have runs that the statement doesn't see: its place in the
 * table is then another one. The run is looked up by its id alone: with a condition on the status beside it, the planner prefers the
 * index of all running runs, and reads all of them.
 */
const CLOSE_LONE_RUN = prepared(
  'close-lone-run',
  closing(
    `${CLOSING} AND EXISTS (
       SELECT FROM held WHERE status = 'running' AND attempt = $16 AND cancel_action IS DISTINCT FROM 'rollback'
     )`,
    `thread AS MATERIALIZED (
       SELECT ctid FROM threads WHERE tenant_id = $6 AND thread_id = $8 FOR UPDATE SKIP LOCKED
     ), alone AS MATERIALIZED (
       SELECT FROM thread
       WHERE ctid = (SELECT t.ctid FROM threads t WHERE t.tenant_id = $6 AND t.thread_id = $8) AND NOT EXISTS (
         SELECT FROM runs other WHERE other.tenant_id = $6 AND other.thread_id = $8 AND other.run_id <> $1
           AND (${inFlightSql('other')} OR (other.started_at IS NULL AND other.ended_at IS NOT NULL))
       )
     ), held AS MATERIALIZED (
       SELECT status, attempt, cancel_action FROM runs WHERE run_id = $1 AND EXISTS (SELECT FROM alone) FOR UPDATE
     ),`,
  ),
);

export interface Closed {
  ended: RunEntity;
  /** Whether a run of the thread is pending, whether due or not. */
  hasNext: boolean;
}

/** Ends the run in one statement, plus further ones if it never began, and if it is deleted. */
export async function closeRun(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<Closed> {
  const endedAt = new Date();
  const [{ unstarted, hasNext }]: [{ unstarted: boolean; hasNext: boolean }] = await manager.query(
    ending.status === 'deleted' ? DELETE_RUN : CLOSE_RUN,
    closingParameters(run, ending, endedAt),
  );
  if (unstarted || run.startedAt === null) await placeUnstarted(manager, run);
  if (ending.status === 'deleted') await forgetLog(manager, run.runId);
  return { ended: endedRun(run, ending, endedAt), hasNext };
}

/**
 * Ends the run of an attempt in one statement, without a transaction around it.
 * @param run as the attempt has it
 * @returns undefined, with nothing changed, where the thread is locked or has another run to consider, where the run's rollback
 *   was requested, and where the attempt doesn't own the run any more
 */
export async function closeLoneRun(
  database: DataSource,
  run: RunEntity,
  ending: RunEnding,
): Promise<RunEntity | undefined> {
  const endedAt = new Date();
  const closed = await database.query<unknown[]>(CLOSE_LONE_RUN, [
    ...closingParameters(run, ending, endedAt),
    run.attempt,
  ]);
  return closed.length > 0 ? endedRun(run, ending, endedAt) : undefined;
}

function endedRun(run: RunEntity, { status, error }: RunEnding, endedAt: Date): RunEntity {
  if (status === 'deleted') return { ...run, endedAt };
  return { ...run, status, error: error ?? null, endedAt, updatedAt: endedAt, cancelAction: null };
}

/** $1 to $15 of the statements. */
function closingParameters(run: RunEntity, ending: RunEnding, endedAt: Date): unknown[] {
  const { status, state, error, result, rest = [] } = ending;
  const failed = status === 'error' || status === 'timeout';
  // Null when the state is unknown: the thread is then as it was before. A refused answer leaves the question open.
  const isRefused = error?.reason !== undefined;
  const settled = failed && !isRefused ? 'error' : state ? (state.next.length > 0 ? 'interrupted' : 'idle') : null;
  // The error is the last event of a stream, whether an attempt saw it or only the workflow.
  const events: EventContent[] = [
    ...rest,
    ...(error ? [{ event: 'error', data: JSON.stringify(error) }] : []),
    { event: END_EVENT, data: JSON.stringify({ status, result } satisfies RunEnd) },
  ];
  // Numbered from the last one in the log.
  const entries = toRows(events, 1);
  return [
    run.runId,
    status,
    settled,
    failed ? storedJson('run', 'error', JSON.stringify(error ?? null)) : null,
    endedAt,
    run.tenantId,
    entries.map(({ event }) => event),
    run.threadId,
    state !== undefined,
    storedJson('thread', 'values', state?.values ?? null),
    storedJson('thread', 'interrupts', state?.interrupts ?? '{}'),
    storedTextColumn(
      'run',
      'events',
      entries.map(({ data }) => data),
    ),
    entries.map(({ fact }) => fact),
    entries.map(({ firstSeq }) => firstSeq),
    entries.map(({ seq }) => seq),
  ];
}
